//! What this crate costs on top of the C calls and of serde_json.
//!
//! cargo bench --bench cost              each figure beside what it is compared with
//! cargo bench --bench cost -- rounds    100,000 times open and close; memory and descriptors
use std::fs;
use std::hint::black_box;
use std::ptr;
use std::time::Instant;

use serde_json::{json, Value};
use varve::{Entry, Query, Session, Store};

const BATCHES: usize = 41;
const ROUNDS: u32 = 100_000;

fn main() -> varve::Result<()> {
    if std::env::args().any(|argument| argument == "rounds") {
        return rounds();
    }
    let store = Store::open("memory:")?;
    let session = store.session("cost")?;
    let words = ["kettle", "tea", "cup", "spoon", "water", "sugar", "milk"];
    for number in 0..1000 {
        let text = format!("{} {} number {number}", words[number % 7], words[number % 5]);
        let content = json!({"person": "Ann", "message": text, "round": number});
        session.add(Entry::new("finding", content).id(format!("e{number}")).tags(["a", "b.c"]))?;
    }
    println!("a call, ns                         raw    here   ratio");
    calls(&session)?;
    println!("results to values, us            Value   typed   ratio");
    for limit in [10, 100, 1000] {
        results(&session, limit)?;
    }
    Ok(())
}

/// Medians of the times of two things, one call each, in turns.
fn compare(name: &str, calls: u32, unit: f64, mut one: impl FnMut(), mut other: impl FnMut()) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        first.push(time(calls, &mut one));
        second.push(time(calls, &mut other));
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] / unit
    };
    let (first, second) = (median(&mut first), median(&mut second));
    println!("{name:28} {first:9.1} {second:7.1} {:7.2}", second / first);
}

fn time(calls: u32, work: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| work());
    start.elapsed().as_nanos() as f64 / f64::from(calls)
}

fn calls(session: &Session) -> varve::Result<()> {
    let (api, handle) = (varve::Library::get()?.api(), session.as_raw());
    let found = session.query_json(Query::all().limit(10))?;
    let query = r#"{"ids":["e7"]}"#;
    let count = || unsafe {
        let mut count = 0;
        let (text, error) = (query.as_ptr().cast(), ptr::null_mut());
        black_box((api.varve_session_count)(handle, text, query.len(), &mut count, error));
    };
    compare("count", 2000, 1.0, count, || {
        black_box(session.count(query).ok());
    });
    let get = |id: &str| unsafe {
        let (mut text, mut length, mut error) = (ptr::null_mut(), 0, ptr::null_mut());
        let (start, given) = (id.as_ptr().cast(), id.len());
        let get = api.varve_session_get;
        black_box(get(handle, start, given, &mut text, &mut length, &mut error));
        (api.varve_free)(text.cast());
        (api.varve_error_free)(error);
    };
    compare(
        "get_json, 300 bytes",
        2000,
        1.0,
        || get("e7"),
        || {
            black_box(session.get_json("e7").ok());
        },
    );
    let get_value = || {
        let text = session.get_json("e7").unwrap_or_default();
        black_box(serde_json::from_str::<Value>(&text).ok());
    };
    compare("get, against get and Value", 2000, 1.0, get_value, || {
        black_box(session.get("e7").ok());
    });
    compare(
        "get_json, not found",
        2000,
        1.0,
        || get("nobody"),
        || {
            black_box(session.get_json("nobody").err());
        },
    );
    let length = || {
        // SAFETY: any handle is fine.
        black_box(unsafe { (api.varve_session_id)(handle) });
    };
    compare("id", 20_000, 1.0, length, || {
        black_box(session.id());
    });
    black_box(found.len());
    Ok(())
}

fn results(session: &Session, limit: u64) -> varve::Result<()> {
    let found = session.query_json(Query::text("kettle tea cup").limit(limit))?;
    let json = found.json()?;
    let name = format!("{} results, {} KiB", found.len(), json.len() / 1024);
    let calls = (20_000 / limit) as u32;
    compare(
        &name,
        calls,
        1000.0,
        || {
            black_box(serde_json::from_str::<Value>(json).ok());
        },
        || {
            black_box(found.parse().ok());
        },
    );
    Ok(())
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn rounds() -> varve::Result<()> {
    let directory = std::env::temp_dir().join(format!("varve-rounds-{}", std::process::id()));
    let _kept = Store::open(&directory)?.session("kept")?.add(Entry::new("finding", "kettle"))?;
    let round = || -> varve::Result<()> {
        let store = Store::open(&directory)?;
        store.set_log(varve::LogLevel::Error, |_, _| ())?;
        let session = store.open_session("kept")?;
        black_box(session.query_json(())?.len());
        Ok(())
    };
    (0..ROUNDS / 10).try_for_each(|_| round())?;
    let (files, memory, start) = (descriptors(), resident_kib(), Instant::now());
    (0..ROUNDS).try_for_each(|_| round())?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{ROUNDS} rounds in {seconds:.0} s: {} KiB more, {} descriptors more",
        resident_kib() as i64 - memory as i64,
        descriptors() as i64 - files as i64
    );
    let _ = fs::remove_dir_all(&directory);
    Ok(())
}
