//! Adds entries to a session and prints the id of each one once it was acknowledged.
//!
//! usage: worker DIRECTORY SESSION PREFIX COUNT [FIRST]
//!
//! Entry N, from FIRST or 0 on, has the id PREFIX-N and the content "PREFIX counts to N ☕". That
//! it is there already counts as acknowledged: a worker that was killed is simply started again.
use std::io::Write;

use serde_json::json;
use varve::{Entry, ErrorKind, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, session, prefix, count, first @ ..] = arguments.as_slice() else {
        return Err("usage: worker DIRECTORY SESSION PREFIX COUNT [FIRST]".into());
    };
    let first = first.first().map_or(Ok(0), |number| number.parse())?;
    let patient = json!({"concurrency": {"lock_timeout_ms": 60_000}});
    let session = Store::open_with(directory, patient)?.open_session(session)?;
    let mut told = std::io::stdout();
    for number in first..count.parse::<u32>()? {
        let id = format!("{prefix}-{number}");
        let content = format!("{prefix} counts to {number} ☕");
        match session.add(Entry::new("observation", content).id(&id)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
            _ => told.write_all(format!("{id}\n").as_bytes())?,
        }
    }
    Ok(())
}
