//! The feature `tracing`: log lines as events.
#![cfg(feature = "tracing")]

mod common;

use std::fmt::Debug;
use std::fs;
use std::sync::{Arc, Mutex};

use common::{Directory, Outcome};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use varve::{Entry, LogLevel, SessionOptions, Store};

/// Keeps every event as text.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!(" {}={value:?}", field.name());
    }
}

impl Subscriber for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "varve"
    }
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(event.metadata().level().to_string());
        event.record(&mut fields);
        self.0.lock().expect("events").push(fields.0);
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn log_lines_become_events_with_their_level_and_session() -> varve::Result<()> {
    let kept = Kept::default();
    let store = Store::open("memory:")?;
    tracing::subscriber::with_default(kept.clone(), || {
        store.trace(LogLevel::Info)?;
        store.create_session(SessionOptions::new("kitchen")).map(drop)
    })?;
    let events = kept.0.lock().expect("events");
    let created = events.iter().find(|event| event.contains("session_id=\"kitchen\""));
    let created = created.unwrap_or_else(|| panic!("no event of the session: {events:?}"));
    assert!(created.starts_with("INFO") && created.contains(" message="), "{created}");
    assert!(created.contains(" component="), "{created}");
    assert!(events.iter().all(|event| event.starts_with("INFO")), "{events:?}");
    let opened = r#"metadata="{\"entries\":0}""#;
    assert!(events.iter().any(|event| event.contains(opened)), "{events:?}");
    Ok(())
}

#[test]
fn every_level_is_an_events_level() -> Outcome {
    for (level, expected) in [(LogLevel::Debug, "DEBUG "), (LogLevel::Warn, "WARN ")] {
        let directory = Directory::new();
        let folder = directory.join("sessions/kitchen");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("memory.jsonl"), "{\"torn")?; // told as a warning
        let kept = Kept::default();
        let store = Store::open(directory.path())?;
        tracing::subscriber::with_default(kept.clone(), || {
            store.trace(level)?;
            store.open_session("kitchen")?.add(Entry::new("finding", "tea"))
        })?;
        let events = kept.0.lock().expect("events");
        assert!(events.iter().any(|event| event.starts_with(expected)), "{events:?}");
        let below = |event: &String| event.starts_with("DEBUG") && level > LogLevel::Debug;
        assert!(!events.iter().any(below), "{events:?}");
    }
    Ok(())
}
