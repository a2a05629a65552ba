//! The documents that the library answers with. Each keeps members that it has no field for in
//! `extra`, so that a newer library loses nothing here. A member of another form than its field is
//! the field's default here, and as it is in [`Answer::json`](crate::Answer::json).
use serde_json::{Map, Value};

use crate::answer::documents;

documents! {
    /// One page of [`Store::sessions`](crate::Store::sessions), newest first.
    SessionList {
        /// The sessions.
        sessions: Vec<SessionInfo>,
        /// Cursor for `"after"`; none on the last page.
        next: Option<String>,
    }
    /// A session as a list tells it.
    SessionInfo {
        /// Its id.
        session_id: String,
        /// Whose it is; `""` when that was not given.
        user_id: Option<String>,
        /// Which agent's it is; `""` when that was not given.
        agent_id: Option<String>,
        /// A name for people; `""` when it was not given. None, and what follows empty, when
        /// metadata.json is lost, damaged or not for this process to read.
        title: Option<String>,
        /// RFC 3339.
        created_at: String,
        /// RFC 3339.
        last_accessed: String,
        /// How many entries it has.
        total_entries: u64,
    }
    /// The files of a session.
    Files {
        /// By name.
        files: Vec<FileInfo>,
    }
    /// One file of a session.
    FileInfo {
        /// Its name in the session's directory.
        name: String,
        /// Its size.
        size_bytes: u64,
        /// When it last changed, RFC 3339.
        modified: Option<String>,
    }
    /// The tags of a session.
    TagList {
        /// By name.
        tags: Vec<TagCount>,
    }
    /// One tag.
    TagCount {
        /// The tag.
        tag: String,
        /// How many entries are found by it.
        entries: u64,
    }
    /// What [`Session::verify`](crate::Session::verify) found.
    VerifyReport {
        /// Nothing is damaged.
        ok: bool,
        /// Entries that are not deleted, expired ones included.
        entries: u64,
        /// Deletions.
        deleted: u64,
        /// Damaged stretches.
        damaged: u64,
        /// The first 1000 of them.
        problems: Vec<Problem>,
        /// How many there are.
        problems_total: u64,
        /// The first 1000.
        notes: Vec<Note>,
        /// How many there are.
        notes_total: u64,
        /// Bytes of log and tombstones.
        checked_bytes: u64,
        /// The number of the last entry.
        last_seq: u64,
        /// What was found of vectors.
        vectors: VerifiedVectors,
    }
    /// What is no damage: an entry refers to one that was deleted or does not exist; or, with both
    /// ids empty, metadata.json has a member that may have no effect.
    Note {
        /// Which file.
        file: String,
        /// Where the entry starts.
        offset: u64,
        /// The entry.
        id: String,
        /// What it refers to.
        target: String,
        /// Which of the two it is.
        reason: String,
    }
    /// What a verification found of vectors.
    VerifiedVectors {
        /// Numbers in each; 0 without vectors.
        dimension: u64,
        /// Records in the file.
        records: u64,
        /// Entries that have one.
        entries: u64,
        /// Records that are damaged.
        damaged: u64,
    }
    /// One damaged stretch of a file.
    Problem {
        /// Which file.
        file: String,
        /// Where it starts.
        offset: u64,
        /// How long it is.
        length: u64,
        /// What is wrong.
        reason: String,
    }
    /// What [`Session::repair`](crate::Session::repair) did.
    RepairReport {
        /// Entries alive.
        entries: u64,
        /// Damaged lines moved to quarantine.
        quarantined: u64,
        /// Lines that got a new checksum.
        resealed: u64,
        /// Sequence numbers that are gone.
        missing: u64,
        /// Of log and tombstones.
        bytes_before: u64,
        /// Of log and tombstones.
        bytes_after: u64,
        /// metadata.json was lost, or could not be read, and is made anew.
        metadata_lost: bool,
        /// Whether anything was written.
        changed: bool,
    }
    /// What [`Session::compact`](crate::Session::compact) or
    /// [`Session::purge`](crate::Session::purge) did.
    CompactReport {
        /// With the deleted and expired ones.
        entries_before: u64,
        /// Those that stay.
        entries_after: u64,
        /// Of the log.
        bytes_before: u64,
        /// Of the log.
        bytes_after: u64,
        /// How many went, by the reason.
        dropped: Dropped,
        /// Whether anything was written.
        changed: bool,
        /// How long it took.
        duration_ms: f64,
        /// Of vectors.bin; none without one, and in a dry run.
        vectors_before: Option<u64>,
        /// Of vectors.bin; none without one, and in a dry run.
        vectors_after: Option<u64>,
    }
    /// Entries that a compaction dropped.
    Dropped {
        /// They were deleted.
        deleted: u64,
        /// Their time was over.
        expired: u64,
        /// They were of little relevance.
        evicted: u64,
        /// They were damaged.
        damaged: u64,
    }
    /// What [`Session::migrate`](crate::Session::migrate) did.
    MigrateReport {
        /// Version the log was of.
        from: u64,
        /// Version it is of.
        to: u64,
        /// Whether anything was written.
        changed: bool,
        /// Entries alive.
        entries: u64,
        /// Stretches of the log that are no entries.
        quarantined: u64,
    }
    /// What [`Session::rebuild_index`](crate::Session::rebuild_index) did.
    RebuildReport {
        /// Entries indexed.
        entries: u64,
        /// How long it took.
        duration_ms: f64,
    }
    /// What an export wrote.
    ExportReport {
        /// How many entries.
        entries: u64,
        /// How many bytes.
        bytes: u64,
        /// Which format.
        format: String,
    }
    /// What an import took.
    ImportReport {
        /// Entries added.
        added: u64,
        /// Entries that were there already.
        existing: u64,
        /// The first 1000 that were refused.
        refused: Vec<Refusal>,
        /// How many were refused.
        refused_total: u64,
        /// Which format it was.
        format: String,
        /// Live entries that went to make room, also of those added.
        evicted: u64,
        /// Of a dry run: not all of it would fit into the size limits.
        exceeds_limit: bool,
    }
    /// A line that an import refused.
    Refusal {
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    }
    /// What [`Store::backup`](crate::Store::backup) copied.
    BackupReport {
        /// Sessions copied, appended to or unchanged.
        sessions: u64,
        /// Copied whole.
        copied: u64,
        /// Appended to.
        appended: u64,
        /// Left as they were.
        unchanged: u64,
        /// Copies removed.
        removed: u64,
        /// Bytes written.
        bytes: u64,
        /// Entries written.
        entries: u64,
        /// How long it took.
        duration_ms: f64,
        /// What could not be copied, or was copied damaged.
        problems: Vec<CopyProblem>,
    }
    /// What [`Store::restore`](crate::Store::restore) brought back.
    RestoreReport {
        /// Sessions restored.
        sessions: u64,
        /// Of these, those that replaced one.
        replaced: u64,
        /// Of these, those that had been dropped or lost since this store listed them.
        returned: Vec<String>,
        /// Entries alive in them.
        entries: u64,
        /// Deletions that were applied again.
        deletions_reapplied: u64,
        /// Bytes of their logs and tombstones.
        bytes: u64,
        /// How long it took.
        duration_ms: f64,
        /// What could not be restored.
        problems: Vec<CopyProblem>,
    }
    /// What [`Store::sweep`](crate::Store::sweep) removed.
    SweepReport {
        /// Sessions looked at.
        sessions_checked: u64,
        /// Sessions whose time was over.
        sessions_removed: u64,
        /// Sessions compacted.
        sessions_compacted: u64,
        /// Entries whose time was over.
        entries_dropped: u64,
        /// Bytes given back.
        bytes_freed: u64,
        /// Sessions that could not be swept.
        problems: Vec<SessionProblem>,
        /// How long it took.
        duration_ms: f64,
    }
    /// What was wrong with one session of many that were copied.
    CopyProblem {
        /// Which session.
        session_id: String,
        /// What is wrong.
        reason: String,
        /// Whether it was copied all the same.
        copied: bool,
    }
    /// What was wrong with one session of many.
    SessionProblem {
        /// Which session.
        session_id: String,
        /// What is wrong.
        reason: String,
    }
    /// A log line, which [`Store::set_log`](crate::Store::set_log) gives as text.
    LogLine {
        /// RFC 3339.
        timestamp: String,
        /// "DEBUG", "INFO", "WARN" or "ERROR".
        level: String,
        /// "store" or "session".
        component: String,
        /// Which session.
        session_id: Option<String>,
        /// What happened.
        message: String,
        /// Details of it.
        metadata: Map<String, Value>,
    }
}
