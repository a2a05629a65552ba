//! Remembers a few things in its first run, and recalls them in that and every later one.
use varve::{Entry, Query, SessionOptions, Store};

fn main() -> varve::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "./memory".into());
    let store = Store::open(directory)?;
    let session = store.session(SessionOptions::new("kitchen").user("ann"))?;
    if session.count(())? == 0 {
        // The first run.
        session.add(
            Entry::new("preference", "Ann drinks tea, never coffee")
                .tags(["drinks", "people.ann"])
                .importance(0.9),
        )?;
        session.add(Entry::new("finding", "The kettle needs three minutes"))?;
    }

    for hit in session.find(Query::question("What does Ann drink?")) {
        println!("{}", hit?.entry.content);
    }
    let people = session.count(Query::all().tag("people"))?;
    println!("{} entries, {people} of them about people", session.count(())?);
    Ok(())
}
