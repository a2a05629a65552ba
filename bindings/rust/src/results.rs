//! The answer to a query: typed, or as the library holds it.
use std::ops::Deref;
use std::ptr;

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::explain::{Explanation, PageExplanation};
use crate::handle::{bytes, call};
use crate::library::Library;
use crate::query::Query;
use crate::raw;
use crate::session::Session;
use crate::store::Store;

/// One result: the entry, where it is from, and why it stands where it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hit {
    /// The entry as it is stored.
    pub entry: Entry,
    /// The session it is from.
    pub session_id: String,
    /// Importance, decay, recency and match together, 0 to 1.5.
    pub relevance: f64,
    /// What age left of it, 0 to 1.
    pub decay_factor: f64,
    /// How well the words fit, 0 to 1.
    pub match_quality: f64,
    /// With [`Query::explain`]: how the figures came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explanation>,
}

/// The results of a query, in order: a slice of [`Hit`], and the cursor of the next page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Results {
    /// The results.
    #[serde(rename = "results")]
    pub hits: Vec<Hit>,
    /// Cursor for [`Query::after`]; none on the last page.
    pub next: Option<String>,
    /// With [`Query::explain`]: how the query was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<PageExplanation>,
}

impl Deref for Results {
    type Target = [Hit];
    fn deref(&self) -> &[Hit] {
        &self.hits
    }
}

impl IntoIterator for Results {
    type Item = Hit;
    type IntoIter = std::vec::IntoIter<Hit>;
    fn into_iter(self) -> Self::IntoIter {
        self.hits.into_iter()
    }
}

impl<'a> IntoIterator for &'a Results {
    type Item = &'a Hit;
    type IntoIter = std::slice::Iter<'a, Hit>;
    fn into_iter(self) -> Self::IntoIter {
        self.hits.iter()
    }
}

/// Results as the library holds them: JSON that is borrowed, nothing parsed or copied. They outlive
/// the session and the store. They may move to another thread; one thread at a time uses them.
#[derive(Debug)]
pub struct RawResults {
    library: &'static Library,
    raw: *mut raw::varve_results_t,
}

// SAFETY: a results handle may be used from any thread, one at a time (varve/query.h). Not Sync.
unsafe impl Send for RawResults {}

impl RawResults {
    /// Runs a query; `function` is given where to put the handle and the error.
    pub(crate) fn ask(
        library: &'static Library,
        function: impl FnOnce(
            *mut *mut raw::varve_results_t,
            *mut *mut raw::varve_error_t,
        ) -> raw::varve_status_t,
    ) -> Result<Self> {
        let mut raw = ptr::null_mut();
        call(library, |error| function(&mut raw, error))?;
        Ok(RawResults { library, raw })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        // SAFETY: `raw` is ours until drop.
        unsafe { (self.library.api().varve_results_count)(self.raw) }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Everything at once: `{"results":[{"entry","session_id","relevance","decay_factor",
    /// "match_quality"}],"next"}`.
    pub fn json(&self) -> Result<&str> {
        self.borrowed(|start, length, error| {
            // SAFETY: the pointers are this call's own.
            unsafe { (self.library.api().varve_results_json)(self.raw, start, length, error) }
        })
    }

    /// The entry of one result as it is stored.
    pub fn entry_json(&self, index: usize) -> Result<&str> {
        self.borrowed(|start, length, error| {
            // SAFETY: the pointers are this call's own.
            unsafe {
                (self.library.api().varve_results_entry)(self.raw, index, start, length, error)
            }
        })
    }

    /// The relevance of one result.
    pub fn relevance(&self, index: usize) -> Result<f64> {
        let mut relevance = 0.0;
        // SAFETY: the pointers are this call's own.
        call(self.library, |error| unsafe {
            (self.library.api().varve_results_score)(self.raw, index, &mut relevance, error)
        })?;
        Ok(relevance)
    }

    /// Cursor of the next page, for [`Query::after`]; none on the last.
    pub fn next(&self) -> Result<Option<&str>> {
        let cursor = self.borrowed(|start, length, error| {
            // SAFETY: the pointers are this call's own.
            unsafe { (self.library.api().varve_results_next)(self.raw, start, length, error) }
        })?;
        Ok(Some(cursor).filter(|cursor| !cursor.is_empty()))
    }

    /// The entries as they are stored, one after the other.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Result<&str>> + DoubleEndedIterator {
        (0..self.len()).map(|index| self.entry_json(index))
    }

    /// All of them as typed values.
    pub fn parse(&self) -> Result<Results> {
        serde_json::from_str(self.json()?)
            .map_err(|error| Error::json("the results do not match their type", error))
    }

    fn borrowed(
        &self,
        function: impl FnOnce(
            *mut *const std::ffi::c_char,
            *mut usize,
            *mut *mut raw::varve_error_t,
        ) -> raw::varve_status_t,
    ) -> Result<&str> {
        let (mut start, mut length) = (ptr::null(), 0);
        call(self.library, |error| function(&mut start, &mut length, error))?;
        // SAFETY: it lives until varve_results_free, which only drop calls.
        let bytes = unsafe { bytes(start, length) };
        std::str::from_utf8(bytes)
            .map_err(|error| Error::json("cannot read the library's answer", error))
    }
}

impl Drop for RawResults {
    fn drop(&mut self) {
        // SAFETY: ours, and not used any more.
        unsafe { (self.library.api().varve_results_free)(self.raw) };
    }
}

/// How many results [`Session::find`] asks for at a time.
const PAGE: u64 = 500;

/// What has pages of results.
#[derive(Debug)]
pub(crate) enum Finder {
    /// One session.
    Session(Session),
    /// All of a store's.
    Store(Store),
}

impl Finder {
    fn query(&self, query: &Query) -> Result<Results> {
        match self {
            Finder::Session(session) => session.query(query),
            Finder::Store(store) => store.query(query),
        }
    }
}

/// The results of a query, which is asked for page after page. Made by [`Session::find`],
/// [`Store::find`] and [`Session::pages`].
#[derive(Debug)]
#[must_use = "nothing is asked for until it is gone through"]
pub struct Pages {
    finder: Finder,
    query: Option<Query>,
    left: Option<u64>,
    page: std::vec::IntoIter<Hit>,
}

impl Pages {
    /// All results, in pages of the query's limit.
    pub(crate) fn of_limit(finder: Finder, query: Query) -> Self {
        Pages { finder, query: Some(query), left: None, page: Vec::new().into_iter() }
    }

    /// As many results as the query's limit.
    pub(crate) fn up_to_limit(finder: Finder, query: Query) -> Self {
        let left = query.limit;
        let limit = left.unwrap_or(PAGE).min(PAGE);
        Pages { left, ..Pages::of_limit(finder, query.limit(limit)) }
    }

    /// What to ask for behind a page of so many results.
    fn next_query(&mut self, query: Query, found: u64, cursor: Option<String>) -> Option<Query> {
        let query = query.after(cursor?);
        let Some(left) = self.left else { return Some(query) };
        self.left = Some(left.saturating_sub(found));
        (left > found).then(|| query.limit((left - found).min(PAGE)))
    }
}

impl Iterator for Pages {
    type Item = Result<Hit>;

    fn next(&mut self) -> Option<Result<Hit>> {
        loop {
            if let Some(hit) = self.page.next() {
                return Some(Ok(hit));
            }
            let query = self.query.take()?;
            match self.finder.query(&query) {
                Ok(results) => {
                    let found = results.len() as u64;
                    self.query = self.next_query(query, found, results.next);
                    self.page = results.hits.into_iter();
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
