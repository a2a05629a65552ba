//! Adds entries to a session and prints the id of each one that was acknowledged.
//!
//! usage: worker DIRECTORY SESSION PREFIX COUNT
//!
//! Entry N has the id PREFIX-N. Ids that are there already count as acknowledged, so a worker that
//! was killed is simply started again.
use std::io::Write;

use serde_json::json;
use varve::{Entry, ErrorKind, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, session, prefix, count] = arguments.as_slice() else {
        return Err("usage: worker DIRECTORY SESSION PREFIX COUNT".into());
    };
    let patient = json!({"concurrency": {"lock_timeout_ms": 60_000}});
    let session = Store::open_with(directory, patient)?.open_session(session)?;
    let mut told = std::io::stdout();
    for number in 0..count.parse::<u32>()? {
        let id = format!("{prefix}-{number}");
        match session.add(Entry::new("observation", number).id(&id)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
            _ => told.write_all(format!("{id}\n").as_bytes())?,
        }
    }
    Ok(())
}
