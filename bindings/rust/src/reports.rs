//! The documents that the library answers with. Each keeps members that it has no field for in
//! `extra`, so that a newer library loses nothing here. A member of another form than its field is
//! the field's default here, and as it is in [`Answer::json`](crate::Answer::json).
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One odd value of somebody's hand, as a title that is a number, must not hide all the others.
fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    member: D,
) -> std::result::Result<T, D::Error> {
    Ok(T::deserialize(Value::deserialize(member)?).unwrap_or_default())
}

macro_rules! documents {
    ($($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        #[non_exhaustive]
        pub struct $name {
            $(
                $(#[$what])*
                #[serde(deserialize_with = "or_default")]
                pub $field: $type,
            )*
            /// All other members.
            #[serde(flatten)]
            pub extra: Map<String, Value>,
        }
    )*};
}

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
    }
    /// A session's metadata.
    Metadata {
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
    }
    /// Figures of a session.
    SessionStats {
        /// Its id.
        session_id: String,
        /// Entries alive.
        entries: u64,
        /// Entries deleted that are still in the log.
        deleted: u64,
        /// Entries expired that are still in the log.
        expired: u64,
        /// Bytes by file, and `total`.
        size_bytes: BTreeMap<String, u64>,
        /// Entries by type.
        types: BTreeMap<String, u64>,
        /// Bytes of the index in memory.
        memory_bytes: u64,
        /// The number of the last entry.
        last_seq: u64,
        /// The number of the last entry that survives power loss.
        durable_seq: u64,
        /// No permission to write.
        read_only: bool,
    }
    /// Figures of a store, of this process since it was opened.
    StoreStats {
        /// Where it is.
        uri: String,
        /// Sessions open.
        sessions_open: u64,
        /// Entries of the open sessions.
        entries: u64,
        /// Entries added.
        entries_added: u64,
        /// Entries deleted.
        entries_deleted: u64,
        /// Bytes written.
        bytes_written: u64,
        /// Syncs.
        syncs: u64,
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
        /// Entries alive.
        entries: u64,
        /// Entries deleted.
        deleted: u64,
        /// Damaged stretches.
        damaged: u64,
        /// The first 1000 of them.
        problems: Vec<Problem>,
        /// How many there are.
        problems_total: u64,
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
        dropped: BTreeMap<String, u64>,
        /// Whether anything was written.
        changed: bool,
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
        /// What could not be copied, or was copied damaged.
        problems: Vec<SessionProblem>,
    }
    /// What [`Store::restore`](crate::Store::restore) brought back.
    RestoreReport {
        /// Sessions restored.
        sessions: u64,
        /// Of these, those that replaced one.
        replaced: u64,
        /// Entries alive in them.
        entries: u64,
        /// Deletions that were applied again.
        deletions_reapplied: u64,
        /// What could not be restored.
        problems: Vec<SessionProblem>,
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
    }
    /// What was wrong with one session of many.
    SessionProblem {
        /// Which session.
        session_id: String,
        /// What is wrong.
        reason: String,
    }
}
