//! A store: one directory (or memory) that holds any number of sessions.
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::answer::Answer;
use crate::callback::{self, Closing, Slot};
use crate::document::Document;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{Error, Result};
use crate::figures::{StoreStats, UsageReport};
use crate::handle::{call, call_for_text, Argument};
use crate::library::Library;
use crate::options::SessionOptions;
use crate::query::Query;
use crate::raw;
use crate::reports::{BackupReport, RestoreReport, SessionList, SweepReport};
use crate::results::{Finder, Pages, RawResults, Results};
use crate::session::Session;
use crate::sessions::Sessions;

/// An open store. Clones are the same store; any thread may use it, as may other processes.
///
/// It is closed when the last clone and the last of its [`Session`]s are gone, or by
/// [`Store::close`] at once. A closure given to it lives until another one takes its place, it is
/// cleared, or the store is closed: one that holds the store itself keeps it open until then.
#[derive(Clone)]
pub struct Store(Arc<Shared>);

struct Shared {
    library: &'static Library,
    raw: *mut raw::varve_store_t,
    log: Slot<callback::Log>,
    clock: Slot<callback::Clock>,
    tokens: Slot<callback::Tokens>,
    /// Held while `tokens`, and what the library knows of it, change: else one that is set while
    /// another thread clears could be told to the library and gone here.
    changing_tokens: Mutex<()>,
    closing: Closing,
}

// SAFETY: a store may be used from any thread at once (varve/base.h, convention 7); its handle is a
// token that the library checks on every call, and the closures are Send + Sync.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: a handle that is closed already is refused. Calls in flight finish first, so no
        // closure is running when they are dropped after this.
        unsafe { (self.library.api().varve_store_close)(self.raw) };
    }
}

/// How much of the log lines to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Locks acquired and released, caches hit and missed.
    Debug = raw::VARVE_LOG_DEBUG as isize,
    /// Sessions created, opened, closed, deleted.
    Info = raw::VARVE_LOG_INFO as isize,
    /// Lock timeouts, nearly full sessions, repaired tails, rebuilt indexes.
    Warn = raw::VARVE_LOG_WARN as isize,
    /// Damage, input and output failures.
    Error = raw::VARVE_LOG_ERROR as isize,
}

impl TryFrom<i32> for LogLevel {
    type Error = Error;

    /// The level of this number in the header; [`ErrorKind::InvalidArgument`] for another one.
    fn try_from(level: i32) -> Result<Self> {
        match level {
            raw::VARVE_LOG_DEBUG => Ok(Self::Debug),
            raw::VARVE_LOG_INFO => Ok(Self::Info),
            raw::VARVE_LOG_WARN => Ok(Self::Warn),
            raw::VARVE_LOG_ERROR => Ok(Self::Error),
            _ => Err(Error::invalid("level", format!("{level} is no level of log lines"))),
        }
    }
}

impl Store {
    /// Opens a store, and creates it when its directory does not exist: a path, `file:PATH`, or
    /// `memory:` for one that is nowhere on the disk.
    pub fn open(uri: impl AsRef<OsStr>) -> Result<Store> {
        Store::open_with(uri, ())
    }

    /// Opens a store with settings that override those of its config.json: a
    /// [`StoreConfig`](crate::StoreConfig), or as
    /// `json!({"durability": "interval", "concurrency": {"lock_timeout_ms": 250}})`.
    pub fn open_with(uri: impl AsRef<OsStr>, config: impl Document) -> Result<Store> {
        let library = Library::get()?;
        let (uri, config) = (uri.as_ref().as_bytes(), config.to_json()?);
        let mut raw = ptr::null_mut();
        // SAFETY: the texts live during the call.
        call(library, |error| unsafe {
            (library.api().varve_store_open)(
                uri.pointer(),
                uri.len(),
                config.pointer(),
                config.len(),
                &mut raw,
                error,
            )
        })?;
        let (log, clock, tokens) = (Slot::new(), Slot::new(), Slot::new());
        let (changing_tokens, closing) = (Mutex::new(()), Closing::default());
        Ok(Store(Arc::new(Shared { library, raw, log, clock, tokens, changing_tokens, closing })))
    }

    /// Closes the store for all clones and all its sessions, whose calls answer
    /// [`ErrorKind::BadHandle`] from then on. Calls in flight on other threads finish first. Not to
    /// be called from a closure that the store calls.
    pub fn close(&self) {
        // SAFETY: any handle may be closed, also twice.
        if self.0.closing.is_last(|| unsafe { (self.api().varve_store_close)(self.0.raw) }) {
            // Nothing calls them any more, and what they hold may be this store, for ever.
            self.0.log.replace(None);
            self.0.clock.replace(None);
            self.0.tokens.replace(None);
        }
    }

    /// Creates a session and opens it; [`ErrorKind::AlreadyExists`] when there is one of that id,
    /// unless [`SessionOptions::if_exists`] says otherwise.
    pub fn create_session(&self, options: impl Document) -> Result<Session> {
        let options = options.to_json()?;
        // SAFETY: the text lives during the call.
        Session::take(self.clone(), |session, error| unsafe {
            let create = self.api().varve_session_create;
            create(self.0.raw, options.pointer(), options.len(), session, error)
        })
    }

    /// Opens an existing session.
    pub fn open_session(&self, id: &str) -> Result<Session> {
        // SAFETY: the text lives during the call.
        Session::take(self.clone(), |session, error| unsafe {
            (self.api().varve_session_open)(self.0.raw, id.pointer(), id.len(), session, error)
        })
    }

    /// Opens the session of this id, and creates it when there is none, in one call. One that is
    /// there is opened as it is; [`ErrorKind::AlreadyExists`] when it is another user's or agent's
    /// than the options say.
    ///
    /// ```
    /// # fn main() -> varve::Result<()> {
    /// let store = varve::Store::open("memory:")?;
    /// store.session("kitchen")?.add(r#"{"type":"finding","content":"There are 6 cups"}"#)?;
    /// assert_eq!(store.session("kitchen")?.count(())?, 1);
    /// let of_ann = store.session(varve::SessionOptions::new("notes").user("ann"))?;
    /// # assert_eq!(of_ann.id(), "notes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(&self, options: impl Into<SessionOptions>) -> Result<Session> {
        let mut options = options.into();
        options.if_exists = Some("open".into());
        self.create_session(options)
    }

    /// Lists sessions, newest first, without opening them: those of a
    /// [`SessionFilter`](crate::SessionFilter), or `()` for all, page by page.
    pub fn sessions(&self, filter: impl Document) -> Result<Answer<SessionList>> {
        self.ask(self.api().varve_store_sessions, filter)
    }

    /// The sessions of all pages, newest first; page after page as they are gone through. A
    /// `"limit"` is how many are asked for at a time.
    ///
    /// ```
    /// # fn main() -> varve::Result<()> {
    /// # let store = varve::Store::open("memory:")?;
    /// # store.session("kitchen")?;
    /// for session in store.all_sessions(())? {
    ///     println!("{}", session?.session_id);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_sessions(&self, filter: impl Document) -> Result<Sessions> {
        Sessions::of(self.clone(), &filter)
    }

    /// Tokens and cost of entries that carry them, in all and by session, agent, user and day: of a
    /// [`UsageFilter`](crate::UsageFilter), or `()` for all.
    pub fn usage(&self, filter: impl Document) -> Result<Answer<UsageReport>> {
        self.ask(self.api().varve_store_usage, filter)
    }

    /// Deletes a session with everything in it, at once and for good.
    pub fn delete_session(&self, id: &str) -> Result<()> {
        // SAFETY: the text lives during the call.
        call(self.library(), |error| unsafe {
            (self.api().varve_store_delete_session)(self.0.raw, id.pointer(), id.len(), error)
        })
    }

    /// Finds entries across sessions: one page, [`Query::limit`] of them, 100 when not given.
    pub fn query(&self, query: impl Document) -> Result<Results> {
        self.query_json(query)?.parse()
    }

    /// All that a query finds across sessions, or the first [`Query::limit`]; page after page as
    /// they are gone through.
    pub fn find(&self, query: Query) -> Pages {
        Pages::up_to_limit(Finder::Store(self.clone()), query)
    }

    /// As [`Store::query`], with the results as JSON.
    pub fn query_json(&self, query: impl Document) -> Result<RawResults> {
        let query = query.to_json()?;
        // SAFETY: the text lives during the call.
        RawResults::ask(self.library(), |results, error| unsafe {
            let find = self.api().varve_store_query;
            find(self.0.raw, query.pointer(), query.len(), results, error)
        })
    }

    /// Copies the store into a directory that is itself a store, while it is in use.
    pub fn backup(
        &self,
        directory: impl AsRef<Path>,
        options: impl Document,
    ) -> Result<Answer<BackupReport>> {
        self.ask_with_path(self.api().varve_store_backup, directory.as_ref(), options)
    }

    /// Copies sessions from a backup into this store; entries that were deleted stay deleted.
    pub fn restore(
        &self,
        directory: impl AsRef<Path>,
        options: impl Document,
    ) -> Result<Answer<RestoreReport>> {
        self.ask_with_path(self.api().varve_store_restore, directory.as_ref(), options)
    }

    /// Removes what has expired: sessions and entries.
    pub fn sweep(&self) -> Result<Answer<SweepReport>> {
        // SAFETY: the pointers are this call's own.
        let json = call_for_text(self.library(), |text, length, error| unsafe {
            (self.api().varve_store_sweep)(self.0.raw, text, length, error)
        })?;
        Answer::read(json)
    }

    /// Makes everything added so far durable, whatever the durability.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: nothing but the handle.
        call(self.library(), |error| unsafe { (self.api().varve_store_sync)(self.0.raw, error) })
    }

    /// Figures of this store, of this process.
    pub fn stats(&self) -> Result<Answer<StoreStats>> {
        // SAFETY: the pointers are this call's own.
        let json = call_for_text(self.library(), |text, length, error| unsafe {
            (self.api().varve_store_stats)(self.0.raw, text, length, error)
        })?;
        Answer::read(json)
    }

    /// Figures for monitoring, in the text format of Prometheus.
    pub fn metrics(&self) -> Result<String> {
        // SAFETY: the pointers are this call's own.
        call_for_text(self.library(), |text, length, error| unsafe {
            (self.api().varve_store_metrics)(self.0.raw, text, length, error)
        })
    }

    /// Sends log lines of this level and above to a closure: the level, and a JSON object
    /// `{"timestamp","level","component","session_id","message","metadata"}`. It may call the
    /// library, but not close the store. A panic in it ends there.
    pub fn set_log(
        &self,
        level: LogLevel,
        receiver: impl Fn(LogLevel, &str) + Send + Sync + 'static,
    ) -> Result<()> {
        let receive = move |level, line: &str| {
            receiver(LogLevel::try_from(level).unwrap_or(LogLevel::Error), line)
        };
        callback::set(&self.0.log, Arc::new(receive), |user_data| {
            // SAFETY: the slot is there until the store is closed.
            call(self.library(), |error| unsafe {
                let set = self.api().varve_store_set_log;
                set(self.0.raw, level as i32, Some(callback::log), user_data, error)
            })
        })
    }

    /// Stops the log lines.
    pub fn clear_log(&self) -> Result<()> {
        // SAFETY: no function, nothing to be called with.
        call(self.library(), |error| unsafe {
            let set = self.api().varve_store_set_log;
            set(self.0.raw, raw::VARVE_LOG_OFF, None, ptr::null_mut(), error)
        })?;
        self.0.log.replace(None);
        Ok(())
    }

    /// Takes the time, in milliseconds since the Unix epoch, from a closure instead of the system's
    /// clock. It must only tell the time, not call the library. After a panic in it, the system's
    /// clock answers.
    pub fn set_clock<F: Fn() -> i64 + Send + Sync + 'static>(&self, clock: F) -> Result<()> {
        callback::set(&self.0.clock, Arc::new(clock), |user_data| {
            // SAFETY: the slot is there until the store is closed.
            call(self.library(), |error| unsafe {
                let set = self.api().varve_store_set_clock;
                set(self.0.raw, Some(callback::clock), user_data, error)
            })
        })
    }

    /// Returns to the system's clock.
    pub fn clear_clock(&self) -> Result<()> {
        // SAFETY: no function, nothing to be called with.
        call(self.library(), |error| unsafe {
            (self.api().varve_store_set_clock)(self.0.raw, None, ptr::null_mut(), error)
        })?;
        self.0.clock.replace(None);
        Ok(())
    }

    /// Counts the tokens of contexts with a closure, as the model that is to read them does, instead
    /// of by an estimate. It must not call the library with this store. A panic in it ends the call
    /// that it was made for with [`ErrorKind::Callback`].
    ///
    /// ```
    /// # fn main() -> varve::Result<()> {
    /// let store = varve::Store::open("memory:")?;
    /// store.set_token_counter(|text| text.split_whitespace().count() as u64)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_token_counter<F>(&self, counter: F) -> Result<()>
    where
        F: Fn(&str) -> u64 + Send + Sync + 'static,
    {
        let counter: Arc<callback::Tokens> = Arc::new(counter);
        // The one before, or this one when it is refused, goes last: what it holds may use the store.
        let _given = counter.clone();
        let _before;
        let _alone = self.0.changing_tokens.lock().unwrap_or_else(PoisonError::into_inner);
        _before = self.0.tokens.get();
        callback::set(&self.0.tokens, counter, |user_data| {
            // SAFETY: the slot is there until the store is closed.
            call(self.library(), |error| unsafe {
                let set = self.api().varve_store_set_token_counter;
                set(self.0.raw, Some(callback::tokens), user_data, error)
            })
        })
    }

    /// Returns to the estimate.
    pub fn clear_token_counter(&self) -> Result<()> {
        let _before; // as in set_token_counter()
        let _alone = self.0.changing_tokens.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: no function, nothing to be called with.
        call(self.library(), |error| unsafe {
            (self.api().varve_store_set_token_counter)(self.0.raw, None, ptr::null_mut(), error)
        })?;
        _before = self.0.tokens.replace(None);
        Ok(())
    }

    /// The C handle, for functions of [`raw`]. Valid until the store is closed.
    pub fn as_raw(&self) -> *mut raw::varve_store_t {
        self.0.raw
    }

    pub(crate) fn library(&self) -> &'static Library {
        self.0.library
    }

    fn api(&self) -> &'static raw::Api {
        self.0.library.api()
    }

    fn ask<T: serde::de::DeserializeOwned>(
        &self,
        function: AskStore,
        options: impl Document,
    ) -> Result<Answer<T>> {
        let options = options.to_json()?;
        // SAFETY: the text lives during the call.
        let json = call_for_text(self.library(), |text, length, error| unsafe {
            function(self.0.raw, options.pointer(), options.len(), text, length, error)
        })?;
        Answer::read(json)
    }

    fn ask_with_path<T: serde::de::DeserializeOwned>(
        &self,
        function: AskStoreWithPath,
        path: &Path,
        options: impl Document,
    ) -> Result<Answer<T>> {
        let (path, options) = (path.as_os_str().as_bytes(), options.to_json()?);
        let (start, length) = (path.pointer(), path.len());
        // SAFETY: the texts live during the call.
        let json = call_for_text(self.library(), |text, text_length, error| unsafe {
            let (given, given_length) = (options.pointer(), options.len());
            function(self.0.raw, start, length, given, given_length, text, text_length, error)
        })?;
        Answer::read(json)
    }
}

use std::ffi::c_char;

/// A function of a store that takes a document and gives one.
type AskStore = unsafe extern "C" fn(
    *mut raw::varve_store_t,
    *const c_char,
    usize,
    *mut *mut c_char,
    *mut usize,
    *mut *mut raw::varve_error_t,
) -> raw::varve_status_t;

/// One that takes a path too.
type AskStoreWithPath = unsafe extern "C" fn(
    *mut raw::varve_store_t,
    *const c_char,
    usize,
    *const c_char,
    usize,
    *mut *mut c_char,
    *mut usize,
    *mut *mut raw::varve_error_t,
) -> raw::varve_status_t;

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("raw", &self.0.raw).finish_non_exhaustive()
    }
}
