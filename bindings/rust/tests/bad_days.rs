//! What goes wrong for callers: closed handles, odd texts, panics, threads, handles without end.
mod common;

use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

use common::{Directory, Outcome};
use serde_json::{json, Value};
use varve::{Entry, ErrorKind, LogLevel, Query, RawResults, Session, Store};

fn session() -> varve::Result<Session> {
    Store::open("memory:")?.session("test")
}

fn assert_shared<T: Send + Sync>() {}
fn assert_moved<T: Send>() {}

#[test]
fn handles_go_where_the_header_lets_them() {
    assert_shared::<Store>();
    assert_shared::<Session>();
    assert_shared::<varve::Error>();
    assert_moved::<RawResults>();
}

#[test]
fn a_closed_session_answers_bad_handle() -> Outcome {
    let session = session()?;
    let clone = session.clone();
    session.close();
    session.close();
    assert_eq!(clone.count(()).unwrap_err().kind(), ErrorKind::BadHandle);
    assert_eq!(clone.get("x").unwrap_err().kind(), ErrorKind::BadHandle);
    assert_eq!(clone.id(), "test");
    let again = clone.store().open_session("test")?;
    assert_eq!(again.count(())?, 0);
    Ok(())
}

#[test]
fn a_closed_store_closes_its_sessions() -> Outcome {
    let session = session()?;
    let store = session.store().clone();
    store.close();
    store.close();
    assert_eq!(session.add(Entry::new("finding", 1)).unwrap_err().kind(), ErrorKind::BadHandle);
    assert_eq!(store.create_session(()).unwrap_err().kind(), ErrorKind::BadHandle);
    assert_eq!(store.stats().unwrap_err().kind(), ErrorKind::BadHandle);
    assert_eq!(store.set_log(LogLevel::Info, |_, _| ()).unwrap_err().kind(), ErrorKind::BadHandle);
    Ok(())
}

#[test]
fn closing_lets_go_of_closures_that_hold_what_is_closed() -> Outcome {
    let session = session()?;
    let store = session.store().clone();
    let held = Arc::new(());
    let gone = Arc::downgrade(&held);
    let (own, of_store) = ((held.clone(), session.clone()), (held.clone(), store.clone()));
    session.set_progress(move |_, _, _| Arc::strong_count(&own.0) > 0)?;
    store.set_clock(move || Arc::strong_count(&of_store.0) as i64)?;
    let of_store = (held.clone(), store.clone());
    store.set_log(LogLevel::Debug, move |_, _| drop(of_store.0.clone()))?;
    let of_store = (held, store.clone());
    store.set_token_counter(move |_| Arc::strong_count(&of_store.0) as u64)?;

    session.close();
    assert_eq!(gone.strong_count(), 3, "that of the session is gone");
    store.close();
    assert_eq!(gone.strong_count(), 0, "and so are those of the store");
    Ok(())
}

#[test]
fn a_close_beside_another_leaves_the_closures_of_calls_under_way() -> Outcome {
    let session = session()?;
    let store = session.store().clone();
    session.add_batch([Entry::new("finding", "cup"), Entry::new("finding", "kettle")])?;
    let (counting, waits) = mpsc::channel();
    let (goes_on, told) = mpsc::channel();
    let told = Mutex::new(told);
    store.set_token_counter(move |text| {
        if counting.send(()).is_ok() {
            told.lock().expect("no panic").recv().expect("it is told once");
        }
        text.len() as u64
    })?;
    thread::scope(|scope| {
        let context = scope.spawn(|| session.context(()));
        waits.recv().expect("it counts");
        drop(waits); // of other texts nothing is told
        scope.spawn(|| store.close()); // which waits for the context
        while store.stats().is_ok() {
            thread::yield_now();
        }
        store.close(); // which has nothing left to do
        goes_on.send(()).expect("it waits");
        assert_eq!(context.join().expect("no panic")?.items.len(), 2);
        Ok(())
    })
}

#[test]
fn a_session_keeps_its_store_open() -> Outcome {
    let session = {
        let store = Store::open("memory:")?;
        store.session("kept")?
    };
    session.add(Entry::new("finding", 1))?;
    assert_eq!(session.count(())?, 1);
    Ok(())
}

#[test]
fn closing_while_other_threads_call_loses_nothing_acknowledged() -> Outcome {
    let directory = Directory::new();
    let store = Store::open_with(directory.path(), json!({"durability": "os"}))?;
    let session = store.session("busy")?;
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let session = session.clone();
            thread::spawn(move || {
                let mut acknowledged = 0;
                loop {
                    match session.add(Entry::new("finding", "one more")) {
                        Ok(_) => acknowledged += 1,
                        Err(error) => break (acknowledged, error.kind()),
                    }
                }
            })
        })
        .collect();
    while session.count(())? < 50 {
        thread::yield_now();
    }
    store.close();
    let mut sum = 0;
    for thread in threads {
        let (acknowledged, kind) = thread.join().expect("no panic");
        assert_eq!(kind, ErrorKind::BadHandle);
        sum += acknowledged;
    }
    assert_eq!(Store::open(directory.path())?.session("busy")?.count(())?, sum);
    Ok(())
}

#[test]
fn bytes_that_are_no_utf8_are_refused() -> Outcome {
    let session = session()?;
    let bytes = b"{\"type\":\"finding\",\"content\":\"\xff\xfe\"}";
    let error = session.add(&bytes[..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let surrogate = b"{\"type\":\"finding\",\"content\":\"\xed\xa0\x80\"}".to_vec();
    assert_eq!(session.add(surrogate).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(session.count(())?, 0);
    assert_eq!(session.import(b"\xff\xfe\n")?.refused_total, 1);
    Ok(())
}

#[test]
fn a_nul_is_kept_in_content_and_refused_in_an_id() -> Outcome {
    let session = session()?;
    let id = session.add(Entry::new("finding", "before\0after"))?;
    assert_eq!(session.get(&id)?.content, "before\0after");
    assert_eq!(session.get("a\0b").unwrap_err().kind(), ErrorKind::InvalidArgument);
    let raw = "{\"type\":\"finding\",\"content\":\"a\0b\"}"; // not escaped: no JSON
    assert_eq!(session.add(raw).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(Store::open("a\0b").unwrap_err().kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn emoji_and_every_script_come_back_and_are_found() -> Outcome {
    let session = session()?;
    let text = "☕ чай 茶 👩‍👩‍👧‍👦 e\u{301}";
    let id = session.add(Entry::new("finding", text).tag("напитки"))?;
    assert_eq!(session.get(&id)?.content, text);
    assert_eq!(session.count(Query::text("чай").tag("напитки"))?, 1);
    let lone = session.add(r#"{"type":"finding","content":"\ud83d"}"#).unwrap_err();
    assert_eq!(lone.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn large_numbers_are_exact() -> Outcome {
    let session = session()?;
    let numbers = json!([9_007_199_254_740_993_u64, u64::MAX, i64::MIN, 0.1, 1e300]);
    let id = session.add(Entry::new("finding", numbers.clone()))?;
    assert_eq!(session.get(&id)?.content, numbers);
    let found = session.query(Query::all())?;
    assert_eq!(found[0].entry.content, numbers);
    let text = session.get_json(&id)?;
    for exact in ["9007199254740993", "18446744073709551615", "-9223372036854775808"] {
        assert!(text.contains(exact), "{text}");
    }
    Ok(())
}

#[test]
fn an_entry_of_a_megabyte_comes_back_and_one_more_is_refused() -> Outcome {
    let session = session()?;
    let text = "x".repeat(1_000_000);
    let id = session.add(Entry::new("document", text.as_str()))?;
    assert_eq!(session.get(&id)?.content.as_str().map(str::len), Some(1_000_000));
    let error = session.add(Entry::new("document", text.repeat(2))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SizeLimit);
    assert!(error.detail("limit").and_then(|limit| limit.as_u64()).is_some());
    Ok(())
}

#[test]
fn a_panic_in_the_progress_closure_is_a_callback_error() -> Outcome {
    let session = session()?;
    session.add(Entry::new("finding", 1))?;
    session.set_progress(|_, _, _| panic!("in progress"))?;
    assert_eq!(session.verify(()).unwrap_err().kind(), ErrorKind::Callback);
    session.clear_progress()?;
    assert!(session.verify(())?.ok);
    Ok(())
}

#[test]
fn a_panic_in_the_log_closure_ends_there() -> Outcome {
    let session = session()?;
    session.store().set_log(LogLevel::Debug, |_, _| panic!("in a log line"))?;
    let id = session.add(Entry::new("finding", 1))?;
    assert_eq!(session.get(&id)?.content, 1);
    Ok(())
}

#[test]
fn a_panic_in_the_clock_is_answered_by_the_system_clock() -> Outcome {
    let session = session()?;
    session.store().set_clock(|| panic!("no time"))?;
    let id = session.add(Entry::new("finding", 1))?;
    assert!(session.get(&id)?.timestamp.as_deref() > Some("2025"));
    Ok(())
}

#[test]
fn a_log_closure_may_call_the_library() -> Outcome {
    let session = session()?;
    let inner = Store::open("memory:")?.session("inner")?;
    let target = inner.clone();
    session.store().set_log(LogLevel::Debug, move |_, line| {
        let content: Value = serde_json::from_str(line).expect("a log line is JSON");
        target.add(Entry::new("observation", content)).expect("added");
    })?;
    session.store().create_session(())?;
    assert!(inner.count(())? > 0);
    Ok(())
}

#[test]
fn closures_are_dropped_when_replaced_cleared_or_with_their_store() -> Outcome {
    let alive = Arc::new(());
    let holders = |expected: usize| assert_eq!(Arc::strong_count(&alive), 1 + expected);
    let store = Store::open("memory:")?;
    let session = store.session("test")?;
    for _ in 0..1000 {
        let (one, two, three) = (alive.clone(), alive.clone(), alive.clone());
        let four = alive.clone();
        store.set_log(LogLevel::Debug, move |_, _| assert!(Arc::strong_count(&one) > 1))?;
        store.set_token_counter(move |text| (text.len() + Arc::strong_count(&two)) as u64)?;
        session.set_progress(move |_, _, _| Arc::strong_count(&three) > 1)?;
        store.set_clock(move || Arc::strong_count(&four) as i64)?;
    }
    holders(4);
    store.clear_token_counter()?;
    session.clear_progress()?;
    holders(2);
    store.clear_log()?;
    store.clear_clock()?;
    holders(0);
    let kept = alive.clone();
    store.set_clock(move || Arc::strong_count(&kept) as i64)?;
    holders(1);
    drop(store);
    holders(1);
    drop(session);
    holders(0);
    Ok(())
}

#[test]
fn what_a_counter_holds_may_use_the_store_when_it_goes() -> Outcome {
    struct Clears(Store);
    impl Drop for Clears {
        fn drop(&mut self) {
            let _ = self.0.clear_token_counter(); // refused when the store is closed
        }
    }
    let store = Store::open("memory:")?;
    for _ in 0..2 {
        let held = Clears(store.clone());
        store.set_token_counter(move |text| (text.len() + size_of_val(&held)) as u64)?;
    }
    store.clear_token_counter()?; // the calls come to their end: that is what is tested
    assert!(store.session("test")?.context(())?.items.is_empty());
    store.close();
    let held = Clears(store.clone());
    let refused = store.set_token_counter(move |_| size_of_val(&held) as u64);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::BadHandle);
    Ok(())
}

#[test]
fn one_session_serves_many_threads() -> Outcome {
    let session = session()?;
    thread::scope(|scope| {
        for worker in 0..8 {
            let session = &session;
            scope.spawn(move || {
                for number in 0..50 {
                    let id = format!("w{worker}-{number}");
                    session.add(Entry::new("finding", "shared").id(&id)).expect("added");
                    assert_eq!(session.get(&id).expect("there").id, id);
                    let error = session.get("nobody").expect_err("not there");
                    assert_eq!(error.kind(), ErrorKind::NotFound);
                }
            });
        }
    });
    assert_eq!(session.count(Query::text("shared"))?, 400);
    Ok(())
}

#[test]
fn a_panic_while_handles_are_held_closes_them() -> Outcome {
    let directory = Directory::new();
    let path = directory.path().to_owned();
    let ended = catch_unwind(AssertUnwindSafe(|| -> varve::Result<()> {
        let session = Store::open(&path)?.session("test")?;
        session.add(Entry::new("finding", 1))?;
        panic!("of the program");
    }));
    assert!(ended.is_err());
    assert_eq!(Store::open(&path)?.session("test")?.count(())?, 1);
    Ok(())
}

#[test]
fn a_file_that_is_in_the_way_is_told_with_its_path() -> Outcome {
    let directory = Directory::new();
    let file = directory.join("file");
    fs::write(&file, "in the way")?;
    let error = Store::open(&file).unwrap_err();
    assert!(error.path().is_some_and(|path| path.contains("file")), "{error:?}");
    Ok(())
}
