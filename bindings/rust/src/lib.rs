//! varve is memory for agents, embedded: a shared library that keeps what an agent saw, decided and
//! learnt as JSON lines in a directory, finds it again by words, tags, time and relevance that
//! decays, and gives it back after any crash. This crate loads that library (`libvarve.so`) when it
//! is first needed; nothing is compiled or linked.
//!
//! ```
//! use varve::{Entry, Query, Store};
//!
//! # fn main() -> varve::Result<()> {
//! let store = Store::open("memory:")?; // or a directory: it is made when it is missing
//! let session = store.session("kitchen")?; // made when there is none of that id
//!
//! session.add(Entry::new("preference", "Tea in the morning, coffee never").tag("drinks"))?;
//! session.add(r#"{"type":"finding","content":"The kettle needs 3 minutes"}"#)?;
//!
//! for hit in session.query(Query::text("what to drink in the morning?"))? {
//!     println!("{:.2} {}", hit.relevance, hit.entry.content);
//! }
//! # assert_eq!(session.query(Query::text("coffee"))?.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # How it fits together
//!
//! - [`Store`]: a directory with any number of sessions. [`Session`]: one memory. Both are handles:
//!   clones are the same store or session, any thread may use them, the last one closes it. A store
//!   stays open for as long as one of its sessions is there, unless [`Store::close`] ends it.
//! - [`Session::context`] builds what a model is given within a number of tokens; [`Session::kv`]
//!   and [`Session::transcript`] keep small facts and what was said; [`Window`] and [`Memory`] keep
//!   what an agent has in front of it.
//! - A JSON document goes in as a typed value ([`Entry`], [`Query`], [`SessionOptions`]), as
//!   [`serde_json::Value`], or as text or bytes in JSON; `()` is none. See [`Document`].
//! - What comes out is typed, and keeps members that this version does not know in `extra`. The
//!   JSON itself is there too: [`Session::get_json`], [`Session::query_json`], [`Answer::json`].
//! - [`Error`] says what kind of failure it was, where, and what to do about it.
//! - Calls block: a durable add waits for the disk. With the feature `tokio`, `SessionHandle` has
//!   the same calls as futures. With the feature `tracing`, `Store::trace` passes log lines on.
//!
//! # Finding the library
//!
//! The first of these decides, once for the process; the library is never unloaded:
//!
//! 1. the path given to [`Library::load`],
//! 2. the path in the environment variable `VARVE_LIBRARY`,
//! 3. `libvarve.so.1` beside the executable, 4. in `../lib` seen from there,
//! 5. the system's `libvarve.so.1`.
//!
//! A path that was given (1, 2) is the only one that is tried. The [`Error`] of a failure lists each
//! path and what was wrong with it; a library of another ABI version is refused before anything else
//! of it is called.
#![deny(rustdoc::broken_intra_doc_links)]

mod answer;
mod callback;
mod choices;
mod config;
mod context;
mod document;
mod entry;
mod error;
mod explain;
mod figures;
mod handle;
mod library;
mod memory;
mod options;
mod query;
#[allow(missing_docs)]
#[rustfmt::skip]
pub mod raw;
mod reports;
mod results;
mod session;
mod sessions;
mod store;
mod stores;
#[cfg(feature = "tokio")]
mod tasks;
#[cfg(feature = "tracing")]
mod trace;
mod window;

pub use answer::Answer;
pub use choices::*;
pub use config::*;
pub use context::{Across, Budget, Context, ContextItem, ContextRequest, Measure, Retrieval};
pub use document::{Document, Json};
pub use entry::{BatchPlace, Entry, EntryUsage};
pub use error::{Error, ErrorKind, Result};
pub use explain::*;
pub use figures::*;
pub use library::Library;
pub use memory::{Memory, MemoryEntry, MemoryOptions, Recollection};
pub use options::SessionOptions;
pub use query::{Match, Order, Query, SortBy, Tags, Time};
pub use reports::*;
pub use results::{Hit, Pages, RawResults, Results};
pub use session::Session;
pub use sessions::Sessions;
pub use store::{LogLevel, Store};
pub use stores::{KeyValue, Kv, Transcript, Turn};
#[cfg(feature = "tokio")]
pub use tasks::{SessionHandle, StoreHandle};
pub use window::{Message, Window};
