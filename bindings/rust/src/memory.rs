//! A memory: what an agent remembers of one user, in three tiers over one store.
use std::fmt;
use std::ops::Deref;
use std::ptr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::document::Document;
use crate::entry::Entry;
use crate::error::Result;
use crate::handle::{call, call_for_text, Argument};
use crate::raw;
use crate::results::{RawResults, Results};
use crate::store::Store;

/// Options of [`Store::memory`], all optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use = "each step gives the value with it; pass the last one to a call"]
pub struct MemoryOptions {
    /// Whose memory it is; without one, all sessions of the store are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Of the sessions that are made here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Entries of each session's working memory; 20 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// How long short-term memory lasts; 168 when not given, 0 for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_hours: Option<f64>,
    /// Members that this type does not have.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl MemoryOptions {
    /// The memory of a user.
    pub fn user(user_id: impl Into<String>) -> Self {
        MemoryOptions { user_id: Some(user_id.into()), ..MemoryOptions::default() }
    }

    /// Whose sessions are made here.
    pub fn agent(mut self, agent_id: impl Into<String>) -> Self {
        self.agent_id = Some(agent_id.into());
        self
    }

    /// How many entries of a session are in front of the agent.
    pub fn window(mut self, entries: u64) -> Self {
        self.window = Some(entries);
        self
    }

    /// How long short-term memory lasts; 0 for ever.
    pub fn ttl_hours(mut self, hours: f64) -> Self {
        self.ttl_hours = Some(hours);
        self
    }
}

/// What the agent is to have in front of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Recollection {
    /// Chronological, in the form they were given.
    pub entries: Vec<MemoryEntry>,
    /// An estimate.
    pub token_count: u64,
    /// "working" or "short_term".
    pub source: String,
    /// All other members.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A message as it was given, with what was filled in; it can be used as the [`Entry`] in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MemoryEntry {
    /// Who says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// All other members.
    #[serde(flatten)]
    pub entry: Entry,
}

/// Read as an entry with one member more: of a struct that is flattened serde can read no number
/// where any crate of the program turns on serde_json's feature `arbitrary_precision`.
impl<'de> Deserialize<'de> for MemoryEntry {
    fn deserialize<D: Deserializer<'de>>(message: D) -> std::result::Result<Self, D::Error> {
        let mut entry = Entry::deserialize(message)?;
        let role = entry.extra.remove("role");
        Ok(MemoryEntry { role: role.and_then(|role| role.as_str().map(String::from)), entry })
    }
}

impl Deref for MemoryEntry {
    type Target = Entry;
    fn deref(&self) -> &Entry {
        &self.entry
    }
}

/// A user's memory: working memory in front of each session, the sessions' logs, and a long-term
/// memory that does not expire. Clones are the same memory; any thread may use it.
///
/// ```
/// use varve::{MemoryOptions, Message, Query, Store};
/// # fn main() -> varve::Result<()> {
/// let memory = Store::open("memory:")?.memory(MemoryOptions::user("ann"))?;
/// memory.record("today", Message::new("user", "I never drink coffee"))?;
/// memory.store(serde_json::json!({"content": "likes tea"}))?;
/// assert_eq!(memory.context("today", 0)?.entries[0].content, "I never drink coffee");
/// assert_eq!(memory.search(Query::text("tea"))?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Memory(Arc<Shared>);

struct Shared {
    raw: *mut raw::varve_memory_t,
    store: Store,
}

// SAFETY: a memory may be used from any thread at once (varve/memory.h); its handle is a token that
// the library checks on every call.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: a handle that is closed already is refused.
        unsafe { (self.store.library().api().varve_memory_close)(self.raw) };
    }
}

impl Store {
    /// Opens the memory of a user over this store.
    pub fn memory(&self, options: impl Document) -> Result<Memory> {
        let options = options.to_json()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the text lives during the call.
        call(self.library(), |error| unsafe {
            let open = self.library().api().varve_memory_open;
            open(self.as_raw(), options.pointer(), options.len(), &mut raw, error)
        })?;
        Ok(Memory(Arc::new(Shared { raw, store: self.clone() })))
    }
}

impl Memory {
    /// Records a message in a session's log and in its working memory, and gives its id. A session
    /// that does not exist is made.
    pub fn record(&self, session_id: &str, message: impl Document) -> Result<String> {
        let message = message.to_json()?;
        // SAFETY: the texts live during the call.
        call_for_text(self.0.store.library(), |id, id_length, error| unsafe {
            (self.api().varve_memory_record)(
                self.0.raw,
                session_id.pointer(),
                session_id.len(),
                message.pointer(),
                message.len(),
                id,
                id_length,
                error,
            )
        })
    }

    /// What the agent is to have in front of it, within so many tokens; 0 for no limit.
    pub fn context(&self, session_id: &str, max_tokens: u64) -> Result<Answer<Recollection>> {
        let (start, given) = (session_id.pointer(), session_id.len());
        // SAFETY: the text lives during the call.
        let json = call_for_text(self.0.store.library(), |text, length, error| unsafe {
            let context = self.api().varve_memory_context;
            context(self.0.raw, start, given, max_tokens, text, length, error)
        })?;
        Answer::read(json)
    }

    /// Takes a session's newest entries into its working memory, with what others recorded.
    pub fn load(&self, session_id: &str) -> Result<()> {
        // SAFETY: the text lives during the call.
        call(self.0.store.library(), |error| unsafe {
            let load = self.api().varve_memory_load;
            load(self.0.raw, session_id.pointer(), session_id.len(), error)
        })
    }

    /// Makes everything recorded in a session durable, and saves its index.
    pub fn save(&self, session_id: &str) -> Result<()> {
        // SAFETY: the text lives during the call.
        call(self.0.store.library(), |error| unsafe {
            let save = self.api().varve_memory_save;
            save(self.0.raw, session_id.pointer(), session_id.len(), error)
        })
    }

    /// Empties the working memory of all sessions.
    pub fn clear(&self) -> Result<()> {
        // SAFETY: nothing but the handle.
        call(self.0.store.library(), |error| unsafe {
            (self.api().varve_memory_clear)(self.0.raw, error)
        })
    }

    /// Stores an entry in long-term memory, and gives its id.
    pub fn store(&self, message: impl Document) -> Result<String> {
        let message = message.to_json()?;
        let (start, given) = (message.pointer(), message.len());
        // SAFETY: the text lives during the call.
        call_for_text(self.0.store.library(), |id, length, error| unsafe {
            (self.api().varve_memory_store)(self.0.raw, start, given, id, length, error)
        })
    }

    /// Finds entries over all sessions of the user, long term and short.
    pub fn search(&self, query: impl Document) -> Result<Results> {
        self.search_json(query)?.parse()
    }

    /// As [`Memory::search`], with the results as JSON.
    pub fn search_json(&self, query: impl Document) -> Result<RawResults> {
        let query = query.to_json()?;
        // SAFETY: the text lives during the call.
        RawResults::ask(self.0.store.library(), |results, error| unsafe {
            let search = self.api().varve_memory_search;
            search(self.0.raw, query.pointer(), query.len(), results, error)
        })
    }

    /// Deletes an entry wherever it is among the user's sessions.
    pub fn delete(&self, id: &str, reason: &str) -> Result<()> {
        // SAFETY: the texts live during the call.
        call(self.0.store.library(), |error| unsafe {
            let delete = self.api().varve_memory_delete;
            delete(self.0.raw, id.pointer(), id.len(), reason.pointer(), reason.len(), error)
        })
    }

    /// Closes the memory for all clones. Working memory is gone with it, what was recorded is not.
    pub fn close(&self) {
        // SAFETY: any handle may be closed, also twice.
        unsafe { (self.api().varve_memory_close)(self.0.raw) };
    }

    fn api(&self) -> &'static raw::Api {
        self.0.store.library().api()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("store", &self.0.store).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod without_library {
    use super::*;

    #[test]
    fn every_option_is_written_under_its_name() {
        let options = MemoryOptions::user("ann").agent("cook").window(2).ttl_hours(0.0);
        let expected = serde_json::json!(
            {"user_id": "ann", "agent_id": "cook", "window": 2, "ttl_hours": 0.0});
        assert_eq!(serde_json::to_value(options).expect("written"), expected);
        let nobody = serde_json::to_string(&MemoryOptions::user("")).expect("written");
        assert_eq!(nobody, r#"{"user_id":""}"#); // which is refused
    }
}
