package varve

// Config is what Open takes; it overrides the store's config.json. docs/format.md#config has every
// member with its default and range. Where 0 or false is not the default, a field is a pointer; see
// Pointer.
type Config struct {
	Version     string            `json:"version,omitempty"`    // "1.0"
	Durability  string            `json:"durability,omitempty"` // commit, interval, os
	Storage     StorageConfig     `json:"storage,omitzero"`
	Concurrency ConcurrencyConfig `json:"concurrency,omitzero"`
	Decay       DecayConfig       `json:"decay,omitzero"`
	Performance PerformanceConfig `json:"performance,omitzero"`
	Integrity   IntegrityConfig   `json:"integrity,omitzero"`
	Text        TextConfig        `json:"text,omitzero"`
	Threads     int               `json:"threads,omitempty"`
}

// Pointer is a pointer to a value, for a field whose zero value is not its default.
func Pointer[T any](value T) *T { return &value }

// StorageConfig is a group of Config: sizes and numbers. A limit of 0 is none.
type StorageConfig struct {
	MaxSessionSizeMB    *float64 `json:"max_session_size_mb,omitempty"`
	MaxEntrySizeBytes   *int64   `json:"max_entry_size_bytes,omitempty"`
	MaxUserSizeMB       float64  `json:"max_user_size_mb,omitempty"`
	MaxUserSessions     int64    `json:"max_user_sessions,omitempty"`
	KVCap               *int     `json:"kv_cap,omitempty"`         // 0: no key is kept
	TranscriptCap       *int     `json:"transcript_cap,omitempty"` // 0: no turn is kept
	AutoCompact         *bool    `json:"auto_compact,omitempty"`
	CompactionThreshold *float64 `json:"compaction_threshold,omitempty"` // of MaxSessionSizeMB, 0 to 1
	RootDirectory       string   `json:"root_directory,omitempty"`       // no effect
}

// ConcurrencyConfig is a group of Config.
type ConcurrencyConfig struct {
	// LockTimeoutMS is how long a writer waits for another process before it answers ErrBusy. It is
	// also by how much a call may outlive a context's deadline; see Session.WithContext. 0 is the
	// default, 5000; not to wait at all, give Open {"concurrency":{"lock_timeout_ms":0}} as text.
	LockTimeoutMS int `json:"lock_timeout_ms,omitempty"`
	// Exclusive says that only this store writes to the sessions that it creates or opens, until
	// they are closed.
	Exclusive      bool `json:"exclusive,omitempty"`
	MaxRetries     int  `json:"max_retries,omitempty"`      // no effect yet
	RetryBackoffMS int  `json:"retry_backoff_ms,omitempty"` // no effect yet
}

// PerformanceConfig is a group of Config.
type PerformanceConfig struct {
	BatchWriteIntervalMS int   `json:"batch_write_interval_ms,omitempty"` // of durability interval
	CacheSize            *int  `json:"cache_size,omitempty"`              // entries of a session
	MaxKeptSessions      *int  `json:"max_kept_sessions,omitempty"`
	IndexInMemory        *bool `json:"index_in_memory,omitempty"` // no effect yet
}

// IntegrityConfig is a group of Config.
type IntegrityConfig struct {
	Recovery          string `json:"recovery,omitempty"`             // tail, strict, salvage
	IOFailure         string `json:"io_failure,omitempty"`           // error, buffer
	IOFailureBufferMB int    `json:"io_failure_buffer_mb,omitempty"` // of each session
	EnableChecksums   *bool  `json:"enable_checksums,omitempty"`     // true only
	ChecksumAlgorithm string `json:"checksum_algorithm,omitempty"`   // sha256 only
}

// DecayConfig says how entries lose relevance with age: a group of Config, and of a session's
// options.
type DecayConfig struct {
	Enabled               *bool                `json:"enabled,omitempty"`
	HalfLifeHours         float64              `json:"half_life_hours,omitempty"`
	DefaultHalfLifeHours  float64              `json:"default_half_life_hours,omitempty"`
	MinDecayFactor        *float64             `json:"min_decay_factor,omitempty"`
	Curve                 string               `json:"curve,omitempty"` // exponential, linear, step, none
	TypeSpecific          map[string]TypeDecay `json:"type_specific,omitempty"`
	UpdateIntervalMinutes float64              `json:"update_interval_minutes,omitempty"` // no effect
}

// TypeDecay is how entries of one type lose relevance.
type TypeDecay struct {
	HalfLifeHours  float64  `json:"half_life_hours,omitempty"`
	MinDecayFactor *float64 `json:"min_decay_factor,omitempty"`
	Curve          string   `json:"curve,omitempty"`
	DecayEnabled   *bool    `json:"decay_enabled,omitempty"`
}

// TextConfig is a group of Config.
type TextConfig struct {
	Language  string      `json:"language,omitempty"`  // none, or one that Snowball has: en
	StopWords []string    `json:"stop_words,omitzero"` // instead of the language's; none when empty
	Best      BestWeights `json:"best,omitzero"`
}

// BestWeights are what makes the order best, each from 0 to 100; docs/retrieval.md#best.
type BestWeights struct {
	Neighbour  *float64 `json:"neighbour,omitempty"`
	Answer     *float64 `json:"answer,omitempty"`
	Stretch    *float64 `json:"stretch,omitempty"`
	Role       *float64 `json:"role,omitempty"`
	Date       *float64 `json:"date,omitempty"`
	Relevance  *float64 `json:"relevance,omitempty"`
	Candidates int      `json:"candidates,omitempty"`
}

// CompactionConfig overrides for a session what StorageConfig says of all.
type CompactionConfig struct {
	AutoCompact *bool    `json:"auto_compact,omitempty"`
	Threshold   *float64 `json:"threshold,omitempty"`
}
