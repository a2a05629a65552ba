//! Four processes add to one session at the same time; every entry is there exactly once.
use std::process::Command;

use serde_json::json;
use varve::{Entry, Query, SessionOptions, Store};

const PROCESSES: u32 = 4;
const ENTRIES: u32 = 250;

/// What each process does: it opens the store for itself.
fn work(directory: &str, session: &str, process: u32) -> varve::Result<()> {
    let store = Store::open_with(directory, json!({"durability": "interval"}))?;
    let session = store.open_session(session)?;
    for step in 0..ENTRIES {
        let content = json!({"process": process, "step": step});
        session.add(Entry::new("observation", content).id(format!("p{process}-{step}")))?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| "./memory".into());
    if let (Some(session), Some(process)) = (arguments.next(), arguments.next()) {
        return Ok(work(&directory, &session, process.parse()?)?);
    }
    let session = Store::open(&directory)?.create_session(SessionOptions::default())?;
    let program = std::env::current_exe()?;
    let start = |process: u32| {
        Command::new(&program).args([&directory, session.id(), &process.to_string()]).spawn()
    };
    let workers: Vec<_> = (0..PROCESSES).map(start).collect::<Result<_, _>>()?;
    for mut worker in workers {
        if !worker.wait()?.success() {
            return Err("a process failed".into());
        }
    }
    for process in 0..PROCESSES {
        println!(
            "process {process}: {} entries",
            session.count(Query::all().content("process", process))?
        );
    }
    println!("whole: {}", session.verify(())?.ok);
    Ok(())
}
