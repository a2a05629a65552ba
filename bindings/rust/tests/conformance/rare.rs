//! Answers with members that no case comes by.
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use varve::{
    Answer, CompactOptions, CompactionConfig, DecayConfig, Entry, Json, MigrateOptions, Query,
    RestoreOptions, SessionOptions, Store, TypeDecay, VerifyOptions,
};

use crate::common::{Directory, Outcome};
use crate::members;

/// The answer, whose members were looked at.
fn noted<T: Serialize>(answer: Answer<T>) -> Answer<T> {
    members::note(&*answer, answer.json());
    answer
}

pub fn note_answers() -> Outcome {
    compactions()?;
    explanations()?;
    many_types()?;
    made_by_hand()?;
    lock()
}

fn compactions() -> Outcome {
    let directory = Directory::new();
    let store = Store::open(directory.join("store"))?;
    let song = TypeDecay {
        half_life_hours: Some(2.0),
        min_decay_factor: Some(0.0),
        curve: Some("step".into()),
        decay_enabled: Some(true),
        ..TypeDecay::default()
    };
    let decay_config = DecayConfig {
        enabled: Some(true),
        half_life_hours: Some(3.0),
        default_half_life_hours: Some(5.0),
        min_decay_factor: Some(0.5),
        curve: Some("linear".into()),
        type_specific: Some(BTreeMap::from([("song".into(), song)])),
        update_interval_minutes: Some(7.0),
        ..DecayConfig::default()
    };
    let compaction_config = CompactionConfig {
        auto_compact: Some(false),
        threshold: Some(0.25),
        ..CompactionConfig::default()
    };
    let session = store.create_session(SessionOptions {
        kv_cap: Some(0),
        transcript_cap: Some(7),
        decay_config: Some(decay_config.clone()),
        compaction_config: Some(compaction_config.clone()),
        preferences: Some(json!({"tea": true})),
        durability: Some("os".into()),
        ttl_policy: Some("fixed".into()),
        ..SessionOptions::new("kitchen").ttl_hours(24.0)
    })?;
    let id = session.add(Entry::new("finding", "tea"))?;
    session.put_vector(&id, &[1.0, 2.0])?;
    session.add(Entry::new("finding", "coffee").reference(&id))?;
    session.delete(&id, "")?;
    let report =
        noted(session.verify(VerifyOptions { deep: Some(true), ..VerifyOptions::default() })?);
    assert_eq!((report.notes[0].target.as_str(), report.vectors.dimension), (id.as_str(), 2));
    let report = noted(session.compact(CompactOptions::default())?);
    assert_eq!((report.vectors_before, report.vectors_after), (Some(1), Some(0)));
    assert_eq!((report.dropped.deleted, report.extra.is_empty()), (1, true));
    store.backup(directory.join("backup"), ())?;
    let options = RestoreOptions { overwrite: Some(true), ..RestoreOptions::default() };
    store.restore(directory.join("backup"), options)?;
    let session = store.open_session("kitchen")?;
    let metadata = noted(session.metadata()?);
    assert!(metadata.extra.is_empty(), "{:?}", metadata.extra);
    assert_eq!(metadata.decay_config.as_ref(), Some(&decay_config));
    assert_eq!(metadata.compaction_config.as_ref(), Some(&compaction_config));
    assert_eq!((metadata.kv_cap, metadata.transcript_cap), (Some(0), Some(7)));
    let compaction = &metadata.compactions[0];
    assert_eq!((compaction.cause.as_str(), compaction.entries_before), ("asked", 2));
    assert!(compaction.extra.is_empty() && metadata.restored_at > metadata.last_compaction);
    let stats = session.stats()?;
    let all = [&stats.extra, &stats.corruption.extra, &stats.index.extra, &stats.usage.extra];
    assert!(all.iter().all(|extra| extra.is_empty()), "{stats:?}");
    assert!(store.stats()?.extra.is_empty());
    Ok(())
}

fn explanations() -> Outcome {
    let store = Store::open("memory:")?;
    let session = store.session("kitchen")?;
    let id = session.add(Entry::new("finding", "green tea"))?;
    session.put_vector(&id, &[1.0, 2.0])?;
    let query = Query::text("tea").vector([1.0, 2.0]).explain();
    for found in [session.query_json(&query)?, store.query_json(&query)?] {
        let page = found.parse()?;
        members::note(&page, found.json()?);
        let why = page[0].explain.as_ref().ok_or("explained")?;
        let best = why.best.as_ref().ok_or("ranked by best")?;
        let vector = why.vector.as_ref().ok_or("ranked by its vector")?;
        assert_eq!(
            (why.sort_by.as_str(), vector.rank, vector.text_rank),
            ("best", Some(1), Some(1))
        );
        let all = [&why.extra, &best.extra, &vector.extra, &why.decay.extra];
        assert!(all.iter().all(|extra| extra.is_empty()), "{why:?}");
        assert_eq!(why.terms[0].term, "tea");
    }
    Ok(())
}

fn many_types() -> Outcome {
    let session = Store::open("memory:")?.session("kitchen")?;
    session.add_batch((0..10_005).map(|n| Entry::new(format!("t{n}"), n)).collect::<Vec<_>>())?;
    let rest = noted(session.metadata()?).statistics_rest.clone().ok_or("some are left out")?;
    assert_eq!((rest.types, rest.entries), (5, 5));
    Ok(())
}

/// A log of format version 0, and metadata of a compaction that was killed.
fn made_by_hand() -> Outcome {
    let directory = Directory::new();
    let store = Store::open(directory.path())?;
    let folder = directory.join("sessions/old");
    fs::create_dir_all(&folder)?;
    let line = r#"{"id":"a","type":"finding","content":1,"timestamp":"2025-01-01T00:00:00Z"}"#;
    fs::write(folder.join("memory.jsonl"), format!("{line}\n"))?;
    let session = store.open_session("old")?;
    assert!(noted(session.migrate(MigrateOptions::default())?).changed);
    assert_eq!(noted(session.metadata()?).migrations[0].to, 1);
    drop(session);
    let path = folder.join("metadata.json");
    let text = fs::read_to_string(&path)?;
    fs::write(&path, format!("{{\"stray_vectors\":true,{}", &text[1..]))?;
    assert!(noted(store.open_session("old")?.metadata()?).stray_vectors);
    Ok(())
}

/// Looks until somebody is writing.
fn lock() -> Outcome {
    let directory = Directory::new();
    let session = Store::open(directory.path())?.session("kitchen")?;
    let seen = AtomicBool::new(false);
    let deadline = Instant::now() + Duration::from_secs(60);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !seen.load(Ordering::SeqCst) && Instant::now() < deadline {
                session.add(Json(json!({"type": "finding", "content": "tea"}))).expect("added");
            }
        });
        while !seen.load(Ordering::SeqCst) && Instant::now() < deadline {
            let stats = session.stats().expect("figures");
            if stats.lock.process_id.is_some() {
                assert_eq!(stats.lock.process_id, Some(std::process::id().into()));
                noted(stats);
                seen.store(true, Ordering::SeqCst);
            }
        }
    });
    assert!(seen.into_inner(), "nobody was seen to write");
    Ok(())
}
