//! Handles opened and closed without end: memory and descriptors must not grow. A program of its
//! own, so that no other test is counted. `cargo bench --bench cost -- rounds` does 100,000.
mod common;

use std::fs;
use std::path::Path;

use common::Directory;
use varve::{Entry, Message, Query, Store, Window};

const IN_MEMORY: u32 = 10_000;
const ON_DISK: u32 = 300; // each saves its index and syncs

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

fn round(uri: &Path) -> varve::Result<()> {
    let store = Store::open(uri)?;
    store.set_log(varve::LogLevel::Error, |_, _| ())?;
    let session = store.session("kept")?;
    session.query_json(Query::all())?.json()?;
    session.stats()?;
    assert!(session.get("nobody").is_err());
    store.memory(())?.clear()?;
    Window::new(8)?.add(Message::new("user", "hello"))
}

fn assert_no_growth(uri: &Path, rounds: u32) -> varve::Result<()> {
    for _ in 0..rounds / 10 {
        round(uri)?; // what is kept for later calls is there after these
    }
    let (files, memory) = (descriptors(), resident_kib());
    for _ in 0..rounds {
        round(uri)?;
    }
    assert_eq!(descriptors(), files);
    let grown = resident_kib().saturating_sub(memory);
    assert!(grown < 2048, "{grown} KiB more after {rounds} rounds");
    Ok(())
}

#[test]
fn opening_and_closing_leaves_nothing_behind() -> varve::Result<()> {
    let directory = Directory::new();
    Store::open(directory.path())?.session("kept")?.add(Entry::new("finding", "kettle"))?;
    assert_no_growth(Path::new("memory:"), IN_MEMORY)?;
    assert_no_growth(directory.path(), ON_DISK)
}
