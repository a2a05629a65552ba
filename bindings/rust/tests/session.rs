//! Sessions: entries added, found, changed, looked after.
mod common;

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use common::{Directory, Outcome};
use serde_json::{json, Value};
use varve::{Document, Entry, ErrorKind, Json, Order, Query, Session, SortBy, Store};

fn session() -> varve::Result<Session> {
    Store::open("memory:")?.session("test") // the session keeps its store open
}

#[test]
fn an_entry_comes_back_with_all_its_members() -> Outcome {
    let session = session()?;
    let given = Entry::new("decision", json!({"use": "code flow", "steps": [1, 2.5, null]}))
        .id("flow")
        .tags(["oauth2", "security.authentication"])
        .importance(0.9)
        .timestamp("2026-01-05T10:05:00+01:00")
        .expires_at("2099-01-01T00:00:00Z")
        .reference("ask")
        .relation("caused_by", "ask")
        .trace("trace-7")
        .member("mood", json!({"of": ["mine"]}));
    assert_eq!(session.add(&given)?, "flow");
    let stored = session.get("flow")?;
    assert_eq!(stored.timestamp.as_deref(), Some("2026-01-05T09:05:00.000Z"));
    assert_eq!(stored.expires_at.as_deref(), Some("2099-01-01T00:00:00.000Z"));
    assert_eq!((stored.seq, stored.schema_version, stored.batch), (Some(1), Some(1), None));
    let same = Entry {
        timestamp: given.timestamp.clone(),
        expires_at: given.expires_at.clone(),
        decay_factor: None,
        session_id: None,
        seq: None,
        checksum: None,
        schema_version: None,
        ..stored.clone()
    };
    assert_eq!(same, given);
    // Nothing of the line is lost on the way through the type.
    let mut line: Value = serde_json::from_str(&session.get_json("flow")?)?;
    line["decay_factor"] = 1.0.into(); // stored as 1, which is the same number
    assert_eq!(serde_json::to_value(&stored)?, line);
    Ok(())
}

#[test]
fn an_odd_member_hides_no_entry() -> Outcome {
    let members = [r#""decay_factor":"1""#, r#""session_id":5"#, r#""span_id":[5]"#, r#""role":5"#];
    for member in members {
        let directory = Directory::new();
        let folder = directory.join("sessions/s");
        fs::create_dir_all(&folder)?;
        let line = |id: &str, members: &str| {
            let time = "2026-01-01T00:00:00Z";
            format!(r#"{{"id":"{id}","type":"finding","content":1,"timestamp":"{time}"{members}}}"#)
                + "\n"
        };
        let odd = line("odd", &format!(r#",{member},"importance":0.75"#));
        fs::write(folder.join("memory.jsonl"), line("first", "") + &odd + &line("last", ""))?;
        let store = Store::open(directory.path())?;
        assert_eq!(store.memory(())?.context("s", 0)?.entries.len(), 3, "{member}");
        let session = store.open_session("s")?;
        let page = session.query(Query::all().sort_by(SortBy::Importance))?;
        assert_eq!(page.len(), 3, "{member}");
        let entry = &page[0].entry;
        assert_eq!((entry.id.as_str(), entry.importance), ("odd", Some(0.75)));
        assert_eq!((&entry.span_id, &entry.session_id), (&None, &None));
        assert_eq!(entry.decay_factor, None);
        assert_eq!(&session.get("odd")?, entry);
        assert!(session.get_json("odd")?.contains(member));
    }
    Ok(())
}

#[test]
fn a_whole_number_by_hand_may_have_a_point_or_an_exponent() -> Outcome {
    let directory = Directory::new();
    let folder = directory.join("sessions/s");
    fs::create_dir_all(&folder)?;
    let line = r#"{"id":"odd","type":"finding","content":1,"timestamp":"2026-01-01T00:00:00Z","#
        .to_owned()
        + r#""seq":2e0,"schema_version":1.0,"batch":{"i":0.0,"n":1.0e0},"#
        + r#""usage":{"input_tokens":5e0,"output_tokens":0.5}}"#;
    fs::write(folder.join("memory.jsonl"), line + "\n")?;
    let session = Store::open(directory.path())?.open_session("s")?;
    let entry = session.get("odd")?;
    assert_eq!((entry.seq, entry.schema_version), (Some(2), Some(1)));
    let batch = entry.batch.ok_or("of a batch")?;
    assert_eq!((batch.index, batch.count), (0, 1));
    let usage = entry.usage.as_ref().ok_or("used")?;
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(5), None));
    assert_eq!(session.query(Query::all())?[0].entry, entry);
    Ok(())
}

#[test]
fn content_is_read_and_written_as_a_type_of_ones_own() -> Outcome {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Kettle {
        litres: f64,
        owner: Option<String>,
    }
    let session = session()?;
    let kettle = Kettle { litres: 1.7, owner: None };
    let id = session.add(Entry::with_content("observation", &kettle)?)?;
    assert_eq!(session.get(&id)?.content_as::<Kettle>()?, kettle);
    let error = session.get(&id)?.content_as::<Vec<u8>>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Json);
    assert!(std::error::Error::source(&error).is_some());
    Ok(())
}

#[test]
fn an_odd_member_hides_no_metadata() -> Outcome {
    for (name, odd) in
        [("title", json!(5)), ("user_id", json!({"a": 1})), ("created_at", json!([]))]
    {
        let directory = Directory::new();
        let file = directory.join("sessions/s/metadata.json");
        let store = Store::open(directory.path())?;
        let given = json!({"session_id": "s", "agent_id": "cook"});
        store.create_session(given)?.add(Entry::new("finding", "tea"))?;
        drop(store);
        let mut members: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        members[name] = odd.clone();
        members["mine"] = json!([1, {"deep": null}]);
        fs::write(&file, members.to_string())?;

        let metadata = Store::open(directory.path())?.open_session("s")?.metadata()?;
        assert_eq!((metadata.session_id.as_str(), metadata.total_entries), ("s", 1), "{name}");
        assert_eq!(metadata.agent_id.as_deref(), Some("cook"));
        assert_eq!(metadata.extra["mine"], members["mine"]);
        assert_eq!(metadata.to_value()?[name], odd);
    }
    Ok(())
}

#[test]
fn repair_tells_of_lost_metadata() -> Outcome {
    let directory = Directory::new();
    Store::open(directory.path())?.session("s")?.add(Entry::new("finding", "tea"))?;
    fs::remove_file(directory.join("sessions/s/metadata.json"))?;
    let session = Store::open(directory.path())?.open_session("s")?;
    assert!(session.repair(())?.metadata_lost);
    assert!(!session.repair(())?.metadata_lost);
    Ok(())
}

#[test]
fn a_batch_is_all_or_nothing() -> Outcome {
    let session = session()?;
    let lines = "{\"type\":\"finding\",\"content\":1}\n{\"type\":\"finding\",\"content\":2}\n";
    assert_eq!(session.add_batch(lines)?.len(), 2);
    let bad = [Entry::new("finding", 3), Entry::new("NOT A TYPE", 4)];
    let error = session.add_batch(&bad[..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.member().as_deref(), Some("[1].type"));
    assert_eq!(session.count(())?, 2);
    Ok(())
}

#[test]
fn queries_find_sort_page_and_explain() -> Outcome {
    let session = session()?;
    for number in 0..25 {
        let entry = Entry::new("finding", format!("kettle number {number}"))
            .timestamp(format!("2026-01-01T00:00:{number:02}Z"))
            .tag(if number % 2 == 0 { "even.small" } else { "odd" });
        session.add(entry)?;
    }
    let query = Query::text("kettle").tag("even").sort_by(SortBy::Time).order(Order::Asc).limit(5);
    let contents: Vec<Value> =
        session.pages(query).map(|hit| Ok(hit?.entry.content)).collect::<varve::Result<_>>()?;
    assert_eq!(contents.len(), 13);
    assert_eq!(contents[12], "kettle number 24");

    let results = session.query(Query::text("kettle").without_tag("odd").explain())?;
    assert!(results.explain.is_some() && results[0].explain.is_some());
    assert!(results.iter().all(|hit| hit.relevance > 0.0 && hit.session_id == "test"));

    let range = Query::all().since("2026-01-01T00:00:05Z").before("2026-01-01T00:00:08Z");
    assert_eq!(session.count(&range)?, 3);
    let all = Query::all().tag("even").tag("small").all_tags();
    assert_eq!(session.count(all)?, 0);
    assert_eq!(session.count(Query::all().types(["decision"]))?, 0);
    let tags = session.tags()?;
    assert!(tags.tags.iter().any(|each| each.tag == "even" && each.entries == 13));
    Ok(())
}

#[test]
fn raw_results_are_borrowed_and_outlive_the_session() -> Outcome {
    let results = {
        let session = session()?;
        for number in 0..3 {
            session.add(Entry::new("finding", number))?;
        }
        session.query_json(Query::all().sort_by(SortBy::Time))?
    };
    assert_eq!(results.len(), 3);
    let seen: Vec<&str> = results.entries().rev().collect::<varve::Result<_>>()?;
    assert!(seen[0].contains("\"content\":0"), "{seen:?}");
    assert!(results.relevance(2)? > 0.0);
    assert_eq!(results.entry_json(3).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(results.json()?, results.json()?);
    std::thread::spawn(move || assert_eq!(results.parse().map(|all| all.len()).ok(), Some(3)))
        .join()
        .expect("results move to another thread");
    Ok(())
}

#[test]
fn a_mistake_in_a_query_is_told_with_its_place() -> Outcome {
    let session = session()?;
    let error = session.query(r#"{"limit": "ten"}"#).unwrap_err();
    assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidArgument, 1));
    assert_eq!(error.member().as_deref(), Some("limit"));
    assert!(error.offset().is_some() && error.to_string().contains("limit"), "{error:?}");
    let io: std::io::Error = error.into();
    assert_eq!(io.kind(), std::io::ErrorKind::InvalidInput);
    let mut pages = session.pages(Query::all().member("colour", "blue"));
    assert!(pages.next().expect("an error").is_err());
    assert!(pages.next().is_none());
    Ok(())
}

#[test]
fn deleting_hides_and_purging_erases() -> Outcome {
    let directory = Directory::new();
    let store = Store::open(directory.path())?;
    let session = store.session("kitchen")?;
    session.add(Entry::new("finding", "a secret of Ann's").id("secret"))?;
    session.add(Entry::new("finding", "a secret of Bob's").id("other"))?;
    session.add(Entry::new("finding", "tea"))?;
    session.delete("secret", "asked to")?;
    assert_eq!(session.delete("secret", "").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(session.delete_where(Query::text("secret"), "all of them")?, 1);
    let audit = fs::read_to_string(directory.join("sessions/kitchen/tombstones.jsonl"))?;
    assert!(audit.contains("asked to") && audit.contains("all of them"), "{audit}");
    assert_eq!(session.compact(json!({"dry_run": true}))?.dropped.deleted, 2);
    let report = session.purge(())?;
    assert_eq!((report.entries_before, report.entries_after, report.changed), (3, 1, true));
    for file in &session.files()?.files {
        let path = directory.join("sessions/kitchen").join(&file.name);
        assert!(!String::from_utf8_lossy(&fs::read(path)?).contains("secret of"), "{file:?}");
    }
    Ok(())
}

#[test]
fn a_purge_also_erases_what_was_damaged_and_a_compaction_does_not() -> Outcome {
    let directory = Directory::new();
    let session = Store::open(directory.path())?.session("s")?;
    session.add(Entry::new("finding", "tea"))?;
    let log = directory.join("sessions/s/memory.jsonl");
    fs::write(&log, fs::read_to_string(&log)?.replace("tea", "ate"))?;
    assert_eq!(session.repair(())?.quarantined, 1);
    let quarantine = directory.join("sessions/s/quarantine.jsonl");
    session.compact(())?;
    assert!(quarantine.exists());
    session.purge(())?;
    assert!(!quarantine.exists());
    Ok(())
}

#[test]
fn deleting_by_nothing_is_refused() -> Outcome {
    let session = session()?;
    session.add(Entry::new("finding", "tea"))?;
    let empty = Query { content: Some(serde_json::Map::new()), ..Query::all() };
    let refused = [session.delete_where((), ""), session.delete_where(empty, "")];
    for answer in refused {
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    assert_eq!(session.delete_where(Query::all(), "")?, 1);
    Ok(())
}

#[test]
fn maintenance_tells_what_it_found_and_did() -> Outcome {
    let directory = Directory::new();
    let store = Store::open(directory.path())?;
    let session = store.session("kitchen")?;
    session.add(Entry::new("finding", "one").id("one"))?;
    session.add(Entry::new("finding", "two").id("two"))?;
    session.sync()?;
    assert!(session.verify(json!({"deep": true}))?.ok);
    let log = directory.join("sessions/kitchen/memory.jsonl");
    fs::write(&log, fs::read_to_string(&log)?.replace("two", "owt"))?;
    let report = session.verify(())?;
    assert_eq!((report.ok, report.damaged), (false, 1));
    assert_eq!(report.problems[0].file, "memory.jsonl");
    assert!(report.json().contains("checked_bytes") && report.extra.is_empty());
    assert_eq!((report.last_seq, report.notes.len()), (1, 0)); // the second cannot be read
    assert_eq!(session.repair(())?.quarantined, 1);
    assert_eq!(session.rebuild_index(())?.entries, 1);
    assert!(!session.migrate(())?.changed);
    assert_eq!(session.stats()?.entries, 1);
    assert!(session.index_json()?.contains("\"one\""));
    let index = session.index()?;
    assert_eq!(
        (index.entries["one"].line_number, &index.types["finding"]),
        (1, &vec!["one".into()])
    );
    Ok(())
}

#[test]
fn metadata_is_patched() -> Outcome {
    let session = session()?;
    session.update(json!({"title": "Tea", "colour": "blue"}))?;
    session.update(Json(std::collections::HashMap::from([("colour", None::<u8>)])))?;
    let metadata = session.metadata()?;
    assert_eq!(metadata.title.as_deref(), Some("Tea"));
    assert!(!metadata.extra.contains_key("colour"));
    assert_eq!(metadata.to_value()?["session_id"], "test");
    Ok(())
}

#[test]
fn entries_leave_and_come_as_text_and_as_files() -> Outcome {
    let directory = Directory::new();
    let first = session()?;
    first.add(Entry::new("finding", "The kettle boils").id("kettle"))?;
    assert!(first.export("markdown")?.contains("The kettle boils"));
    assert_eq!(first.export("jsonl")?.lines().count(), 1);
    assert_eq!(first.export("xml").unwrap_err().kind(), ErrorKind::InvalidArgument);

    let second = session()?;
    let text = format!("{}{{\"type\":\"Not one\"}}\n", first.export("jsonl")?);
    let report = second.import(&text)?;
    assert_eq!((report.added, report.refused_total, report.refused[0].line), (1, 1, 2));

    let file = directory.join("kettle.jsonl");
    assert_eq!(first.export_file(&file, ())?.entries, 1);
    let error = first.export_file(&file, ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(error.path().as_deref(), file.to_str());
    assert_eq!(second.import_file(&file, json!({"dry_run": true}))?.existing, 1);
    Ok(())
}

#[test]
fn a_dry_run_tells_that_not_all_would_fit() -> Outcome {
    let directory = Directory::new();
    let store = Store::open_with("memory:", json!({"storage": {"max_session_size_mb": 1}}))?;
    let line = json!({"type": "finding", "content": "tea ".repeat(150_000)}).to_string() + "\n";
    let file = directory.join("memory.jsonl");
    for (count, exceeds) in [(1, false), (2, true)] {
        fs::write(&file, line.repeat(count))?;
        let report = store.create_session(())?.import_file(&file, json!({"dry_run": true}))?;
        assert_eq!(report.exceeds_limit, exceeds, "{count} lines: {}", report.json());
    }
    Ok(())
}

#[test]
fn an_import_tells_what_went_to_make_room() -> Outcome {
    let store = Store::open_with("memory:", json!({"storage": {"max_session_size_mb": 1}}))?;
    let session = store.create_session(())?;
    let line = json!({"type": "finding", "content": "tea ".repeat(5_000), "importance": 0.1,
                      "timestamp": "2001-01-01T00:00:00Z"})
    .to_string()
        + "\n";
    for (lines, added, evicted) in [(45, 45, 0), (50, 5, 45)] {
        let report = session.import(line.repeat(lines))?;
        assert_eq!((report.added, report.evicted), (added, evicted), "{}", report.json());
    }
    Ok(())
}

#[test]
fn progress_is_told_and_may_stop_the_work() -> Outcome {
    let session = session()?;
    session.add(Entry::new("finding", "x"))?;
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    session.set_progress(move |operation, done, total| {
        assert_eq!(operation, "verify");
        assert!(done <= total);
        counted.fetch_add(1, Ordering::SeqCst);
        true
    })?;
    session.verify(())?;
    assert!(calls.load(Ordering::SeqCst) >= 2);
    session.set_progress(|_, _, _| false)?;
    assert_eq!(session.verify(()).unwrap_err().kind(), ErrorKind::Callback);
    session.clear_progress()?;
    assert!(session.verify(())?.ok);
    Ok(())
}

#[test]
fn documents_are_what_they_say() -> Outcome {
    let entry = Entry::new("finding", "tea");
    let text = r#"{"type":"finding","content":"tea"}"#;
    assert_eq!(&*entry.to_json()?, text.as_bytes());
    assert_eq!(&*text.to_json()?, text.as_bytes());
    assert_eq!(&*().to_json()?, b"");
    assert_eq!(&*None::<Query>.to_json()?, b"");
    assert_eq!(&*Some(Query::text("tea")).to_json()?, br#"{"text":"tea"}"#);
    let unwritable = Json(std::collections::BTreeMap::from([(vec![1], 1)]));
    assert_eq!(unwritable.to_json().unwrap_err().kind(), ErrorKind::Json);
    Ok(())
}
