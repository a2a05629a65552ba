//! Handles opened and closed without end: memory and descriptors must not grow. A program of its
//! own, so that no other test is counted. `cargo bench --bench cost -- rounds` does 100,000.
mod common;

use std::fs;

use common::Directory;
use varve::{Entry, Query, Store};

const ROUNDS: u32 = 10_000;

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn opening_and_closing_leaves_nothing_behind() -> varve::Result<()> {
    let directory = Directory::new();
    Store::open(directory.path())?.session("kept")?.add(Entry::new("finding", "kettle"))?;
    let round = || -> varve::Result<()> {
        let store = Store::open_with(directory.path(), r#"{"durability":"os"}"#)?;
        store.set_log(varve::LogLevel::Error, |_, _| ())?;
        let session = store.open_session("kept")?;
        assert_eq!(session.query_json(Query::all())?.len(), 1);
        assert!(session.get("nobody").is_err());
        Ok(())
    };
    for _ in 0..ROUNDS / 10 {
        round()?; // what is kept for later calls is there after these
    }
    let (files, memory) = (descriptors(), resident_kib());
    for _ in 0..ROUNDS {
        round()?;
    }
    assert_eq!(descriptors(), files);
    let grown = resident_kib().saturating_sub(memory);
    assert!(grown < 4096, "{grown} KiB more after {ROUNDS} rounds");
    Ok(())
}
