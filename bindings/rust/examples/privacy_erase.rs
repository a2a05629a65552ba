//! Erases what is known about a person, and shows that no file has it any more.
use std::fs;
use std::path::Path;

use varve::{Entry, Query, SessionOptions, Store};

/// The names of the files below a directory that hold a text.
fn files_with(directory: &Path, text: &str) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for item in fs::read_dir(directory)? {
        let path = item?.path();
        if path.is_dir() {
            found.extend(files_with(&path, text)?);
        } else if String::from_utf8_lossy(&fs::read(&path)?).contains(text) {
            found.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    Ok(found)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "./memory".into());
    let directory = Path::new(&directory);
    let store = Store::open(directory)?;
    let session = store.create_session(SessionOptions::default().title("Clinic"))?;
    session.add(Entry::new("observation", "Ann Miller has hay fever").tag("people.ann"))?;
    session.add(Entry::new("finding", "Open until six"))?;
    session.sync()?;
    println!("before: {:?}", files_with(directory, "hay fever")?);

    let erased = session.delete_where(Query::all().tag("people.ann"), "asked for on Monday")?;
    let report = session.purge(())?;
    println!("erased: {erased}, dropped from the log: {}", report.dropped.deleted);
    println!("after: {:?}", files_with(directory, "hay fever")?);
    for hit in session.query(())? {
        println!("still known: {}", hit.entry.content);
    }
    let files = directory.join("sessions").join(session.id());
    println!("the reason stays in {:?}", files_with(&files, "asked for on Monday")?);
    Ok(())
}
