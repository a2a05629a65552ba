//! What a store and a session can be told to do otherwise; the page docs/format.md#config of varve has
//! the default and the range of each setting.
use std::collections::BTreeMap;

use crate::document::options;

options! {
    /// What [`Store::open_with`](crate::Store::open_with) takes; it overrides the store's config.json.
    StoreConfig {
        /// "1.0".
        version: String,
        /// "commit" (survives power loss), "interval" or "os".
        durability: String,
        /// That a query across sessions may use.
        threads: u64,
        /// Sizes and numbers.
        storage: StorageConfig,
        /// Locks.
        concurrency: ConcurrencyConfig,
        /// Memory and intervals.
        performance: PerformanceConfig,
        /// Damage and failing disks.
        integrity: IntegrityConfig,
        /// How entries lose relevance with age.
        decay: DecayConfig,
        /// Words.
        text: TextConfig,
    }
    /// Sizes and numbers; a limit of 0 is none.
    StorageConfig {
        /// Of one session.
        max_session_size_mb: f64,
        /// Of one line.
        max_entry_size_bytes: u64,
        /// Of all sessions of a user.
        max_user_size_mb: f64,
        /// Of a user.
        max_user_sessions: u64,
        /// Keys that a session keeps; 0: none.
        kv_cap: u64,
        /// Turns that a session shows; 0: none.
        transcript_cap: u64,
        /// A session that is nearly full compacts itself.
        auto_compact: bool,
        /// What is nearly, 0 to 1.
        compaction_threshold: f64,
        /// No effect.
        root_directory: String,
    }
    /// Locks.
    ConcurrencyConfig {
        /// How long a writer waits for another process.
        lock_timeout_ms: u64,
        /// Only this store writes to the sessions that it creates or opens.
        exclusive: bool,
        /// No effect yet.
        max_retries: u64,
        /// No effect yet.
        retry_backoff_ms: u64,
    }
    /// Memory and intervals.
    PerformanceConfig {
        /// How often the durability "interval" syncs.
        batch_write_interval_ms: u64,
        /// Entries that a session keeps in memory.
        cache_size: u64,
        /// Sessions that stay open between queries across sessions.
        max_kept_sessions: u64,
        /// No effect yet.
        index_in_memory: bool,
    }
    /// Damage and failing disks.
    IntegrityConfig {
        /// "tail", "strict" or "salvage".
        recovery: String,
        /// "error" or "buffer".
        io_failure: String,
        /// How much a session buffers.
        io_failure_buffer_mb: u64,
        /// True, as they are part of the format.
        enable_checksums: bool,
        /// "sha256".
        checksum_algorithm: String,
    }
    /// How entries lose relevance with age.
    DecayConfig {
        /// False: nothing does.
        enabled: bool,
        /// Of every type.
        half_life_hours: f64,
        /// Of types without a rule of their own.
        default_half_life_hours: f64,
        /// It goes no lower, 0 to 1.
        min_decay_factor: f64,
        /// "exponential", "linear", "step" or "none".
        curve: String,
        /// By type.
        type_specific: BTreeMap<String, TypeDecay>,
        /// No effect.
        update_interval_minutes: f64,
    }
    /// How entries of one type lose relevance with age.
    TypeDecay {
        /// After so long half of it is left.
        half_life_hours: f64,
        /// It goes no lower, 0 to 1.
        min_decay_factor: f64,
        /// "exponential", "linear", "step" or "none".
        curve: String,
        /// Whether they do.
        decay_enabled: bool,
    }
    /// Words.
    TextConfig {
        /// By which words are stemmed: "en", "none", one that Snowball has.
        language: String,
        /// Words that do not rank, instead of the language's; none when empty.
        stop_words: Vec<String>,
        /// What makes the order "best".
        best: BestWeights,
    }
    /// What makes the order "best", each from 0 to 100.
    BestWeights {
        /// The entries beside it.
        neighbour: f64,
        /// That it may answer the question.
        answer: f64,
        /// That words stand close.
        stretch: f64,
        /// Who said it.
        role: f64,
        /// A day that was asked for.
        date: f64,
        /// Its relevance.
        relevance: f64,
        /// How many are ranked.
        candidates: u64,
    }
    /// When a session compacts itself, instead of what the store says.
    CompactionConfig {
        /// Whether it does.
        auto_compact: bool,
        /// From which share of its size limit on.
        threshold: f64,
    }
}
