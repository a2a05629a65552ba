//! What a session keeps beside its log, what is in front of an agent, and what a model is given.
mod common;

use common::{Directory, Outcome};
use serde_json::json;
use std::fs;
use std::sync::Barrier;
use std::thread;
use varve::{
    Across, ContextRequest, Entry, ErrorKind, MemoryOptions, Message, Query, Session,
    SessionOptions, Store, Window,
};

fn session() -> varve::Result<Session> {
    Store::open("memory:")?.session("test")
}

#[test]
fn keys_are_set_listed_and_taken_away() -> Outcome {
    let session = session()?;
    session.kv().set("topic", "tea")?;
    session.kv().set("напиток", "☕ with a \0 in it")?;
    session.kv().set("topic", "coffee")?;
    let keys: Vec<_> = session.kv().list()?.iter().map(|each| each.key.clone()).collect();
    assert_eq!(keys, ["напиток", "topic"]);
    assert_eq!(session.kv().get("напиток")?, "☕ with a \0 in it");
    session.kv().delete("topic")?;
    assert_eq!(session.kv().get("topic").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(session.kv().delete("topic").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(session.kv().set("", "x").unwrap_err().kind(), ErrorKind::InvalidArgument);
    let options = SessionOptions { stores: Some(vec!["transcript".into()]), ..Default::default() };
    let without = session.store().create_session(options)?;
    assert_eq!(without.kv().list().unwrap_err().kind(), ErrorKind::Unsupported);
    Ok(())
}

#[test]
fn turns_come_back_in_order() -> Outcome {
    let session = session()?;
    session.transcript().append("user", "Tea,\nplease")?;
    session.transcript().append("assistant", "# With milk?")?;
    let all = session.transcript().last(usize::MAX)?;
    assert_eq!((all.len(), all[0].content.as_str()), (2, "Tea,\nplease"));
    assert_eq!(session.transcript().last(1)?[0].role, "assistant");
    assert!(all.json().starts_with('['));
    let error = session.transcript().append("", "nobody").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn a_window_keeps_the_newest_and_serves_many_threads() -> Outcome {
    let window = Window::new(3)?;
    assert!(window.is_empty());
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let window = &window;
            scope.spawn(move || {
                for number in 0..25 {
                    let message = Message::new("user", number).member("worker", worker);
                    window.add(message).expect("added");
                }
            });
        }
    });
    assert_eq!(window.len(), 3);
    window.add(json!({"role": "user", "content": {"any": "JSON"}}))?;
    let recent = window.recent(1)?;
    assert_eq!((recent.len(), &recent[0].content), (1, &json!({"any": "JSON"})));
    assert!(recent[0].timestamp.is_some());
    assert_eq!(window.recent(usize::MAX)?.len(), 3);
    assert!(window.text()?.ends_with("user: {\"any\":\"JSON\"}\n"));
    assert_eq!(window.add("{}").unwrap_err().kind(), ErrorKind::InvalidArgument);
    window.clear()?;
    assert_eq!(window.len(), 0);
    assert_eq!(Window::new(0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn a_memory_has_three_tiers() -> Outcome {
    let directory = Directory::new();
    let store = Store::open(directory.path())?;
    let memory = store.memory(MemoryOptions::user("ann").agent("cook").window(2))?;
    for text in ["one", "two", "three"] {
        memory.record("today", Message::new("user", text))?;
    }
    let context = memory.context("today", 0)?;
    assert_eq!((context.entries.len(), context.source.as_str()), (2, "working"));
    assert_eq!(context.entries[1].content, "three");
    memory.clear()?;
    let context = memory.context("today", 0)?;
    assert_eq!((context.entries.len(), context.source.as_str()), (3, "short_term"));
    memory.load("today")?;
    assert_eq!(memory.context("today", 0)?.entries.len(), 2);
    memory.save("today")?;
    assert_eq!(memory.load("nobody").unwrap_err().kind(), ErrorKind::NotFound);

    let id = memory.store(json!({"content": "likes tea"}))?;
    let found = memory.search(Query::text("tea"))?;
    assert_eq!(found.iter().map(|hit| &hit.entry.id).collect::<Vec<_>>(), [&id]);
    memory.delete(&id, "asked to")?;
    let audit: String = fs::read_dir(directory.join("sessions"))?
        .filter_map(|folder| fs::read_to_string(folder.ok()?.path().join("tombstones.jsonl")).ok())
        .collect();
    assert!(audit.contains("asked to"), "{audit}");
    assert_eq!(memory.delete(&id, "").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(memory.search_json(())?.len(), 3);
    memory.close();
    assert_eq!(memory.context("today", 0).unwrap_err().kind(), ErrorKind::BadHandle);
    Ok(())
}

#[test]
fn a_memory_that_goes_leaves_its_sessions() -> Outcome {
    let store = Store::open("memory:")?;
    let memory = store.memory(())?;
    memory.record("today", Message::new("user", "hello"))?;
    let clone = memory.clone();
    drop(memory);
    assert_eq!(store.stats()?.sessions_open, 1);
    drop(clone);
    assert_eq!(store.stats()?.sessions_open, 0);
    Ok(())
}

#[test]
fn a_context_recalls_from_other_sessions_of_the_user() -> Outcome {
    let store = Store::open("memory:")?;
    let open = |id: &str, user: &str, said: &str| -> varve::Result<varve::Session> {
        let options = json!({"session_id": id, "user_id": user});
        let session = store.create_session(options)?;
        session.record("user_message", json!({"content": said}))?;
        Ok(session)
    };
    open("earlier", "ann", "My kayak is red")?;
    open("of-bob", "bob", "My kayak is blue")?;
    let today = open("today", "ann", "Hello again")?;
    for (across, expected) in [
        (Across::user("ann"), vec!["earlier", "today"]),
        (Across::default().sessions(["of-bob"]), vec!["of-bob", "today"]),
        (Across::default(), vec!["earlier", "of-bob", "today"]),
    ] {
        let context = today.context(ContextRequest::new("Is the kayak red?").across(across))?;
        let mut sessions: Vec<_> =
            context.items.iter().map(|item| item.session_id.as_deref().unwrap_or("")).collect();
        sessions.sort_unstable();
        assert_eq!(sessions, expected);
    }
    assert_eq!(today.context(())?.items[0].session_id, None);
    Ok(())
}

#[test]
fn a_context_fits_its_budget() -> Outcome {
    let session = session()?;
    for number in 0..50 {
        let text = format!("Fact {number}: the kettle boils in {number} minutes");
        session.add(Entry::new("finding", text).importance(f64::from(number) / 50.0))?;
    }
    let call = json!({"name": "weather", "arguments": {"at": "Kiel"}, "call_id": "c1"});
    let call = session.record("tool_call", call)?;
    let result = json!({"name": "weather", "result": "storm", "call_id": "c1"});
    let result = session.record("tool_result", result)?;
    assert_eq!(session.get(&result)?.references, [call.as_str()]);

    let request = ContextRequest::new("How long does the kettle boil?")
        .newest_of(["tool_call", "tool_result"], 5)
        .important(10)
        .found_by(&Query::text("kettle").limit(20))
        .rank_importance(0.5)
        .rank_match(0.5)
        .max_tokens(300)
        .reserve_tokens(50)
        .pin(&call)
        .exclude(&result)
        .keep_together(false);
    let context = session.context(&request)?;
    assert!(context.token_count <= 250 && context.truncated && context.dropped > 0);
    assert_eq!(
        (context.items[0].id.as_str(), context.items[0].source.as_str()),
        (&*call, "pinned")
    );
    assert!(context.items.iter().all(|item| item.id != result));
    assert!(context.text.contains("kettle") && context.json().contains("token_count"));
    assert!(session.context(())?.token_count <= 4000);
    let error = session.context(request.format("music")).unwrap_err();
    assert_eq!(error.member().as_deref(), Some("format"));
    assert_eq!(session.record("song", "\"la\"").unwrap_err().kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn tokens_are_counted_as_a_model_does() -> Outcome {
    let session = session()?;
    for number in 0..20 {
        session.record("user_message", json!({"content": format!("Кеттл № {number} ☕ boils")}))?;
    }
    let model = tiktoken_rs::cl100k_base()?;
    let own = tiktoken_rs::cl100k_base()?;
    session.store().set_token_counter(move |text| model.encode_ordinary(text).len() as u64)?;
    let context = session.context(ContextRequest::default().max_tokens(150).newest(20))?;
    let tokens = own.encode_ordinary(&context.text).len() as u64;
    assert!(context.truncated && !context.items.is_empty());
    assert!(tokens <= 150 && context.token_count <= 150, "{tokens} {}", context.token_count);
    session.store().clear_token_counter()?;
    assert!(!session.context(())?.items.is_empty());
    Ok(())
}

#[test]
fn a_panic_in_the_token_counter_is_a_callback_error() -> Outcome {
    let session = session()?;
    session.record("user_message", json!({"content": "hello"}))?;
    session.store().set_token_counter(|_| panic!("while counting"))?;
    assert_eq!(session.context(()).unwrap_err().kind(), ErrorKind::Callback);
    session.store().set_token_counter(|text| text.len() as u64)?;
    assert!(session.context(())?.text.contains("hello"));
    Ok(())
}

#[test]
fn a_counter_set_while_another_thread_clears_it_leaves_contexts_that_can_be_built() -> Outcome {
    let session = session()?;
    session.record("user_message", json!({"content": "hello"}))?;
    let (store, both) = (session.store(), Barrier::new(2));
    for _ in 0..10_000 {
        thread::scope(|scope| -> Outcome {
            let cleared = scope.spawn(|| {
                both.wait();
                store.clear_token_counter()
            });
            both.wait();
            store.set_token_counter(|text| text.len() as u64)?;
            cleared.join().expect("no panic")?;
            session.context(())?;
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn vectors_are_near_or_far() -> Outcome {
    let session = session()?;
    for (id, vector) in [("north", [0.0, 1.0]), ("east", [1.0, 0.0])] {
        session.add(Entry::new("finding", id).id(id))?;
        session.put_vector(id, &vector)?;
    }
    let found = session.query(Query::all().vector([0.9, 0.1]).limit(1))?;
    assert_eq!(found[0].entry.id, "east");
    let fused = session.query(Query::text("north").vector([0.9, 0.1]).vector_weight(0.1))?;
    assert_eq!(fused[0].entry.id, "north");
    assert_eq!(session.put_vector("north", &[]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let error = session.put_vector("north", &[f32::NAN, 1.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(session.put_vector("nobody", &[1.0, 1.0]).unwrap_err().kind(), ErrorKind::NotFound);
    Ok(())
}
