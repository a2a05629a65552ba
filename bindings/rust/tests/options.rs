//! What calls can be told: every member has a field, and the library takes it under that name.
mod common;

use std::collections::BTreeMap;

use common::{Directory, Outcome};
use serde_json::json;
use varve::{
    Across, BackupOptions, BestWeights, Budget, CompactOptions, CompactionConfig,
    ConcurrencyConfig, ContextRequest, DecayConfig, Entry, ExportOptions, ImportOptions,
    IntegrityConfig, Measure, MigrateOptions, PerformanceConfig, PurgeOptions, Query,
    RepairOptions, RestoreOptions, Retrieval, SessionFilter, SessionOptions, StorageConfig, Store,
    StoreConfig, TextConfig, Time, TypeDecay, UsageFilter, VerifyOptions,
};

/// Every field is written out: one that is missing here, or too many, does not compile.
fn config() -> StoreConfig {
    let extra = serde_json::Map::new;
    StoreConfig {
        version: Some("1.0".into()),
        durability: Some("os".into()),
        threads: Some(2),
        storage: Some(StorageConfig {
            max_session_size_mb: Some(1.5),
            max_entry_size_bytes: Some(1000),
            max_user_size_mb: Some(7.5),
            max_user_sessions: Some(3),
            kv_cap: Some(0),
            transcript_cap: Some(1),
            auto_compact: Some(false),
            compaction_threshold: Some(0.5),
            root_directory: Some("nowhere".into()),
            extra: extra(),
        }),
        concurrency: Some(ConcurrencyConfig {
            lock_timeout_ms: Some(0),
            exclusive: Some(true),
            max_retries: Some(1),
            retry_backoff_ms: Some(1),
            extra: extra(),
        }),
        performance: Some(PerformanceConfig {
            batch_write_interval_ms: Some(10),
            cache_size: Some(0),
            max_kept_sessions: Some(0),
            index_in_memory: Some(true),
            extra: extra(),
        }),
        integrity: Some(IntegrityConfig {
            recovery: Some("salvage".into()),
            io_failure: Some("buffer".into()),
            io_failure_buffer_mb: Some(1),
            enable_checksums: Some(true),
            checksum_algorithm: Some("sha256".into()),
            extra: extra(),
        }),
        decay: Some(decay()),
        text: Some(TextConfig {
            language: Some("none".into()),
            stop_words: Some(vec![]),
            best: Some(BestWeights {
                neighbour: Some(1.0),
                answer: Some(2.0),
                stretch: Some(3.0),
                role: Some(4.0),
                date: Some(5.0),
                relevance: Some(6.0),
                candidates: Some(7),
                extra: extra(),
            }),
            extra: extra(),
        }),
        extra: extra(),
    }
}

fn decay() -> DecayConfig {
    let song = TypeDecay {
        half_life_hours: Some(2.0),
        min_decay_factor: Some(0.0),
        curve: Some("step".into()),
        decay_enabled: Some(true),
        extra: serde_json::Map::new(),
    };
    DecayConfig {
        enabled: Some(true),
        half_life_hours: Some(3.0),
        default_half_life_hours: Some(5.0),
        min_decay_factor: Some(0.5),
        curve: Some("linear".into()),
        type_specific: Some(BTreeMap::from([("song".into(), song)])),
        update_interval_minutes: Some(7.0),
        extra: serde_json::Map::new(),
    }
}

#[test]
fn an_option_of_another_kind_is_refused_when_it_is_read() {
    type Read = fn(&str) -> Option<serde_json::Error>;
    fn read<T: serde::de::DeserializeOwned>(text: &str) -> Option<serde_json::Error> {
        serde_json::from_str::<T>(text).err()
    }
    // Without it, the first would purge, and the second list everybody's sessions.
    let cases: [(Read, &str); 6] = [
        (read::<PurgeOptions>, r#"{"dry_run":"true"}"#),
        (read::<SessionFilter>, r#"{"user_id":7}"#),
        (read::<UsageFilter>, r#"{"time":{"start":2026}}"#),
        (read::<StoreConfig>, r#"{"concurrency":{"lock_timeout_ms":"250"}}"#),
        (read::<SessionOptions>, r#"{"decay_config":{"enabled":"no"}}"#),
        (read::<ContextRequest>, r#"{"retrieve":[{"recency":-1}]}"#),
    ];
    for (read, text) in cases {
        let error = read(text).unwrap_or_else(|| panic!("{text} was taken"));
        assert!(error.to_string().contains("invalid"), "{text}: {error}");
    }
    assert_eq!(serde_json::from_str::<PurgeOptions>(r#"{"dry_run":null}"#).unwrap().dry_run, None);
}

#[test]
fn the_library_takes_every_setting() -> Outcome {
    let store = Store::open_with("memory:", config())?;
    let session = store.create_session(SessionOptions {
        stores: Some(vec!["kv".into()]),
        decay_config: Some(decay()),
        compaction_config: Some(CompactionConfig {
            auto_compact: Some(true),
            threshold: Some(0.5),
            extra: serde_json::Map::new(),
        }),
        ..SessionOptions::new("s")
    })?;
    assert_eq!(session.metadata()?.decay_config, Some(decay()));
    assert_eq!(session.stats()?.size_limit_bytes, 3 << 19);
    assert_eq!(session.stats()?.durability, "os");
    session.kv().set("a", "b")?;
    assert!(session.kv().get("a").is_err(), "a cap of 0 keeps nothing");
    let error = session.add(Entry::new("finding", "tea".repeat(500))).unwrap_err();
    assert_eq!((error.limit(), error.size() > Some(1500)), (Some(1000), true));
    let read: StoreConfig = serde_json::from_value(serde_json::to_value(config())?)?;
    assert_eq!(read, config());
    Ok(())
}

#[test]
fn the_library_takes_every_option_of_looking_after_a_session() -> Outcome {
    let directory = Directory::new();
    let store = Store::open("memory:")?;
    let session = store.session("s")?;
    session.add(Entry::new("finding", "tea"))?;
    session.add(Entry::new("finding", "coffee").importance(0.0))?;
    let extra = serde_json::Map::new;
    assert!(session.verify(VerifyOptions { deep: Some(true), extra: extra() })?.ok);
    let repair = RepairOptions { dry_run: Some(true), accept_edits: Some(true), extra: extra() };
    assert!(!session.repair(repair)?.changed);
    let compact = CompactOptions { dry_run: Some(true), evict_below: Some(2.0), extra: extra() };
    assert_eq!(session.compact(compact)?.dropped.evicted, 2);
    assert!(!session.purge(PurgeOptions { dry_run: Some(true), extra: extra() })?.changed);
    assert!(!session.migrate(MigrateOptions { dry_run: Some(true), extra: extra() })?.changed);
    let file = directory.join("export.json");
    for _ in 0..2 {
        let export = ExportOptions {
            format: Some("json".into()),
            query: Some(Query::text("tea")),
            overwrite: Some(true),
            extra: extra(),
        };
        let report = session.export_file(&file, export)?;
        assert_eq!((report.entries, report.format.as_str()), (1, "json"));
    }
    let import = ImportOptions { format: Some("json".into()), dry_run: Some(true), extra: extra() };
    assert_eq!(session.import_file(&file, import)?.existing, 1);
    Ok(())
}

#[test]
fn the_library_takes_every_option_of_looking_after_a_store() -> Outcome {
    let directory = Directory::new();
    let store = Store::open(directory.join("store"))?;
    for user in ["ann", "bob"] {
        let session = store.session(SessionOptions::new(user).user(user).agent("cook"))?;
        let entry = Entry::new("message", "x").timestamp("2026-01-10T10:00:00Z");
        session.add(entry.usage(412, 9, 0.5))?;
    }
    let extra = serde_json::Map::new;
    let usage = store.usage(UsageFilter {
        user_id: Some("ann".into()),
        agent_id: Some("cook".into()),
        session_ids: Some(vec!["ann".into()]),
        time: Some(Time {
            start: Some("2026-01-10T00:00:00Z".into()),
            end: Some("2026-01-11T00:00:00Z".into()),
            last: None,
        }),
        extra: extra(),
    })?;
    assert_eq!((usage.total.entries, usage.total.input_tokens), (1, 412));
    assert_eq!((usage.total.output_tokens, usage.total.cost_usd), (9, 0.5));
    assert_eq!(usage.sessions[0].session_id, "ann");
    assert_eq!(
        (usage.agents[0].agent_id.as_str(), usage.users[0].user_id.as_str()),
        ("cook", "ann")
    );
    assert_eq!((usage.days[0].day.as_str(), usage.days[0].input_tokens), ("2026-01-10", 412));
    let filter = SessionFilter {
        user_id: Some("bob".into()),
        agent_id: Some("cook".into()),
        limit: Some(1),
        after: None,
        rescan: Some(true),
        extra: extra(),
    };
    assert_eq!(store.sessions(&filter)?.sessions[0].session_id, "bob");
    assert_eq!(store.all_sessions(&filter)?.count(), 1);
    let sessions = || Some(vec!["ann".into()]);
    let backup = directory.join("backup");
    let options =
        BackupOptions { sessions: sessions(), delete_missing: Some(false), extra: extra() };
    let report = store.backup(&backup, options)?;
    assert_eq!((report.copied, report.problems.len()), (1, 0));
    let options = RestoreOptions {
        sessions: sessions(),
        overwrite: Some(true),
        tombstones_from: Some(backup.to_string_lossy().into_owned()),
        extra: extra(),
    };
    let report = store.restore(&backup, options)?;
    assert_eq!((report.replaced, report.bytes > 0), (1, true));
    Ok(())
}

#[test]
fn the_library_takes_every_member_of_a_request() -> Outcome {
    let store = Store::open("memory:")?;
    let session = store.session("s")?;
    let id = session.add(Entry::new("finding", "tea"))?;
    let request = ContextRequest {
        question: Some("tea?".into()),
        retrieve: Some(vec![
            Retrieval { recency: Some(1), ..Retrieval::default() },
            Retrieval { importance: Some(1), ..Retrieval::default() },
            Retrieval { query: Some(Query::text("tea")), ..Retrieval::default() },
            Retrieval { types: Some(vec!["finding".into()]), ..Retrieval::default() },
        ]),
        rank: Some(vec![
            Measure { temporal: Some(0.5), ..Measure::default() },
            Measure { importance: Some(0.0), ..Measure::default() },
            Measure { r#match: Some(1.0), ..Measure::default() },
        ]),
        across: Some(Across::default()),
        budget: Some(Budget { max_tokens: Some(100), reserve_tokens: Some(10) }),
        keep_together: Some(false),
        pinned: vec![id.clone()],
        exclude_ids: vec!["other".into()],
        format: Some("plain".into()),
        now: Some("2026-01-10T10:00:00Z".into()),
        extra: serde_json::Map::new(),
    };
    assert_eq!(session.context(request)?.items[0].id, id);
    Ok(())
}

#[test]
fn what_a_model_call_used_is_of_the_entry_and_its_session() -> Outcome {
    let session = Store::open("memory:")?.session("s")?;
    let odd =
        json!({"type": "finding", "content": 1, "usage": {"input_tokens": "many", "model": 7}});
    let ids = session.add_batch(
        vec![serde_json::to_value(Entry::new("a", 1).usage(5, 6, 0.5))?, odd]
            .into_iter()
            .map(serde_json::from_value)
            .collect::<Result<Vec<Entry>, _>>()?,
    )?;
    let entry = session.get(&ids[0])?;
    assert_eq!(entry.batch.map(|place| (place.index, place.count)), Some((0, 2)));
    assert_eq!(entry.usage.ok_or("used")?.output_tokens, Some(6));
    let odd = session.get(&ids[1])?.usage.ok_or("used")?;
    assert_eq!((odd.input_tokens, &odd.extra["model"]), (None, &json!(7)));
    let stats = session.stats()?;
    assert_eq!((stats.usage.input_tokens, stats.usage.cost_usd), (5, 0.5));
    let expiring = session.get(&session.add(Entry::new("finding", 1).ttl_seconds(60.0))?)?;
    assert!(expiring.expires_at > expiring.timestamp && expiring.ttl_seconds.is_none());
    let memory = session.store().memory(())?;
    memory.record("talk", json!({"role": "user", "content": "tea", "tags": ["drinks"]}))?;
    let recollection = memory.context("talk", 0)?;
    let said = &recollection.entries[0];
    assert_eq!((said.role.as_deref(), said.kind.as_str()), (Some("user"), "message"));
    assert_eq!((said.session_id.as_deref(), said.tags.len()), (Some("talk"), 1));
    assert!(!said.id.is_empty() && said.extra.is_empty());
    Ok(())
}
