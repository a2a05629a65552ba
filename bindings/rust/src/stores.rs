//! What a session keeps beside its log: small facts by key, and what was said.
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::error::Result;
use crate::handle::{call, call_for_text, Argument};
use crate::session::Session;

/// Small facts of a session by key. It keeps as many as its cap says, those set last.
///
/// ```
/// # fn main() -> varve::Result<()> {
/// # let session = varve::Store::open("memory:")?.create_session(())?;
/// session.kv().set("topic", "tea")?;
/// assert_eq!(session.kv().get("topic")?, "tea");
/// assert_eq!(session.kv().list()?[0].key, "topic");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Kv<'a>(&'a Session);

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// When it was set, RFC 3339.
    #[serde(rename = "ts")]
    pub set_at: String,
}

/// What was said in a session, in order.
///
/// ```
/// # fn main() -> varve::Result<()> {
/// # let session = varve::Store::open("memory:")?.create_session(())?;
/// session.transcript().append("user", "Tea, please")?;
/// session.transcript().append("assistant", "With milk?")?;
/// assert_eq!(session.transcript().last(1)?[0].content, "With milk?");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Transcript<'a>(&'a Session);

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Turn {
    /// Who said it.
    pub role: String,
    /// What was said.
    pub content: String,
    /// When, RFC 3339.
    pub timestamp: String,
}

impl Session {
    /// Its small facts by key.
    pub fn kv(&self) -> Kv<'_> {
        Kv(self)
    }

    /// What was said in it.
    pub fn transcript(&self) -> Transcript<'_> {
        Transcript(self)
    }
}

impl Kv<'_> {
    /// Sets a key, and moves it to the end when it is there.
    pub fn set(&self, key: &str, value: &str) -> Result<()> {
        // SAFETY: the texts live during the call.
        call(self.0.library(), |error| unsafe {
            let (set, session) = (self.0.api().varve_kv_set, self.0.as_raw());
            set(session, key.pointer(), key.len(), value.pointer(), value.len(), error)
        })
    }

    /// The value of a key; [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) when there is none.
    pub fn get(&self, key: &str) -> Result<String> {
        self.0.ask(self.0.api().varve_kv_get, key.as_bytes())
    }

    /// Takes a key away; [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) when it is not there.
    pub fn delete(&self, key: &str) -> Result<()> {
        // SAFETY: the text lives during the call.
        call(self.0.library(), |error| unsafe {
            (self.0.api().varve_kv_delete)(self.0.as_raw(), key.pointer(), key.len(), error)
        })
    }

    /// All keys, the one that was set longest ago first.
    pub fn list(&self) -> Result<Answer<Vec<KeyValue>>> {
        self.0.tell(self.0.api().varve_kv_list).and_then(Answer::read)
    }
}

impl Transcript<'_> {
    /// Appends what was said, with the present time.
    pub fn append(&self, role: &str, content: &str) -> Result<()> {
        // SAFETY: the texts live during the call.
        call(self.0.library(), |error| unsafe {
            let (append, session) = (self.0.api().varve_transcript_append, self.0.as_raw());
            append(session, role.pointer(), role.len(), content.pointer(), content.len(), error)
        })
    }

    /// The last `count` turns, the oldest of them first; `usize::MAX` for all.
    pub fn last(&self, count: usize) -> Result<Answer<Vec<Turn>>> {
        // SAFETY: the pointers are this call's own.
        let json = call_for_text(self.0.library(), |text, length, error| unsafe {
            let last = self.0.api().varve_transcript_last;
            last(self.0.as_raw(), count, text, length, error)
        })?;
        Answer::read(json)
    }
}
