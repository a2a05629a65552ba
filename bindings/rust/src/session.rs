//! A session: one memory. Its log of entries, its metadata, its lifetime.
use std::ffi::c_char;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::answer::Answer;
use crate::callback::{self, Closing, Slot};
use crate::document::Document;
use crate::entry::Entry;
use crate::error::{text, Error, Result};
use crate::figures::{Index, Metadata, SessionStats};
use crate::handle::{call, call_for_text, Argument};
use crate::library::Library;
use crate::query::Query;
use crate::raw;
use crate::reports::{
    CompactReport, ExportReport, Files, ImportReport, MigrateReport, RebuildReport, RepairReport,
    TagList, VerifyReport,
};
use crate::results::{Finder, Pages, RawResults, Results};
use crate::store::Store;

/// An open session. Clones are the same session; any thread may use it, as may other processes.
///
/// It is closed with its last clone, or by [`Session::close`] at once.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    raw: *mut raw::varve_session_t,
    id: String,
    progress: Slot<callback::Progress>,
    closing: Closing,
    store: Store,
}

// SAFETY: a session may be used from any thread at once (varve/base.h, convention 7); its handle is
// a token that the library checks on every call, and the closures are Send + Sync.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: a handle that is closed already is refused. Nobody is in a call with it: calls
        // borrow the session.
        unsafe { (self.store.library().api().varve_session_close)(self.raw) };
    }
}

/// A function of a session that gives a document.
type Tell = unsafe extern "C" fn(
    *mut raw::varve_session_t,
    *mut *mut c_char,
    *mut usize,
    *mut *mut raw::varve_error_t,
) -> raw::varve_status_t;

/// One that takes a document and gives one.
type Ask = unsafe extern "C" fn(
    *mut raw::varve_session_t,
    *const c_char,
    usize,
    *mut *mut c_char,
    *mut usize,
    *mut *mut raw::varve_error_t,
) -> raw::varve_status_t;

/// One that takes two and gives one.
type AskTwo = unsafe extern "C" fn(
    *mut raw::varve_session_t,
    *const c_char,
    usize,
    *const c_char,
    usize,
    *mut *mut c_char,
    *mut usize,
    *mut *mut raw::varve_error_t,
) -> raw::varve_status_t;

impl Session {
    /// Takes over the handle that `function` gives.
    pub(crate) fn take(
        store: Store,
        function: impl FnOnce(
            *mut *mut raw::varve_session_t,
            *mut *mut raw::varve_error_t,
        ) -> raw::varve_status_t,
    ) -> Result<Session> {
        let mut raw = ptr::null_mut();
        call(store.library(), |error| function(&mut raw, error))?;
        // SAFETY: borrowed from the session, which nobody else knows yet; copied.
        let id = unsafe { text((store.library().api().varve_session_id)(raw)) };
        let (progress, closing) = (Slot::new(), Closing::default());
        Ok(Session(Arc::new(Shared { raw, id, progress, closing, store })))
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The store it is in.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Closes this handle for all clones: their calls answer
    /// [`ErrorKind::BadHandle`](crate::ErrorKind::BadHandle) from then on.
    pub fn close(&self) {
        // SAFETY: any handle may be closed, also twice.
        if self.0.closing.is_last(|| unsafe { (self.api().varve_session_close)(self.0.raw) }) {
            // Nothing calls it any more, and what it holds may be this session, for ever.
            self.0.progress.replace(None);
        }
    }

    /// Adds one entry and gives its id. When this answers, the entry is as durable as the session
    /// is set to be (by default it survives power loss), and every process sees it.
    pub fn add(&self, entry: impl Document) -> Result<String> {
        self.ask(self.api().varve_session_add, &entry.to_json()?)
    }

    /// Adds several entries, all or none, and gives their ids: `&[Entry]`, a JSON array, or JSON
    /// lines.
    ///
    /// ```
    /// use varve::Entry;
    /// # fn main() -> varve::Result<()> {
    /// # let session = varve::Store::open("memory:")?.create_session(())?;
    /// let ids = session.add_batch([
    ///     Entry::new("tool_call", "kettle.boil").id("call-1"),
    ///     Entry::new("tool_result", "100 degrees").reference("call-1"),
    /// ])?;
    /// assert_eq!(ids[0], "call-1");
    /// # Ok(())
    /// # }
    /// ```
    pub fn add_batch(&self, entries: impl Document) -> Result<Vec<String>> {
        let ids = self.ask(self.api().varve_session_add_batch, &entries.to_json()?)?;
        serde_json::from_str(&ids).map_err(|error| Error::json("the ids", error))
    }

    /// Gives one entry.
    pub fn get(&self, id: &str) -> Result<Entry> {
        serde_json::from_str(&self.get_json(id)?)
            .map_err(|error| Error::json("the entry does not match the type", error))
    }

    /// Gives one entry as it is stored.
    pub fn get_json(&self, id: &str) -> Result<String> {
        self.ask(self.api().varve_session_get, id.as_bytes())
    }

    /// Deletes one entry: hidden at once from every reader in every process. The reason goes to the
    /// audit log and must not hold what is being deleted.
    pub fn delete(&self, id: &str, reason: &str) -> Result<()> {
        // SAFETY: the texts live during the call.
        call(self.library(), |error| unsafe {
            let delete = self.api().varve_session_delete;
            delete(self.0.raw, id.pointer(), id.len(), reason.pointer(), reason.len(), error)
        })
    }

    /// Deletes every entry that a query finds, and tells how many. `()` is refused, and so is an empty
    /// condition; [`Query::all()`](crate::Query::all) is every entry.
    pub fn delete_where(&self, query: impl Document, reason: &str) -> Result<u64> {
        let (query, mut count) = (query.to_json()?, 0);
        // SAFETY: the texts live during the call.
        call(self.library(), |error| unsafe {
            (self.api().varve_session_delete_where)(
                self.0.raw,
                query.pointer(),
                query.len(),
                reason.pointer(),
                reason.len(),
                &mut count,
                error,
            )
        })?;
        Ok(count)
    }

    /// Gives an entry its vector: an embedding that you made of it, for queries with
    /// [`Query::vector`]. All vectors of a session have the same number of dimensions.
    pub fn put_vector(&self, id: &str, values: &[f32]) -> Result<()> {
        let dimension = u32::try_from(values.len()).unwrap_or(u32::MAX);
        // SAFETY: the texts and the numbers live during the call.
        call(self.library(), |error| unsafe {
            let put = self.api().varve_session_put_vector;
            put(self.0.raw, id.pointer(), id.len(), values.as_ptr(), dimension, error)
        })
    }

    /// Finds entries; `()` is all of them, by relevance. One page: [`Query::limit`] of them, 100 when
    /// not given.
    pub fn query(&self, query: impl Document) -> Result<Results> {
        self.query_json(query)?.parse()
    }

    /// As [`Session::query`], with the results as JSON.
    pub fn query_json(&self, query: impl Document) -> Result<RawResults> {
        let query = query.to_json()?;
        // SAFETY: the text lives during the call.
        RawResults::ask(self.library(), |results, error| unsafe {
            let find = self.api().varve_session_query;
            find(self.0.raw, query.pointer(), query.len(), results, error)
        })
    }

    /// All that a query finds, or the first [`Query::limit`]; page after page as they are gone
    /// through.
    ///
    /// ```
    /// # fn main() -> varve::Result<()> {
    /// # let session = varve::Store::open("memory:")?.create_session(())?;
    /// # session.add_batch((0..250).map(|n| varve::Entry::new("finding", n)).collect::<Vec<_>>())?;
    /// let mut seen = 0;
    /// for hit in session.find(varve::Query::all()) {
    ///     seen += usize::from(hit?.entry.kind == "finding");
    /// }
    /// assert_eq!(seen, 250);
    /// # Ok(())
    /// # }
    /// ```
    pub fn find(&self, query: Query) -> Pages {
        Pages::up_to_limit(Finder::Session(self.clone()), query)
    }

    /// All that a query finds, as by [`Session::find`], in pages of a size of yours:
    /// [`Query::limit`], 100 when not given.
    ///
    /// ```
    /// # fn main() -> varve::Result<()> {
    /// # let session = varve::Store::open("memory:")?.create_session(())?;
    /// # for n in 0..25 { session.add(varve::Entry::new("finding", n))?; }
    /// let mut seen = 0;
    /// for hit in session.pages(varve::Query::all().limit(10)) {
    ///     seen += usize::from(hit?.entry.kind == "finding");
    /// }
    /// assert_eq!(seen, 25);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pages(&self, query: Query) -> Pages {
        Pages::of_limit(Finder::Session(self.clone()), query)
    }

    /// Counts the entries that match; `()` counts all.
    pub fn count(&self, query: impl Document) -> Result<u64> {
        let (query, mut count) = (query.to_json()?, 0);
        // SAFETY: the text lives during the call.
        call(self.library(), |error| unsafe {
            let counting = self.api().varve_session_count;
            counting(self.0.raw, query.pointer(), query.len(), &mut count, error)
        })?;
        Ok(count)
    }

    /// Every tag of its entries, with those above it in the hierarchy.
    pub fn tags(&self) -> Result<Answer<TagList>> {
        self.tell(self.api().varve_session_tags).and_then(Answer::read)
    }

    /// Its metadata.
    pub fn metadata(&self) -> Result<Answer<Metadata>> {
        self.tell(self.api().varve_session_metadata).and_then(Answer::read)
    }

    /// Changes metadata by a JSON merge patch: null removes a member.
    pub fn update(&self, patch: impl Document) -> Result<()> {
        let patch = patch.to_json()?;
        // SAFETY: the text lives during the call.
        call(self.library(), |error| unsafe {
            (self.api().varve_session_update)(self.0.raw, patch.pointer(), patch.len(), error)
        })
    }

    /// Makes everything added so far durable, and saves index and metadata.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: nothing but the handle.
        call(self.library(), |error| unsafe { (self.api().varve_session_sync)(self.0.raw, error) })
    }

    /// Its figures.
    pub fn stats(&self) -> Result<Answer<SessionStats>> {
        self.tell(self.api().varve_session_stats).and_then(Answer::read)
    }

    /// Its files; none in a store that is `memory:`.
    pub fn files(&self) -> Result<Answer<Files>> {
        self.tell(self.api().varve_session_files).and_then(Answer::read)
    }

    /// Reads every byte and checks it; `json!({"deep": true})` compares the index with it too.
    pub fn verify(&self, options: impl Document) -> Result<Answer<VerifyReport>> {
        self.report(self.api().varve_session_verify, options)
    }

    /// Moves damaged lines to quarantine; `dry_run`, `accept_edits`.
    pub fn repair(&self, options: impl Document) -> Result<Answer<RepairReport>> {
        self.report(self.api().varve_session_repair, options)
    }

    /// Writes the log anew without what is deleted and expired; `dry_run`, `evict_below`.
    pub fn compact(&self, options: impl Document) -> Result<Answer<CompactReport>> {
        self.report(self.api().varve_session_compact, options)
    }

    /// Makes deleted and expired entries gone for good: no byte of their content is in any file of
    /// the session when this answers. `dry_run`.
    pub fn purge(&self, options: impl Document) -> Result<Answer<CompactReport>> {
        self.report(self.api().varve_session_purge, options)
    }

    /// Rewrites the log of an earlier format as one of this version; `dry_run`.
    pub fn migrate(&self, options: impl Document) -> Result<Answer<MigrateReport>> {
        self.report(self.api().varve_session_migrate, options)
    }

    /// Builds the index anew from the log.
    pub fn rebuild_index(&self, options: impl Document) -> Result<Answer<RebuildReport>> {
        self.report(self.api().varve_session_rebuild_index, options)
    }

    /// The index as JSON that a person can read.
    pub fn index(&self) -> Result<Answer<Index>> {
        Answer::read(self.index_json()?)
    }

    /// The same as text, indented.
    pub fn index_json(&self) -> Result<String> {
        self.tell(self.api().varve_session_index)
    }

    /// All entries as one text: "jsonl", "json" or "markdown"; or `{"format","query"}` as JSON.
    pub fn export(&self, format: &str) -> Result<String> {
        self.ask(self.api().varve_session_export, format.as_bytes())
    }

    /// Writes what [`Session::export`] gives into a file outside the store: `format`, `query`,
    /// `overwrite`. Memory does not grow with the size of the entries.
    pub fn export_file(
        &self,
        path: impl AsRef<Path>,
        options: impl Document,
    ) -> Result<Answer<ExportReport>> {
        let options = options.to_json()?;
        let path = path.as_ref().as_os_str().as_bytes();
        self.ask_two(self.api().varve_session_export_file, path, &options).and_then(Answer::read)
    }

    /// Adds entries from a text: JSON lines, a JSON array, an export, a chat.
    pub fn import(&self, text: impl AsRef<[u8]>) -> Result<Answer<ImportReport>> {
        self.ask(self.api().varve_session_import, text.as_ref()).and_then(Answer::read)
    }

    /// Adds entries from a file, piece by piece: `format`, `dry_run`.
    pub fn import_file(
        &self,
        path: impl AsRef<Path>,
        options: impl Document,
    ) -> Result<Answer<ImportReport>> {
        let options = options.to_json()?;
        let path = path.as_ref().as_os_str().as_bytes();
        self.ask_two(self.api().varve_session_import_file, path, &options).and_then(Answer::read)
    }

    /// Tells a closure how far exports, imports and verify are: the operation, the bytes done, the
    /// bytes in all (0 when that is not known). `false` stops the operation, and so does a panic:
    /// it answers [`ErrorKind::Callback`](crate::ErrorKind::Callback).
    ///
    /// The closure lives until another one takes its place, it is cleared, or the session is closed:
    /// one that holds the session itself is kept until then, also when the store is closed before.
    pub fn set_progress<F>(&self, progress: F) -> Result<()>
    where
        F: Fn(&str, u64, u64) -> bool + Send + Sync + 'static,
    {
        callback::set(&self.0.progress, Arc::new(progress), |user_data| {
            // SAFETY: the slot is there until the session is closed.
            call(self.library(), |error| unsafe {
                let set = self.api().varve_session_set_progress;
                set(self.0.raw, Some(callback::progress), user_data, error)
            })
        })
    }

    /// Stops telling.
    pub fn clear_progress(&self) -> Result<()> {
        // SAFETY: no function, nothing to be called with.
        call(self.library(), |error| unsafe {
            (self.api().varve_session_set_progress)(self.0.raw, None, ptr::null_mut(), error)
        })?;
        self.0.progress.replace(None);
        Ok(())
    }

    /// The C handle, for functions of [`raw`]. Valid until the session is closed.
    pub fn as_raw(&self) -> *mut raw::varve_session_t {
        self.0.raw
    }

    pub(crate) fn library(&self) -> &'static Library {
        self.0.store.library()
    }

    pub(crate) fn api(&self) -> &'static raw::Api {
        self.library().api()
    }

    pub(crate) fn tell(&self, function: Tell) -> Result<String> {
        // SAFETY: the pointers are this call's own.
        call_for_text(self.library(), |text, length, error| unsafe {
            function(self.0.raw, text, length, error)
        })
    }

    pub(crate) fn ask(&self, function: Ask, given: &[u8]) -> Result<String> {
        // SAFETY: the text lives during the call.
        call_for_text(self.library(), |text, length, error| unsafe {
            function(self.0.raw, given.pointer(), given.len(), text, length, error)
        })
    }

    pub(crate) fn ask_two(&self, function: AskTwo, one: &[u8], two: &[u8]) -> Result<String> {
        // SAFETY: the texts live during the call.
        call_for_text(self.library(), |text, length, error| unsafe {
            let (first, second) = (one.pointer(), two.pointer());
            function(self.0.raw, first, one.len(), second, two.len(), text, length, error)
        })
    }

    fn report<T: DeserializeOwned>(
        &self,
        function: Ask,
        options: impl Document,
    ) -> Result<Answer<T>> {
        self.ask(function, &options.to_json()?).and_then(Answer::read)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.0.id).finish_non_exhaustive()
    }
}
