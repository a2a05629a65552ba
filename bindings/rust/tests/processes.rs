//! Processes that fork, and processes that end in the middle of a call. Each test that needs a
//! process of its own starts this program again for one test, and tells it by a variable.
mod common;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use common::{Directory, Outcome};
use serde_json::json;
use varve::{Entry, ErrorKind, Query, Store};

const CHILD: &str = "VARVE_TEST_CHILD";

extern "C" {
    fn fork() -> i32;
    fn fcntl(file: i32, command: i32, ...) -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(code: i32) -> !;
}

/// Runs one test of this program in a process of its own.
fn again(test: &str, directory: &Directory) -> Output {
    let program = std::env::current_exe().expect("the path of this program");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(CHILD, directory.path()).output().expect("it runs")
}

#[test]
fn handles_of_the_parent_are_told_apart_after_fork() -> Outcome {
    let Some(path) = std::env::var_os(CHILD) else {
        let directory = Directory::new();
        let output = again("handles_of_the_parent_are_told_apart_after_fork", &directory);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return Ok(());
    };
    let store = Store::open(&path)?;
    let session = store.session("shared")?;
    session.add(Entry::new("finding", "of the parent"))?;
    // SAFETY: the child leaves by _exit, and nothing of this process runs beside it.
    let child = unsafe { fork() };
    if child == 0 {
        let kind = |error: varve::Error| error.kind();
        let refused = session.add(Entry::new("finding", 1)).map_err(kind) == Err(ErrorKind::Forked)
            && session.count(()).map_err(kind) == Err(ErrorKind::Forked)
            && store.session("other").map(drop).map_err(kind) == Err(ErrorKind::Forked);
        drop((session, store)); // closes nothing of the parent's
        let own = Store::open(&path).and_then(|store| store.session("shared"));
        let added = own.and_then(|session| session.add(Entry::new("finding", "of the child")));
        // SAFETY: ends this process at once.
        unsafe { _exit(i32::from(!refused) + 2 * i32::from(added.is_err())) };
    }
    let mut status = -1;
    // SAFETY: waits for the process made above.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "what the child saw");
    assert_eq!(session.count(())?, 2);
    Ok(())
}

#[test]
fn a_process_that_ends_during_calls_loses_nothing_acknowledged() -> Outcome {
    let Some(path) = std::env::var_os(CHILD) else {
        let directory = Directory::new();
        let output =
            again("a_process_that_ends_during_calls_loses_nothing_acknowledged", &directory);
        assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
        let told = String::from_utf8(output.stdout)?;
        let ids: Vec<_> = told.lines().filter_map(|line| line.strip_prefix("added ")).collect();
        assert!(ids.len() >= 100, "{told}");
        let session = Store::open(directory.path())?.open_session("busy")?;
        for id in &ids {
            assert_eq!(session.get(id)?.id, *id);
        }
        // The end may have cut a line short that nobody was told of: the next write removes it.
        session.add(Entry::new("finding", "the next"))?;
        let report = session.verify(())?;
        assert!(report.ok, "{}", report.json());
        return Ok(());
    };
    let session = Store::open_with(path, json!({"durability": "os"}))?.session("busy")?;
    for _ in 0..4 {
        let session = session.clone();
        thread::spawn(move || loop {
            let id = session.add(Entry::new("finding", "one more")).expect("added");
            // One write: the lines of several threads do not mix.
            let _ = std::io::stdout().write_all(format!("added {id}\n").as_bytes());
        });
    }
    while session.count(())? < 200 {
        thread::yield_now();
    }
    std::process::exit(7)
}

const ENTRIES: u32 = 300;

/// Lets a worker add its entries, and kills it with SIGKILL whenever it has told of so many more.
/// Gives every id that it told of.
fn killed_over_and_over(directory: &Path, prefix: &str, every: usize) -> HashSet<String> {
    let mut acknowledged = HashSet::new();
    loop {
        let mut command = Command::new(common::example("worker"));
        command.arg(directory).args(["shared", prefix, &ENTRIES.to_string()]);
        let mut worker = command.stdout(Stdio::piped()).spawn().expect("the worker runs");
        let lines = BufReader::new(worker.stdout.take().expect("its output")).lines();
        let mut fresh = 0;
        for line in lines {
            fresh += usize::from(acknowledged.insert(line.expect("an id")));
            if fresh == every {
                worker.kill().expect("killed");
                fresh += 1; // what it told of before it died is read to the end
            }
        }
        if worker.wait().expect("its end").success() {
            return acknowledged;
        }
        assert!(fresh > 0, "a worker that was not killed failed");
    }
}

#[test]
fn what_killed_processes_acknowledged_is_there_exactly_once() -> Outcome {
    let directory = Directory::new();
    let session = Store::open(directory.path())?.session("shared")?;
    let told: Vec<HashSet<String>> = thread::scope(|scope| {
        let start = |number: usize| {
            let path = directory.path();
            scope.spawn(move || killed_over_and_over(path, &format!("w{number}"), 60 + 17 * number))
        };
        let workers: Vec<_> = (0..4).map(start).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    for ids in &told {
        assert_eq!(ids.len() as u32, ENTRIES);
    }
    let mut found = HashSet::new();
    for hit in session.pages(Query::all().limit(500)) {
        let id = hit?.entry.id;
        assert!(found.insert(id.clone()), "{id} is there twice");
    }
    assert_eq!(found, told.into_iter().flatten().collect());
    let report = session.verify(json!({"deep": true}))?;
    assert!(report.ok, "{}", report.json());
    Ok(())
}

/// `struct flock` of Linux on 64 bits.
#[repr(C)]
struct FileLock {
    kind: i16,
    whence: i16,
    start: i64,
    length: i64,
    process: i32,
}

const F_OFD_SETLK: i32 = 37;
const F_WRLCK: i16 = 1;

#[test]
fn a_lock_that_another_process_holds_is_busy() -> Outcome {
    let directory = Directory::new();
    let impatient = json!({"concurrency": {"lock_timeout_ms": 0}});
    let session = Store::open_with(directory.path(), impatient)?.session("s")?;
    session.add(Entry::new("finding", "before"))?;
    // The lock of an open file: it keeps out whoever did not open this one.
    let path = directory.path().join("sessions/s/lock");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&path)?;
    let lock = FileLock { kind: F_WRLCK, whence: 0, start: 0, length: 1, process: 0 };
    // SAFETY: the file is open, and the lock lives during the call.
    assert_eq!(unsafe { fcntl(file.as_raw_fd(), F_OFD_SETLK, &lock) }, 0);
    let error = session.add(Entry::new("finding", "meanwhile")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert_eq!(error.path().as_deref(), path.to_str());
    drop(file);
    session.add(Entry::new("finding", "after"))?;
    assert_eq!(session.count(())?, 2);
    Ok(())
}
