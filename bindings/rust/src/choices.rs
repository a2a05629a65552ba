//! What calls take that look after a session or a store.
use crate::document::options;
use crate::query::{Query, Time};

options! {
    /// Which sessions [`Store::sessions`](crate::Store::sessions) lists; everybody's when nothing is given.
    SessionFilter {
        /// Only sessions of this user.
        user_id: String,
        /// Only sessions of this agent.
        agent_id: String,
        /// How many at a time; 100 when not given.
        limit: u64,
        /// The `next` of the page before.
        after: String,
        /// Makes the list anew from the directories.
        rescan: bool,
    }
    /// Whose usage [`Store::usage`](crate::Store::usage) sums; everybody's when nothing is given.
    UsageFilter {
        /// Only sessions of this user.
        user_id: String,
        /// Only sessions of this agent.
        agent_id: String,
        /// Only these sessions.
        session_ids: Vec<String>,
        /// From when to when; it has no `last`.
        time: Time,
    }
    /// Options of [`Store::backup`](crate::Store::backup).
    BackupOptions {
        /// Only these.
        sessions: Vec<String>,
        /// False: copies of sessions that are no longer there stay.
        delete_missing: bool,
    }
    /// Options of [`Store::restore`](crate::Store::restore).
    RestoreOptions {
        /// Only these.
        sessions: Vec<String>,
        /// Replaces sessions that are there.
        overwrite: bool,
        /// A store or backup whose deletions are applied, too.
        tombstones_from: String,
    }
    /// Options of [`Session::verify`](crate::Session::verify).
    VerifyOptions {
        /// Compares what is in the index with the log, too.
        deep: bool,
    }
    /// Options of [`Session::repair`](crate::Session::repair).
    RepairOptions {
        /// Only reports.
        dry_run: bool,
        /// What is an entry but for its checksum gets a new one and stays.
        accept_edits: bool,
    }
    /// Options of [`Session::compact`](crate::Session::compact).
    CompactOptions {
        /// Only reports what would go.
        dry_run: bool,
        /// What is less relevant goes, too: 0 to 2.
        evict_below: f64,
    }
    /// Options of [`Session::purge`](crate::Session::purge).
    PurgeOptions {
        /// Only reports what would go.
        dry_run: bool,
    }
    /// Options of [`Session::migrate`](crate::Session::migrate).
    MigrateOptions {
        /// Only reports.
        dry_run: bool,
    }
    /// Options of [`Session::export_file`](crate::Session::export_file).
    ExportOptions {
        /// "jsonl" when not given, "json" or "markdown".
        format: String,
        /// Conditions that entries must meet.
        query: Query,
        /// Replaces a file that is there.
        overwrite: bool,
    }
    /// Options of [`Session::import_file`](crate::Session::import_file).
    ImportOptions {
        /// "auto" when not given, "jsonl", "json", "mcp" or "chat".
        format: String,
        /// Only reports.
        dry_run: bool,
    }
}
