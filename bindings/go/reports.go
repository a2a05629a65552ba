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
type StoreStats struct {
	Document
	URI            string                     `json:"uri"`
	SessionsOpen   int64                      `json:"sessions_open"`
	Entries        int64                      `json:"entries"`
	LockWaits      int64                      `json:"lock_waits"`
	LockTimeouts   int64                      `json:"lock_timeouts"`
	Commits        int64                      `json:"commits"`
	EntriesAdded   int64                      `json:"entries_added"`
	EntriesDeleted int64                      `json:"entries_deleted"`
	BytesWritten   int64                      `json:"bytes_written"`
	Syncs          int64                      `json:"syncs"`
	IndexRebuilds  int64                      `json:"index_rebuilds"`
	LinesSkipped   int64                      `json:"lines_skipped"`
	Metrics        map[string]json.RawMessage `json:"metrics"`
}

// Metadata is what a session tells of itself; members of your own are in JSON.
type Metadata struct {
	Document
	SessionID      string           `json:"session_id"`
	UserID         string           `json:"user_id"`
	AgentID        string           `json:"agent_id"`
	Title          string           `json:"title"`
	CreatedAt      time.Time        `json:"created_at"`
	LastAccessed   time.Time        `json:"last_accessed"`
	TotalEntries   int64            `json:"total_entries"`
	TotalSizeBytes int64            `json:"total_size_bytes"`
	Statistics     map[string]int64 `json:"statistics"`
	TTLHours       float64          `json:"ttl_hours"`
	TTLPolicy      string           `json:"ttl_policy"`
	Durability     string           `json:"durability"`
	Generation     int64            `json:"generation"`
}

// SizeBytes are the sizes of a session's files.
type SizeBytes struct {
	Log        int64 `json:"log"`
	Index      int64 `json:"index"`
	Tombstones int64 `json:"tombstones"`
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
	SizeLimitBytes int64            `json:"size_limit_bytes"`
	Modified       *time.Time       `json:"modified"`
	Types          map[string]int64 `json:"types"`
	MemoryBytes    int64            `json:"memory_bytes"`
	LastSeq        int64            `json:"last_seq"`
	DurableSeq     int64            `json:"durable_seq"`
	Durability     string           `json:"durability"`
	Generation     int64            `json:"generation"`
	ReadOnly       bool             `json:"read_only"`
	Corruption     struct {
		Skipped int64 `json:"skipped"`
	} `json:"corruption"`
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

// VerifyReport is the answer of Session.Verify.
type VerifyReport struct {
	Document
	OK            bool     `json:"ok"`
	Entries       int64    `json:"entries"`
	Deleted       int64    `json:"deleted"`
	Damaged       int64    `json:"damaged"`
	Problems      []Damage `json:"problems"`
	ProblemsTotal int64    `json:"problems_total"`
	NotesTotal    int64    `json:"notes_total"`
	CheckedBytes  int64    `json:"checked_bytes"`
	LastSeq       int64    `json:"last_seq"`
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
	EntriesBefore int64            `json:"entries_before"`
	EntriesAfter  int64            `json:"entries_after"`
	BytesBefore   int64            `json:"bytes_before"`
	BytesAfter    int64            `json:"bytes_after"`
	Dropped       map[string]int64 `json:"dropped"` // by rule: deleted, expired, evicted, damaged
	Changed       bool             `json:"changed"`
	DurationMS    float64          `json:"duration_ms"`
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
	ExceedsLimit bool   `json:"exceeds_limit"` // of a dry run: not all of it would fit
}
