//! Remembers a few things, and recalls them when the store is opened again.
use varve::{Entry, Query, SessionOptions, Store};

fn main() -> varve::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "./memory".into());

    let store = Store::open(&directory)?;
    let session = store.create_session(SessionOptions::new("kitchen").user("ann"))?;
    session.add(
        Entry::new("preference", "Ann drinks tea, never coffee")
            .tags(["drinks", "people.ann"])
            .importance(0.9),
    )?;
    session.add(Entry::new("finding", "The kettle needs three minutes"))?;
    drop((session, store));

    let session = Store::open(&directory)?.open_session("kitchen")?;
    for hit in session.query(Query::text("What does Ann drink?"))? {
        println!("{}", hit.entry.content);
    }
    let people = session.count(Query::all().tag("people"))?;
    println!("{} entries, {people} of them about people", session.count(())?);
    Ok(())
}
