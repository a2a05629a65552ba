//! A window: the last so many messages of a conversation, in memory only.
use std::ptr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::document::Document;
use crate::entry::if_it_fits;
use crate::error::Result;
use crate::handle::{call, call_for_text, Argument};
use crate::library::Library;
use crate::raw;

/// A message as chat programs write it; all members but the content are optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Message {
    /// Who says it.
    #[serde(deserialize_with = "if_it_fits", skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What is said: text, or any JSON.
    pub content: Value,
    /// When, RFC 3339; now when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// All other members.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Message {
    /// What somebody says.
    pub fn new(role: impl Into<String>, content: impl Into<Value>) -> Self {
        Message { role: Some(role.into()), content: content.into(), ..Message::default() }
    }

    /// Sets a member that this type has no field for.
    pub fn member(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }
}

/// The last so many messages, in memory only: in a full window the oldest leaves for a new one.
/// Any thread may use it.
///
/// ```
/// use varve::{Message, Window};
/// # fn main() -> varve::Result<()> {
/// let window = Window::new(2)?;
/// for text in ["one", "two", "three"] {
///     window.add(Message::new("user", text))?;
/// }
/// assert_eq!(window.text()?, "user: two\nuser: three\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Window {
    library: &'static Library,
    raw: *mut raw::varve_window_t,
}

// SAFETY: a window may be used from any thread at once (varve/window.h); its handle is a token that
// the library checks on every call.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl Window {
    /// An empty window for so many messages.
    pub fn new(capacity: usize) -> Result<Window> {
        let library = Library::get()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the pointers are this call's own.
        call(library, |error| unsafe {
            (library.api().varve_window_new)(capacity, &mut raw, error)
        })?;
        Ok(Window { library, raw })
    }

    /// Adds a message.
    pub fn add(&self, message: impl Document) -> Result<()> {
        let message = message.to_json()?;
        // SAFETY: the text lives during the call.
        call(self.library, |error| unsafe {
            let add = self.library.api().varve_window_add;
            add(self.raw, message.pointer(), message.len(), error)
        })
    }

    /// The newest messages, in the order in which they were added; `usize::MAX` for all.
    pub fn recent(&self, count: usize) -> Result<Answer<Vec<Message>>> {
        // SAFETY: the pointers are this call's own.
        let json = call_for_text(self.library, |text, length, error| unsafe {
            (self.library.api().varve_window_recent)(self.raw, count, text, length, error)
        })?;
        Answer::read(json)
    }

    /// The window as lines for a prompt, `role: content`, oldest first.
    pub fn text(&self) -> Result<String> {
        // SAFETY: the pointers are this call's own.
        call_for_text(self.library, |text, length, error| unsafe {
            (self.library.api().varve_window_text)(self.raw, text, length, error)
        })
    }

    /// Removes all messages.
    pub fn clear(&self) -> Result<()> {
        // SAFETY: nothing but the handle.
        call(self.library, |error| unsafe {
            (self.library.api().varve_window_clear)(self.raw, error)
        })
    }

    /// How many messages are in it.
    pub fn len(&self) -> usize {
        // SAFETY: nothing but the handle.
        unsafe { (self.library.api().varve_window_size)(self.raw) }
    }

    /// Whether none is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: ours, and not used any more.
        unsafe { (self.library.api().varve_window_free)(self.raw) };
    }
}
