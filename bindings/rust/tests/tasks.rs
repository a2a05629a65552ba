//! The feature `tokio`: the same calls as futures.
#![cfg(feature = "tokio")]

mod common;

use std::fs;

use common::{Directory, Outcome};
use serde_json::json;
use varve::{
    ContextRequest, Entry, ErrorKind, Query, SessionHandle, SessionOptions, Store, StoreHandle,
};

fn assert_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test]
async fn every_call_is_there() -> varve::Result<()> {
    let store = StoreHandle::open("memory:", ()).await?;
    let ann = || SessionOptions::new("test").user("ann");
    let session = assert_send(store.session(ann())).await?;
    assert_eq!(assert_send(store.session("test")).await?.id(), "test");
    let other = store.session(ann().user("bo")).await.unwrap_err();
    assert_eq!(other.kind(), ErrorKind::AlreadyExists);
    assert_eq!(session.id(), "test");
    let id = assert_send(session.add(Entry::new("finding", "tea").id("tea"))).await?;
    session.add_batch([Entry::new("finding", "cup"), Entry::new("finding", "tea cup")]).await?;
    assert_eq!(session.get(&id).await?.content, "tea");
    assert_eq!(assert_send(session.query(Query::text("tea"))).await?.len(), 2);
    assert_eq!(store.query(Query::text("cup")).await?.len(), 2);
    session.delete(&id, "asked to").await?;
    assert_eq!(session.get(&id).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(session.delete_where(Query::text("cup"), "").await?, 2);
    assert_eq!(session.count(()).await?, 0);
    session.sync().await?;
    let other = store.create_session(()).await?;
    assert_eq!(store.open_session(other.id()).await?.id(), other.id());
    assert_eq!(store.run(|store| store.sessions(())).await?.sessions.len(), 2);
    let handle = SessionHandle::from(Store::open("memory:")?.create_session(())?);
    assert!(handle.run(|session| session.verify(())).await?.ok);
    handle.close().await?;
    assert_eq!(handle.count(()).await.unwrap_err().kind(), ErrorKind::BadHandle);
    store.close().await?;
    assert_eq!(session.count(()).await.unwrap_err().kind(), ErrorKind::BadHandle);
    Ok(())
}

#[tokio::test]
async fn a_thousand_calls_in_flight_are_all_answered() -> varve::Result<()> {
    let session = StoreHandle::open("memory:", ()).await?.create_session(()).await?;
    let tasks: Vec<_> = (0..1000)
        .map(|number| {
            let session = session.clone();
            tokio::spawn(async move { session.add(Entry::new("finding", number)).await })
        })
        .collect();
    let mut ids = std::collections::HashSet::new();
    for task in tasks {
        ids.insert(task.await.expect("no panic")?);
    }
    assert_eq!((ids.len(), session.count(()).await?), (1000, 1000));
    Ok(())
}

#[tokio::test]
async fn a_future_that_is_dropped_leaves_its_call_to_finish() -> varve::Result<()> {
    let session = StoreHandle::open("memory:", ()).await?.create_session(()).await?;
    {
        let add = std::pin::pin!(session.add(Entry::new("finding", "begun")));
        let waker = std::task::Waker::noop();
        let begun = std::future::Future::poll(add, &mut std::task::Context::from_waker(waker));
        assert!(begun.is_pending() || begun.is_ready());
    }
    while session.count(()).await? == 0 {
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_panic_goes_on_where_the_call_is_awaited() -> varve::Result<()> {
    let session = StoreHandle::open("memory:", ()).await?.create_session(()).await?;
    let task = tokio::spawn(async move {
        session.run(|_| -> varve::Result<()> { panic!("in the closure") }).await
    });
    assert!(task.await.unwrap_err().is_panic());
    Ok(())
}

#[tokio::test]
async fn what_a_call_is_given_reaches_the_library() -> Outcome {
    let directory = Directory::new();
    let bad = StoreHandle::open("memory:", json!({"durability": "never"})).await.unwrap_err();
    assert_eq!(bad.member().as_deref(), Some("durability"));
    let store = StoreHandle::open(directory.path(), json!({"durability": "os"})).await?;
    let session = store.session("kitchen").await?;
    let id = session.record("user_message", json!({"content": "Tea, please"})).await?;
    let built = session.context(ContextRequest::default().format("chat").exclude(&id)).await?;
    assert!(built.items.is_empty());
    assert_eq!(session.context(()).await?.items[0].id, id);

    let syncs = || store.blocking().stats().map(|stats| stats.syncs);
    let before = syncs()?;
    session.sync().await?;
    assert!(syncs()? > before);

    session.delete(&id, "asked to").await?;
    session.add(Entry::new("finding", "cup")).await?;
    session.delete_where(Query::text("cup"), "all of them").await?;
    let audit = fs::read_to_string(directory.join("sessions/kitchen/tombstones.jsonl"))?;
    assert!(audit.contains("asked to") && audit.contains("all of them"), "{audit}");
    Ok(())
}

#[test]
fn a_runtime_that_has_ended_cancels_the_call() -> Outcome {
    let session = Store::open("memory:")?.create_session(())?;
    let handle = SessionHandle::from(session);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let ended = runtime.handle().clone();
    drop(runtime);
    let _runs_calls = ended.enter();
    let count = std::pin::pin!(handle.count(()));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::future::Future::poll(count, &mut context) {
        std::task::Poll::Ready(answer) => {
            assert_eq!(answer.unwrap_err().kind(), ErrorKind::Cancelled);
            Ok(())
        }
        std::task::Poll::Pending => Err("nobody is left to answer".into()),
    }
}
