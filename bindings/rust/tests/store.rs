//! Stores: sessions in them, across them, and what is done to all of them.
mod common;

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use common::{Directory, Outcome};
use serde_json::{json, Value};
use varve::{
    Entry, ErrorKind, LogLevel, LogLine, Metric, Order, Query, SessionOptions, SortBy, Store,
};

#[test]
fn sessions_are_made_listed_found_and_deleted() -> Outcome {
    let store = Store::open("memory:")?;
    for (id, user) in [("one", "ann"), ("two", "bob"), ("three", "ann")] {
        let options = SessionOptions::new(id).user(user).agent("cook").title(id.to_uppercase());
        let session = store.create_session(options)?;
        session.add(Entry::new("finding", format!("The kettle of {user} boils")))?;
    }
    let list = store.sessions(json!({"user_id": "ann"}))?;
    let ids: Vec<_> = list.sessions.iter().map(|each| each.session_id.as_str()).collect();
    assert_eq!(ids, ["three", "one"]);
    assert_eq!(list.sessions[0].title.as_deref(), Some("THREE"));
    assert_eq!(list.next, None);

    let found = store.query(Query::text("kettle").user("bob").agent("cook"))?;
    assert_eq!(found.iter().map(|hit| &hit.session_id).collect::<Vec<_>>(), ["two"]);
    assert_eq!(store.query(Query::text("kettle").sessions(["one", "two"]))?.len(), 2);
    assert_eq!(store.query_json(r#"{"text":"kettle"}"#)?.len(), 3);

    store.delete_session("two")?;
    assert_eq!(store.delete_session("two").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.open_session("two").unwrap_err().kind(), ErrorKind::NotFound);
    let again = store.create_session(SessionOptions::new("one")).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    assert_eq!(store.session("one")?.count(())?, 1);
    Ok(())
}

#[test]
fn a_session_is_opened_or_created() -> Outcome {
    let directory = Directory::new();
    let options = || SessionOptions::new("kitchen").user("ann");
    {
        let store = Store::open(directory.path())?;
        store.session(options().title("Kitchen"))?.add(Entry::new("finding", "tea"))?;
    }
    let store = Store::open(directory.path())?;
    let id = String::from("kitchen");
    let opened = [
        store.session("kitchen")?,
        store.session(&id)?,
        store.session(id)?,
        store.session(options().title("another"))?,
        store.create_session(SessionOptions { if_exists: Some("open".into()), ..options() })?,
        store.session(SessionOptions { if_exists: Some("fail".into()), ..options() })?,
    ];
    for session in opened {
        assert_eq!((session.id(), session.count(())?), ("kitchen", 1));
        assert_eq!(session.metadata()?.title.as_deref(), Some("Kitchen"));
    }
    let error = store.session(options().user("bo")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.message().contains("belongs to another user"), "{error}");
    assert_eq!(store.create_session(options()).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let error = store.session(SessionOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn find_gives_all_up_to_the_limit() -> Outcome {
    let store = Store::open("memory:")?;
    let session = store.session("kitchen")?;
    session.add_batch((0..1100).map(|n| Entry::new("finding", n)).collect::<Vec<_>>())?;
    let all = || Query::all().sort_by(SortBy::Time).order(Order::Asc);
    for limit in [None, Some(0), Some(7), Some(500), Some(501), Some(1100), Some(9999)] {
        let found = limit.unwrap_or(1100).min(1100);
        let query = || Query { limit, ..all() };
        for pages in [session.find(query()), store.find(query())] {
            let contents: Vec<_> =
                pages.map(|hit| Ok(hit?.entry.content)).collect::<varve::Result<_>>()?;
            assert_eq!(contents, (0..found).map(Value::from).collect::<Vec<_>>());
        }
    }
    assert_eq!(session.query(all())?.len(), 100, "one page");
    let mut broken = store.find(all().member("colour", 1));
    assert!(broken.next().expect("an error").is_err());
    assert!(broken.next().is_none());
    Ok(())
}

#[test]
fn pages_of_sessions_follow_the_cursor() -> Outcome {
    let store = Store::open("memory:")?;
    for number in 0..7 {
        store.create_session(SessionOptions::new(format!("s{number}")))?;
    }
    let (mut seen, mut after) = (0, None);
    loop {
        let page = store.sessions(json!({"limit": 3, "after": after}));
        let page = match (&after, page) {
            (None, _) => store.sessions(json!({"limit": 3}))?,
            (Some(_), page) => page?,
        };
        seen += page.sessions.len();
        after.clone_from(&page.next);
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, 7);
    Ok(())
}

#[test]
fn all_sessions_are_those_of_all_pages() -> Outcome {
    let directory = Directory::new();
    let store = Store::open_with(directory.path(), json!({"durability": "os"}))?;
    assert_eq!(store.all_sessions(())?.count(), 0);
    for number in 0..7 {
        let user = if number % 2 == 0 { "ann" } else { "bob" };
        store.create_session(SessionOptions::new(format!("s{number}")).user(user))?;
    }
    let ids = |filter: Value| -> varve::Result<Vec<String>> {
        store.all_sessions(filter)?.map(|each| Ok(each?.session_id)).collect()
    };
    assert_eq!(ids(json!({"limit": 2}))?, ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]);
    assert_eq!(ids(json!({"limit": 1, "user_id": "ann"}))?, ["s6", "s4", "s2", "s0"]);
    assert_eq!(ids(json!({"limit": 3, "rescan": true}))?.len(), 7);
    let mut broken = store.all_sessions(json!({"colour": 1}))?;
    assert_eq!(broken.next().expect("an error").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(broken.next().is_none());
    assert!(store.all_sessions("[]").is_err());
    Ok(())
}

#[test]
fn a_backup_is_restored_without_what_was_deleted_since() -> Outcome {
    let directory = Directory::new();
    let store = Store::open(directory.join("store"))?;
    let session = store.session("kitchen")?;
    session.add(Entry::new("finding", "stays").id("stays"))?;
    session.add(Entry::new("finding", "goes").id("goes"))?;
    let report = store.backup(directory.join("backup"), ())?;
    assert_eq!((report.sessions, report.copied, report.entries), (1, 1, 2));

    session.delete("goes", "asked to")?;
    let error = store.restore(directory.join("backup"), ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let report = store.restore(directory.join("backup"), json!({"overwrite": true}))?;
    assert_eq!((report.replaced, report.entries, report.deletions_reapplied), (1, 1, 1));
    assert_eq!(session.get("stays").unwrap_err().kind(), ErrorKind::NotFound); // replaced
    assert_eq!(store.session("kitchen")?.get("stays")?.content, "stays");
    Ok(())
}

#[test]
fn the_clock_decides_what_a_sweep_removes() -> Outcome {
    let store = Store::open("memory:")?;
    let now_ms = Arc::new(AtomicU64::new(1_767_225_600_000)); // 2026-01-01
    let clock = now_ms.clone();
    store.set_clock(move || clock.load(Ordering::SeqCst) as i64)?;
    let session = store.create_session(SessionOptions::new("short").ttl_hours(1.0))?;
    let id = session.add(Entry::new("finding", "soon gone"))?;
    assert_eq!(session.get(&id)?.timestamp.as_deref(), Some("2026-01-01T00:00:00.000Z"));
    drop(session);
    now_ms.fetch_add(2 * 3_600_000, Ordering::SeqCst);
    assert_eq!(store.sweep()?.sessions_removed, 1);
    store.clear_clock()?;
    let session = store.create_session(())?;
    assert!(session.metadata()?.created_at.as_str() > "2026-01-01T03");
    Ok(())
}

#[test]
fn figures_and_metrics_count_what_was_done() -> Outcome {
    let directory = Directory::new();
    let store = Store::open_with(directory.path(), json!({"durability": "os"}))?;
    let session = store.session("kitchen")?;
    session.add(Entry::new("finding", 1))?;
    store.sync()?;
    let stats = store.stats()?;
    assert_eq!((stats.sessions_open, stats.entries_added), (1, 1));
    assert_eq!(stats.uri, directory.path().to_string_lossy());
    assert!(store.metrics()?.contains("# TYPE varve_"));
    assert_eq!((stats.commits, stats.lock_timeouts, stats.lines_skipped), (1, 0, 0));
    assert_eq!(stats.metrics["memory.operations.add.count"], Metric::Number(1.0));
    match &stats.metrics["memory.operations.write.duration_ms"] {
        Metric::Histogram(spread) => assert_eq!((spread.count, spread.max), (1, spread.sum)),
        other => panic!("{other:?} is no histogram"),
    }
    Ok(())
}

#[test]
fn log_lines_reach_the_closure_until_they_are_stopped() -> Outcome {
    let store = Store::open("memory:")?;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    store.set_log(LogLevel::Info, move |level, line| {
        kept.lock().expect("lines").push((level, line.to_owned()));
    })?;
    store.create_session(SessionOptions::new("loud"))?;
    store.clear_log()?;
    store.create_session(SessionOptions::new("quiet"))?;
    let lines = lines.lock().expect("lines");
    assert!(lines.iter().any(|(level, line)| *level == LogLevel::Info && line.contains("loud")));
    assert!(!lines.iter().any(|(_, line)| line.contains("quiet")));
    Ok(())
}

#[test]
fn log_lines_are_of_the_level_that_they_say_and_not_below_the_one_asked_for() -> Outcome {
    for asked in [LogLevel::Debug, LogLevel::Info, LogLevel::Warn] {
        let directory = Directory::new();
        let folder = directory.join("sessions/kitchen");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("memory.jsonl"), "{\"torn")?; // told as a warning
        let store = Store::open(directory.path())?;
        let levels = Arc::new(Mutex::new(BTreeSet::new()));
        let kept = levels.clone();
        store.set_log(asked, move |level, line| {
            let line: LogLine = serde_json::from_str(line).expect("a log line is JSON");
            assert_eq!(line.level, format!("{level:?}").to_uppercase());
            assert_eq!((line.session_id.as_deref(), line.extra.len()), (Some("kitchen"), 0));
            assert!(["store", "session"].contains(&line.component.as_str()));
            assert!(line.timestamp.starts_with("20") && !line.message.is_empty());
            kept.lock().expect("levels").insert(level);
        })?;
        store.open_session("kitchen")?.add(Entry::new("finding", "tea"))?;
        assert_eq!(levels.lock().expect("levels").first(), Some(&asked));
    }
    Ok(())
}

#[test]
fn a_session_is_open_until_its_last_handle_goes() -> Outcome {
    let store = Store::open("memory:")?;
    let session = store.session("kitchen")?;
    let clone = session.clone();
    drop(session);
    assert_eq!(store.stats()?.sessions_open, 1);
    drop(clone);
    assert_eq!(store.stats()?.sessions_open, 0);
    Ok(())
}

#[test]
fn a_bad_setting_names_the_member() {
    let error = Store::open_with("memory:", json!({"durability": "never"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.member().as_deref(), Some("durability"));
    assert_eq!(Store::open("").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(Store::open("ftp:nowhere").unwrap_err().kind(), ErrorKind::Unsupported);
}
