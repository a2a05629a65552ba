//! The figures that the library answers with; as those of `reports`.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::documents;
use crate::config::{CompactionConfig, DecayConfig};
use crate::reports::{Dropped, SessionProblem};

documents! {
    /// A session's metadata.
    Metadata {
        /// Of the format of this document.
        version: u64,
        /// Its id.
        session_id: String,
        /// Whose it is.
        user_id: Option<String>,
        /// Which agent's it is.
        agent_id: Option<String>,
        /// A name for people.
        title: Option<String>,
        /// RFC 3339.
        created_at: String,
        /// RFC 3339.
        last_accessed: String,
        /// How many entries it has.
        total_entries: u64,
        /// Bytes of its files.
        total_size_bytes: u64,
        /// Entries by type, four of them by their plural.
        statistics: BTreeMap<String, u64>,
        /// What `statistics` leaves out, of very many types.
        statistics_rest: Option<StatisticsRest>,
        /// Up to this number the log was durable when it was last saved.
        durable_seq: u64,
        /// Up to this number a gap is no damage.
        compacted_through_seq: u64,
        /// One more with each log that took the place of another.
        generation: u64,
        /// How its entries lose relevance with age, where that was given.
        decay_config: Option<DecayConfig>,
        /// When it compacts itself, where that was given.
        compaction_config: Option<CompactionConfig>,
        /// The last 20 compactions and purges, oldest first.
        compactions: Vec<Compaction>,
        /// When the last of them was, RFC 3339.
        last_compaction: Option<String>,
        /// Whether vectors of removed entries may still be there.
        stray_vectors: bool,
        /// It expires so long after its last write, or its creation.
        ttl_hours: Option<f64>,
        /// "sliding" when not given, or "fixed".
        ttl_policy: Option<String>,
        /// What it has beside its log.
        stores: Vec<String>,
        /// How many keys it keeps, where that was given.
        kv_cap: Option<u64>,
        /// How many turns it shows, where that was given.
        transcript_cap: Option<u64>,
        /// Preferences of yours.
        preferences: Option<Value>,
        /// Its own durability.
        durability: Option<String>,
        /// When the log was rewritten in another version.
        migrations: Vec<Migration>,
        /// When it was last restored from a backup, RFC 3339.
        restored_at: Option<String>,
    }
    /// What the statistics of very many types leave out.
    StatisticsRest {
        /// How many types.
        types: u64,
        /// How many entries of these types.
        entries: u64,
    }
    /// A compaction or purge that replaced the log.
    Compaction {
        /// When, RFC 3339.
        timestamp: String,
        /// "asked", "automatic" or "purge".
        cause: String,
        /// With the deleted and expired ones.
        entries_before: u64,
        /// Those that stayed.
        entries_after: u64,
        /// Of the log.
        bytes_before: u64,
        /// Of the log.
        bytes_after: u64,
        /// How many went, by the reason.
        dropped: Dropped,
        /// How long it took.
        duration_ms: f64,
        /// Of vectors.bin; none without one.
        vectors_before: Option<u64>,
        /// Of vectors.bin; none without one.
        vectors_after: Option<u64>,
    }
    /// The log was rewritten in another version.
    Migration {
        /// The version before.
        from: u64,
        /// The version since.
        to: u64,
        /// When, RFC 3339.
        at: String,
    }
    /// Figures of a session.
    SessionStats {
        /// Its id.
        session_id: String,
        /// Entries alive.
        entries: u64,
        /// Deletions; a compaction may have removed the entries.
        deleted: u64,
        /// Entries expired that are still in the log.
        expired: u64,
        /// Bytes by file.
        size_bytes: SizeBytes,
        /// What it may grow to; 0 for no limit.
        size_limit_bytes: u64,
        /// When the log last changed, RFC 3339.
        modified: Option<String>,
        /// Who is writing at this moment, in any process.
        lock: LockState,
        /// Entries by type, expired ones included.
        types: BTreeMap<String, u64>,
        /// Bytes of the index in memory.
        memory_bytes: u64,
        /// What there is of vectors.
        vectors: VectorStats,
        /// The number of the last entry in the log.
        last_seq: u64,
        /// Up to this number entries survive power loss; above `last_seq` when a compaction removed
        /// later ones.
        durable_seq: u64,
        /// "commit", "interval" or "os".
        durability: String,
        /// A power loss could take nothing that was answered.
        durable: bool,
        /// Bytes that are in memory only, since the disk does not take them.
        undurable_bytes: u64,
        /// One more with each log that took the place of another.
        generation: u64,
        /// No permission to write.
        read_only: bool,
        /// What was met of damage.
        corruption: CorruptionStats,
        /// What there is of the index.
        index: IndexStats,
        /// What model calls used, by the entries.
        usage: Usage,
    }
    /// Bytes of a session's files.
    SizeBytes {
        /// memory.jsonl.
        log: u64,
        /// index.bin.
        index: u64,
        /// tombstones.jsonl.
        tombstones: u64,
        /// vectors.bin.
        vectors: u64,
        /// kv.json.
        kv: u64,
        /// transcript.md.
        transcript: u64,
        /// All of them.
        total: u64,
    }
    /// Who is writing to a session.
    LockState {
        /// Somebody is.
        held: bool,
        /// Which process; this and the others only when somebody is.
        process_id: Option<u64>,
        /// What for.
        operation: Option<String>,
        /// Since when, RFC 3339.
        since: Option<String>,
    }
    /// Figures of a session's vectors.
    VectorStats {
        /// Numbers in each; 0 without vectors.
        dimension: u64,
        /// How many there are.
        records: u64,
        /// Bytes of them in memory.
        memory_bytes: u64,
    }
    /// What was met of damage.
    CorruptionStats {
        /// Stretches of the log that were passed over.
        skipped: u64,
        /// Sequence numbers that are gone.
        missing: u64,
        /// Unfinished lines at the end of the log.
        torn_tails: u64,
        /// Entries that were durable and are gone from the end.
        rollback: u64,
        /// metadata.json is damaged.
        metadata: bool,
        /// How often kv.json was found damaged.
        kv: u64,
        /// How often transcript.md was found damaged.
        transcript: u64,
    }
    /// Figures of a session's index.
    IndexStats {
        /// index.bin was used at opening.
        loaded: bool,
        /// How often it was rebuilt.
        rebuilds: u64,
        /// Why it was rebuilt.
        reason: String,
        /// Bytes of the log that index.bin knows.
        covered_bytes: u64,
        /// Bytes of tags, references and content members in memory.
        facets_memory_bytes: u64,
        /// Bytes of words in memory.
        words_memory_bytes: u64,
        /// Entries whose words are in it.
        words_of_entries: u64,
    }
    /// The index as a person can read it.
    Index {
        /// Of the format of this document.
        version: u64,
        /// When the relevance was computed, RFC 3339.
        last_updated: String,
        /// By id.
        entries: BTreeMap<String, IndexEntry>,
        /// Ids by tag.
        tags: BTreeMap<String, Vec<String>>,
        /// Ids by type.
        types: BTreeMap<String, Vec<String>>,
    }
    /// What the index has of an entry.
    IndexEntry {
        /// Counted from 1.
        line_number: u64,
        /// Where its line starts.
        byte_offset: u64,
        /// Its type.
        r#type: String,
        /// RFC 3339.
        timestamp: String,
        /// Its tags.
        tags: Vec<String>,
        /// As it was given.
        importance: f64,
        /// Without words, when the index was made.
        current_relevance: f64,
    }
    /// Figures of a store, of this process since it was opened.
    StoreStats {
        /// Where it is.
        uri: String,
        /// Sessions open.
        sessions_open: u64,
        /// Entries of the open sessions.
        entries: u64,
        /// How often a writer waited for another process.
        lock_waits: u64,
        /// How often that took too long.
        lock_timeouts: u64,
        /// Entries and batches committed.
        commits: u64,
        /// Entries added.
        entries_added: u64,
        /// Entries deleted.
        entries_deleted: u64,
        /// Bytes written.
        bytes_written: u64,
        /// Syncs.
        syncs: u64,
        /// How often an index was rebuilt.
        index_rebuilds: u64,
        /// Damaged lines passed over.
        lines_skipped: u64,
        /// Those of [`Store::metrics`](crate::Store::metrics) under dotted names.
        metrics: BTreeMap<String, Metric>,
    }
    /// How values are spread. `p50` and `p99` are the upper bounds of the buckets that hold them.
    Histogram {
        /// How many values.
        count: u64,
        /// All of them together.
        sum: f64,
        /// Half of them are at most this.
        p50: f64,
        /// Of a hundred of them 99 are.
        p99: f64,
        /// The largest.
        max: f64,
    }
    /// What model calls used; [`Store::usage`](crate::Store::usage).
    UsageReport {
        /// All of it.
        total: Usage,
        /// By session.
        sessions: Vec<SessionUsage>,
        /// By agent.
        agents: Vec<AgentUsage>,
        /// By user.
        users: Vec<UserUsage>,
        /// By day.
        days: Vec<DayUsage>,
        /// Sessions that could not be read.
        problems: Vec<SessionProblem>,
    }
    /// What model calls used.
    Usage {
        /// Entries that tell of it.
        entries: u64,
        /// Tokens that models were given.
        input_tokens: u64,
        /// Tokens that they gave.
        output_tokens: u64,
        /// What it cost.
        cost_usd: f64,
    }
    /// What model calls of one session used.
    SessionUsage {
        /// Which session.
        session_id: String,
        /// Whose it is.
        user_id: String,
        /// Which agent's it is.
        agent_id: String,
        /// Entries that tell of it.
        entries: u64,
        /// Tokens that models were given.
        input_tokens: u64,
        /// Tokens that they gave.
        output_tokens: u64,
        /// What it cost.
        cost_usd: f64,
    }
    /// What model calls of one agent used.
    AgentUsage {
        /// Which agent.
        agent_id: String,
        /// Entries that tell of it.
        entries: u64,
        /// Tokens that models were given.
        input_tokens: u64,
        /// Tokens that they gave.
        output_tokens: u64,
        /// What it cost.
        cost_usd: f64,
    }
    /// What model calls of one user used.
    UserUsage {
        /// Which user.
        user_id: String,
        /// Entries that tell of it.
        entries: u64,
        /// Tokens that models were given.
        input_tokens: u64,
        /// Tokens that they gave.
        output_tokens: u64,
        /// What it cost.
        cost_usd: f64,
    }
    /// What model calls of one day used.
    DayUsage {
        /// Of UTC: "2026-01-10".
        day: String,
        /// Entries that tell of it.
        entries: u64,
        /// Tokens that models were given.
        input_tokens: u64,
        /// Tokens that they gave.
        output_tokens: u64,
        /// What it cost.
        cost_usd: f64,
    }
}

/// A figure for monitoring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Metric {
    /// A number.
    Number(f64),
    /// How values are spread; durations in milliseconds.
    Histogram(Histogram),
}

impl Default for Metric {
    fn default() -> Self {
        Metric::Number(0.0)
    }
}
