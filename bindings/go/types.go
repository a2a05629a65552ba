package varve

import "time"

// Entry is what an agent saw, decided or learnt. Type and Content are needed, the rest is optional.
// For members of your own, embed it: struct{ varve.Entry; Priority int `json:"priority"` }.
type Entry struct {
	ID          string              `json:"id,omitempty"`
	Type        string              `json:"type"`
	Content     any                 `json:"content"`
	Timestamp   time.Time           `json:"timestamp,omitzero"`
	Importance  *float64            `json:"importance,omitempty"` // 0 to 1; see Importance
	Tags        []string            `json:"tags,omitempty"`
	References  []string            `json:"references,omitempty"`
	Relations   map[string][]string `json:"relations,omitempty"`
	ExpiresAt   time.Time           `json:"expires_at,omitzero"`
	TTLSeconds  float64             `json:"ttl_seconds,omitempty"`
	TraceID     string              `json:"trace_id,omitempty"`
	SpanID      string              `json:"span_id,omitempty"`
	DecayFactor *float64            `json:"decay_factor,omitempty"`
	SessionID   string              `json:"session_id,omitempty"`
	Usage       *EntryUsage         `json:"usage,omitempty"` // see Store.Usage

	// Given by the library; what is in them when an entry is added is replaced.
	SchemaVersion int         `json:"schema_version,omitempty"`
	Seq           int64       `json:"seq,omitempty"`
	Batch         *BatchPlace `json:"batch,omitempty"` // of entries added together
	Checksum      string      `json:"checksum,omitempty"`
}

// BatchPlace is the place of an entry among those it was added with.
type BatchPlace struct {
	Index int64 `json:"i"` // from 0
	Count int64 `json:"n"`
}

// Importance is an importance to put into an Entry: 0, too, is one.
func Importance(value float64) *float64 { return &value }

// Query says what to find. Everything is optional, and all of it combines by AND; docs/query.md is
// the whole language. A list that is nil is no condition; the library is told of one that is empty.
type Query struct {
	Text          string         `json:"text,omitempty"`     // words, "phrases", +must, -not, wildcards
	Question      string         `json:"question,omitempty"` // as a person asks: words and "phrases"
	Types         []string       `json:"types,omitzero"`
	Tags          TagCondition   `json:"tags,omitzero"`
	Time          TimeCondition  `json:"time,omitzero"`
	MinImportance float64        `json:"min_importance,omitempty"`
	MinRelevance  float64        `json:"min_relevance,omitempty"`
	References    []string       `json:"references,omitzero"`
	Relation      string         `json:"relation,omitempty"` // along any when empty
	MaxDepth      int            `json:"max_depth,omitempty"`
	IDs           []string       `json:"ids,omitzero"`
	TraceID       string         `json:"trace_id,omitempty"`
	Content       map[string]any `json:"content,omitzero"`
	Vector        []float32      `json:"vector,omitzero"`         // see Session.PutVector
	VectorWeight  *float64       `json:"vector_weight,omitempty"` // 0 to 1
	SortBy        string         `json:"sort_by,omitempty"`       // best, relevance, match, time, importance
	Order         string         `json:"order,omitempty"`         // desc, asc
	Limit         int            `json:"limit,omitempty"`
	After         string         `json:"after,omitempty"` // Results.Next of the page before
	Now           time.Time      `json:"now,omitzero"`
	Explain       bool           `json:"explain,omitempty"`

	// Which sessions, for a query of a store; everybody's when empty.
	UserID     string   `json:"user_id,omitempty"`
	AgentID    string   `json:"agent_id,omitempty"`
	SessionIDs []string `json:"session_ids,omitzero"`
}

// TagCondition is the tags of a Query.
type TagCondition struct {
	Include []string `json:"include,omitzero"`
	Exclude []string `json:"exclude,omitempty"`
	Match   string   `json:"match,omitempty"` // any, all
}

// IsZero tells encoding/json that there is no condition: an empty Include that is not nil is one.
func (c TagCondition) IsZero() bool {
	return c.Include == nil && c.Exclude == nil && c.Match == ""
}

// TimeCondition is the time of a Query: Start <= timestamp < End, or so long back as Last says.
type TimeCondition struct {
	Start time.Time `json:"start,omitzero"`
	End   time.Time `json:"end,omitzero"`
	Last  string    `json:"last,omitempty"` // "36h", "7d": s, m, h, d or w
}

// SessionOptions are what Store.Session and Store.CreateSession take.
type SessionOptions struct {
	SessionID        string            `json:"session_id,omitempty"`
	IfExists         string            `json:"if_exists,omitempty"` // fail, open
	UserID           string            `json:"user_id,omitempty"`
	AgentID          string            `json:"agent_id,omitempty"`
	Title            string            `json:"title,omitempty"`
	Stores           []string          `json:"stores,omitzero"` // kv, transcript; both when nil
	KVCap            *int              `json:"kv_cap,omitempty"`
	TranscriptCap    *int              `json:"transcript_cap,omitempty"`
	TTLHours         float64           `json:"ttl_hours,omitempty"`
	TTLPolicy        string            `json:"ttl_policy,omitempty"` // sliding, fixed
	DecayConfig      *DecayConfig      `json:"decay_config,omitempty"`
	CompactionConfig *CompactionConfig `json:"compaction_config,omitempty"`
	Preferences      map[string]any    `json:"preferences,omitempty"` // your own
	Durability       string            `json:"durability,omitempty"`  // commit, interval, os
}

// SessionFilter is what Store.Sessions takes. It lists everybody's sessions when UserID is empty.
type SessionFilter struct {
	UserID  string `json:"user_id,omitempty"`
	AgentID string `json:"agent_id,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	After   string `json:"after,omitempty"` // SessionPage.Next of the page before
	Rescan  bool   `json:"rescan,omitempty"`
}

// SessionInfo is a session in a list. What was not given is empty, and of one whose metadata.json is
// lost, damaged or not for this process to read all but the first three and CreatedAt.
type SessionInfo struct {
	SessionID    string    `json:"session_id"`
	UserID       string    `json:"user_id"`
	AgentID      string    `json:"agent_id"`
	Title        string    `json:"title"`
	CreatedAt    time.Time `json:"created_at"`
	LastAccessed time.Time `json:"last_accessed"`
	TotalEntries int64     `json:"total_entries"`
}

// Result is an entry that a query found.
type Result = ResultOf[Entry]

// ResultOf is an entry that a query found, read as a type of yours; see FindAs.
type ResultOf[T any] struct {
	Entry        T            `json:"entry"`
	SessionID    string       `json:"session_id"`
	Relevance    float64      `json:"relevance"`
	DecayFactor  float64      `json:"decay_factor"`
	MatchQuality float64      `json:"match_quality"`
	Explain      *Explanation `json:"explain"` // with Query.Explain
}

// Progress tells how far a long operation has come.
type Progress struct {
	Operation string // export, import, verify
	Done      uint64 // bytes
	Total     uint64 // bytes; 0 when that is not known
}
