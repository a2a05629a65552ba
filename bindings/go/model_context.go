package varve

import (
	"encoding/json"
	"errors"
	"time"

	"varve/internal/raw"
)

// ContextRequest says what a model is to be given. Everything is optional; docs/context.md is the
// whole language.
type ContextRequest struct {
	Question     string      `json:"question,omitempty"`
	Retrieve     []Retrieval `json:"retrieve,omitzero"`
	Rank         []Measure   `json:"rank,omitzero"`
	Across       *Across     `json:"across,omitempty"`
	Budget       Budget      `json:"budget,omitzero"`
	KeepTogether *bool       `json:"keep_together,omitempty"`
	Pinned       []string    `json:"pinned,omitempty"`
	ExcludeIDs   []string    `json:"exclude_ids,omitempty"`
	Format       string      `json:"format,omitempty"` // markdown, chat, json, plain
	Now          time.Time   `json:"now,omitzero"`
}

// Retrieval is what a context is chosen from: the Recency newest entries, the Importance most
// important ones, or what a Query finds. Beside one of these Types leaves only entries of these
// types; alone it is the 100 newest of them.
type Retrieval struct {
	Recency    *int     `json:"recency,omitempty"`
	Importance *int     `json:"importance,omitempty"`
	Query      *Query   `json:"query,omitempty"`
	Types      []string `json:"types,omitzero"`
}

// Measure is a weight by which a context's entries are ranked, from 0 to 1e6; set one of them.
type Measure struct {
	Temporal   *float64 `json:"temporal,omitempty"`
	Importance *float64 `json:"importance,omitempty"`
	Match      *float64 `json:"match,omitempty"`
}

// Across says which other sessions of the store the question and the queries are asked of, too.
// One without any condition is refused unless All is set, for it is mostly that of a program that
// does not know whose turn it is.
type Across struct {
	UserID     string
	AgentID    string
	SessionIDs []string
	All        bool // every session, everybody's, that the others do not leave out
}

// MarshalJSON writes what varve_context_build takes.
func (a Across) MarshalJSON() ([]byte, error) {
	if !a.All && a.UserID == "" && a.AgentID == "" && a.SessionIDs == nil {
		return nil, errors.New("Across names no user, agent or session; set All to mean every session")
	}
	return json.Marshal(struct {
		UserID     string   `json:"user_id,omitempty"`
		AgentID    string   `json:"agent_id,omitempty"`
		SessionIDs []string `json:"session_ids,omitzero"`
	}{a.UserID, a.AgentID, a.SessionIDs})
}

// Budget is how many tokens a context may have: MaxTokens without ReserveTokens. A MaxTokens of 0 is
// the default, 4000; when nothing is left, do not ask.
type Budget struct {
	MaxTokens     int `json:"max_tokens,omitempty"`
	ReserveTokens int `json:"reserve_tokens,omitempty"`
}

// BuiltContext is what a model is to be given, and what of the session is in it.
type BuiltContext struct {
	Document
	Text       string        `json:"text"`
	Items      []ContextItem `json:"items"` // in the order of the text
	TokenCount int64         `json:"token_count"`
	Dropped    int64         `json:"dropped"`
	Truncated  bool          `json:"truncated"`
}

// ContextItem is an entry that is in a context.
type ContextItem struct {
	ID        string  `json:"id"`
	SessionID string  `json:"session_id"` // empty unless the request had Across
	Tokens    int64   `json:"tokens"`
	Rank      float64 `json:"rank"`
	Source    string  `json:"source"` // pinned, recalled, recent
}

// BuildContext gives the part of the session that fits a model's context window. The request is a
// ContextRequest, another document, or nil.
func (s *Session) BuildContext(request any) (*BuiltContext, error) {
	return documentWith[BuiltContext](s.caller(), "Session.BuildContext", request,
		func(request string) ([]byte, *raw.Failure) { return raw.ContextBuild(s.token, request) })
}

// Record records one step of a conversation as an entry, and gives its id. Kinds are user_message,
// assistant_message, tool_call, tool_result, observation, event, summary and document; the payload
// is a document such as map[string]any{"content": "Hello"}.
func (s *Session) Record(kind string, payload any) (id string, err error) {
	text, err := s.caller().textWith("Session.Record", payload,
		func(payload string) ([]byte, *raw.Failure) {
			return raw.ContextRecord(s.token, kind, payload)
		})
	return string(text), err
}

// SetTokenCounter has a function count the tokens of texts, instead of the built-in estimate; nil
// returns to that. An error of it fails the call it is asked for, with ErrCallback and that error.
// It may be called on any goroutine that builds a context, and must not use the same store.
func (s *Store) SetTokenCounter(count func(text string) (tokens uint64, err error)) error {
	if !s.isOpened() {
		return s.tellTokenCounter(0, 0)
	}
	// Else one that is set while another goroutine clears could be told to the library and gone here.
	s.callbacks.settingTokens.Lock()
	defer s.callbacks.settingTokens.Unlock()
	if count == nil {
		return replace(&s.callbacks.tokens, nil, func() error { return s.tellTokenCounter(0, 0) })
	}
	s.callbacks.mayFail.Store(true)
	userData := s.callbacks.userData("tokens", raw.TokenFn(s.callbacks.countTokens))
	return replace(&s.callbacks.tokens, &count, func() error {
		return s.tellTokenCounter(raw.TokenFnTrampoline(), userData)
	})
}

func (s *Store) tellTokenCounter(function, userData uintptr) error {
	return s.caller().run("Store.SetTokenCounter", func() *raw.Failure {
		return raw.StoreSetTokenCounter(s.token, function, userData)
	})
}

func (c *callbacks) countTokens(text string, tokens *uint64) int32 {
	count := c.tokens.Load()
	if count == nil {
		return 1
	}
	return c.failed(c.guarded(func() (err error) {
		*tokens, err = (*count)(text)
		return err
	}))
}
