package varve

import (
	"encoding/json"
	"time"
)

// Problem is what an operation over sessions could not do for one of them.
type Problem struct {
	SessionID string `json:"session_id"`
	Reason    string `json:"reason"`
	Copied    bool   `json:"copied"`
}

// BackupReport is the answer of Store.Backup.
type BackupReport struct {
	Document
	Sessions   int64     `json:"sessions"`
	Copied     int64     `json:"copied"`
	Appended   int64     `json:"appended"`
	Unchanged  int64     `json:"unchanged"`
	Removed    int64     `json:"removed"`
	Bytes      int64     `json:"bytes"`
	Entries    int64     `json:"entries"`
	DurationMS float64   `json:"duration_ms"`
	Problems   []Problem `json:"problems"`
}

// RestoreReport is the answer of Store.Restore.
type RestoreReport struct {
	Document
	Sessions           int64     `json:"sessions"`
	Replaced           int64     `json:"replaced"`
	Returned           []string  `json:"returned"`
	Entries            int64     `json:"entries"`
	DeletionsReapplied int64     `json:"deletions_reapplied"`
	Bytes              int64     `json:"bytes"`
	DurationMS         float64   `json:"duration_ms"`
	Problems           []Problem `json:"problems"`
}

// SweepReport is the answer of Store.Sweep.
type SweepReport struct {
	Document
	SessionsChecked   int64     `json:"sessions_checked"`
	SessionsRemoved   int64     `json:"sessions_removed"`
	SessionsCompacted int64     `json:"sessions_compacted"`
	EntriesDropped    int64     `json:"entries_dropped"`
	BytesFreed        int64     `json:"bytes_freed"`
	Problems          []Problem `json:"problems"`
	DurationMS        float64   `json:"duration_ms"`
}

// StoreStats are figures of a store handle, of this process and since it was opened.
//
// Metrics are those of Store.Metrics under dotted names (docs/operations.md#figures).
type StoreStats struct {
	Document
	URI            string            `json:"uri"`
	SessionsOpen   int64             `json:"sessions_open"`
	Entries        int64             `json:"entries"`
	LockWaits      int64             `json:"lock_waits"`
	LockTimeouts   int64             `json:"lock_timeouts"`
	Commits        int64             `json:"commits"`
	EntriesAdded   int64             `json:"entries_added"`
	EntriesDeleted int64             `json:"entries_deleted"`
	BytesWritten   int64             `json:"bytes_written"`
	Syncs          int64             `json:"syncs"`
	IndexRebuilds  int64             `json:"index_rebuilds"`
	LinesSkipped   int64             `json:"lines_skipped"`
	Metrics        map[string]Metric `json:"metrics"`
}

// Metric is a figure for monitoring: a number, or of a histogram its members.
type Metric struct {
	Value     float64 // of what is no histogram
	Histogram *Histogram
}

// Histogram is how values are spread; P50 and P99 are the upper bounds of the buckets they are in.
type Histogram struct {
	Count int64   `json:"count"`
	Sum   float64 `json:"sum"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// UnmarshalJSON reads either form.
func (m *Metric) UnmarshalJSON(text []byte) error {
	*m = Metric{}
	if len(text) > 0 && text[0] == '{' {
		return json.Unmarshal(text, &m.Histogram)
	}
	return json.Unmarshal(text, &m.Value)
}

// MarshalJSON writes the form that was read.
func (m Metric) MarshalJSON() ([]byte, error) {
	if m.Histogram != nil {
		return json.Marshal(m.Histogram)
	}
	return json.Marshal(m.Value)
}

// Metadata is what a session tells of itself; members of your own are in JSON. What was not given,
// or has never happened, is empty. docs/format.md#metadata.json has the rules.
type Metadata struct {
	Document
	Version             int64             `json:"version"`
	SessionID           string            `json:"session_id"`
	UserID              string            `json:"user_id"`
	AgentID             string            `json:"agent_id"`
	Title               string            `json:"title"`
	CreatedAt           time.Time         `json:"created_at"`
	LastAccessed        time.Time         `json:"last_accessed"`
	TotalEntries        int64             `json:"total_entries"`
	TotalSizeBytes      int64             `json:"total_size_bytes"`
	Statistics          map[string]int64  `json:"statistics"`
	StatisticsRest      *StatisticsRest   `json:"statistics_rest"`
	DurableSeq          int64             `json:"durable_seq"`
	CompactedThroughSeq int64             `json:"compacted_through_seq"`
	Generation          int64             `json:"generation"`
	DecayConfig         *DecayConfig      `json:"decay_config"`
	CompactionConfig    *CompactionConfig `json:"compaction_config"`
	Compactions         []Compaction      `json:"compactions"` // the last 20, oldest first
	LastCompaction      time.Time         `json:"last_compaction"`
	StrayVectors        bool              `json:"stray_vectors"`
	TTLHours            float64           `json:"ttl_hours"`
	TTLPolicy           string            `json:"ttl_policy"`
	Stores              []string          `json:"stores"`
	KVCap               *int              `json:"kv_cap"`
	TranscriptCap       *int              `json:"transcript_cap"`
	Preferences         json.RawMessage   `json:"preferences"`
	Durability          string            `json:"durability"`
	Migrations          []Migration       `json:"migrations"`
	RestoredAt          time.Time         `json:"restored_at"`
}

// StatisticsRest is what Metadata.Statistics leaves out, of very many types.
type StatisticsRest struct {
	Types   int64 `json:"types"`
	Entries int64 `json:"entries"`
}

// Compaction is a compaction or purge that replaced the log.
type Compaction struct {
	CompactFigures
	Timestamp time.Time `json:"timestamp"`
	Cause     string    `json:"cause"` // asked, automatic, purge
}

// Migration is that a log was rewritten in another format version.
type Migration struct {
	From int64     `json:"from"`
	To   int64     `json:"to"`
	At   time.Time `json:"at"`
}

// SizeBytes are the sizes of a session's files.
type SizeBytes struct {
	Log        int64 `json:"log"`
	Index      int64 `json:"index"`
	Tombstones int64 `json:"tombstones"`
	Vectors    int64 `json:"vectors"`
	KV         int64 `json:"kv"`
	Transcript int64 `json:"transcript"`
	Total      int64 `json:"total"`
}

// SessionStats are figures of a session.
type SessionStats struct {
	Document
	SessionID      string           `json:"session_id"`
	Entries        int64            `json:"entries"`
	Deleted        int64            `json:"deleted"`
	Expired        int64            `json:"expired"`
	SizeBytes      SizeBytes        `json:"size_bytes"`
	SizeLimitBytes int64            `json:"size_limit_bytes"` // 0: none
	Modified       *time.Time       `json:"modified"`
	Lock           LockState        `json:"lock"`
	Types          map[string]int64 `json:"types"`
	MemoryBytes    int64            `json:"memory_bytes"`
	Vectors        VectorStats      `json:"vectors"`
	LastSeq        int64            `json:"last_seq"`
	DurableSeq     int64            `json:"durable_seq"`
	Durability     string           `json:"durability"`
	Durable        bool             `json:"durable"` // a power loss takes nothing that was answered
	UndurableBytes int64            `json:"undurable_bytes"`
	Generation     int64            `json:"generation"`
	ReadOnly       bool             `json:"read_only"`
	Corruption     CorruptionStats  `json:"corruption"`
	Index          IndexStats       `json:"index"`
	Usage          Usage            `json:"usage"`
}

// LockState is who is writing to a session at this moment, in any process.
type LockState struct {
	Held      bool      `json:"held"`
	ProcessID int64     `json:"process_id"` // this and what follows only when somebody is
	Operation string    `json:"operation"`
	Since     time.Time `json:"since"`
}

// VectorStats are figures of a session's vectors.
type VectorStats struct {
	Dimension   int64 `json:"dimension"`
	Records     int64 `json:"records"`
	MemoryBytes int64 `json:"memory_bytes"`
}

// CorruptionStats are what was met of damage.
type CorruptionStats struct {
	Skipped    int64 `json:"skipped"`
	Missing    int64 `json:"missing"`
	TornTails  int64 `json:"torn_tails"`
	Rollback   int64 `json:"rollback"`
	Metadata   bool  `json:"metadata"`
	KV         int64 `json:"kv"`
	Transcript int64 `json:"transcript"`
}

// IndexStats are figures of a session's index.
type IndexStats struct {
	Loaded            bool   `json:"loaded"`
	Rebuilds          int64  `json:"rebuilds"`
	Reason            string `json:"reason"`
	CoveredBytes      int64  `json:"covered_bytes"`
	FacetsMemoryBytes int64  `json:"facets_memory_bytes"`
	WordsMemoryBytes  int64  `json:"words_memory_bytes"`
	WordsOfEntries    int64  `json:"words_of_entries"`
}

// SessionIndex is the index as a person can read it.
type SessionIndex struct {
	Document
	Version     int64                 `json:"version"`
	LastUpdated time.Time             `json:"last_updated"`
	Entries     map[string]IndexEntry `json:"entries"` // by id
	Tags        map[string][]string   `json:"tags"`    // ids
	Types       map[string][]string   `json:"types"`   // ids
}

// IndexEntry is what the index has of an entry.
type IndexEntry struct {
	LineNumber       int64     `json:"line_number"`
	ByteOffset       int64     `json:"byte_offset"`
	Type             string    `json:"type"`
	Timestamp        time.Time `json:"timestamp"`
	Tags             []string  `json:"tags"`
	Importance       float64   `json:"importance"`
	CurrentRelevance float64   `json:"current_relevance"`
}

// SessionFiles are a session's files, by name.
type SessionFiles struct {
	Document
	Files []struct {
		Name      string    `json:"name"`
		SizeBytes int64     `json:"size_bytes"`
		Modified  time.Time `json:"modified"`
	} `json:"files"`
}

// SessionTags are the tags of a session's entries.
type SessionTags struct {
	Document
	Tags []struct {
		Tag     string `json:"tag"`
		Entries int64  `json:"entries"`
	} `json:"tags"`
}

// Damage is a place in a file where something is wrong.
type Damage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Reason string `json:"reason"`
}

// Note is what Verify tells that is no damage: the entry ID refers to Target, which is not there; or,
// both empty, metadata.json has a member that may have no effect.
type Note struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	ID     string `json:"id"`
	Target string `json:"target"`
	Reason string `json:"reason"`
}

// VerifiedVectors are what Verify found of vectors.
type VerifiedVectors struct {
	Dimension int64 `json:"dimension"`
	Records   int64 `json:"records"`
	Entries   int64 `json:"entries"`
	Damaged   int64 `json:"damaged"`
}

// VerifyReport is the answer of Session.Verify.
type VerifyReport struct {
	Document
	OK            bool            `json:"ok"`
	Entries       int64           `json:"entries"`
	Deleted       int64           `json:"deleted"`
	Damaged       int64           `json:"damaged"`
	Problems      []Damage        `json:"problems"` // the first 1000
	ProblemsTotal int64           `json:"problems_total"`
	Notes         []Note          `json:"notes"` // the first 1000
	NotesTotal    int64           `json:"notes_total"`
	CheckedBytes  int64           `json:"checked_bytes"`
	LastSeq       int64           `json:"last_seq"`
	Vectors       VerifiedVectors `json:"vectors"`
}

// RepairReport is the answer of Session.Repair.
type RepairReport struct {
	Document
	Entries     int64 `json:"entries"`
	Quarantined int64 `json:"quarantined"`
	Resealed    int64 `json:"resealed"`
	Missing     int64 `json:"missing"`
	BytesBefore int64 `json:"bytes_before"`
	BytesAfter  int64 `json:"bytes_after"`
	// MetadataLost says that metadata.json was lost, or could not be read, and is made anew.
	MetadataLost bool `json:"metadata_lost"`
	Changed      bool `json:"changed"`
}

// CompactReport is the answer of Session.Compact and Session.Purge.
type CompactReport struct {
	Document
	CompactFigures
	Changed bool `json:"changed"` // the log was rewritten
}

// CompactFigures are what a compaction or purge did.
type CompactFigures struct {
	EntriesBefore int64   `json:"entries_before"`
	EntriesAfter  int64   `json:"entries_after"`
	BytesBefore   int64   `json:"bytes_before"`
	BytesAfter    int64   `json:"bytes_after"`
	Dropped       Dropped `json:"dropped"`
	DurationMS    float64 `json:"duration_ms"`
	VectorsBefore *int64  `json:"vectors_before"` // nil: there is no vectors.bin, or it was a dry run
	VectorsAfter  *int64  `json:"vectors_after"`
}

// Dropped are how many entries a compaction dropped, by rule.
type Dropped struct {
	Deleted int64 `json:"deleted"`
	Expired int64 `json:"expired"`
	Evicted int64 `json:"evicted"`
	Damaged int64 `json:"damaged"`
}

// MigrateReport is the answer of Session.Migrate.
type MigrateReport struct {
	Document
	From        int64 `json:"from"`
	To          int64 `json:"to"`
	Changed     bool  `json:"changed"`
	Entries     int64 `json:"entries"`
	Quarantined int64 `json:"quarantined"`
}

// RebuildReport is the answer of Session.RebuildIndex.
type RebuildReport struct {
	Document
	Entries    int64   `json:"entries"`
	DurationMS float64 `json:"duration_ms"`
}

// ExportReport is the answer of Session.ExportFile.
type ExportReport struct {
	Document
	Entries int64  `json:"entries"`
	Bytes   int64  `json:"bytes"`
	Format  string `json:"format"`
}

// ImportReport is the answer of Session.Import and Session.ImportFile.
type ImportReport struct {
	Document
	Added    int64 `json:"added"`
	Existing int64 `json:"existing"`
	Refused  []struct {
		Line   int64  `json:"line"`
		Reason string `json:"reason"`
	} `json:"refused"` // the first 1000
	RefusedTotal int64  `json:"refused_total"`
	Format       string `json:"format"`
	Evicted      int64  `json:"evicted"`       // live entries that went to make room, also of those added
	ExceedsLimit bool   `json:"exceeds_limit"` // of a dry run: not all of it would fit
}
