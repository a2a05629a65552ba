//! The operations, each as a user of this crate would write it.
use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{json, Value};
use varve::{ErrorKind, Library, LogLevel, Memory, RawResults, Session, Store, Window};

use crate::arguments::{exact_value, Arguments, Variable, Variables};
use crate::members;

/// What a step gave: its value, and the handle if it gives one.
pub struct Done {
    pub value: Value,
    pub keep: Option<Variable>,
}

pub type Answer = Result<Done, varve::Error>;

/// One case on its way.
#[derive(Default)]
pub struct Run {
    pub variables: Variables,
    order: Vec<String>,
    clocks: HashMap<String, Arc<AtomicI64>>,
    logs: HashMap<String, Arc<Mutex<Vec<Value>>>>,
}

pub fn status_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidArgument => "VARVE_INVALID_ARGUMENT",
        ErrorKind::NotFound => "VARVE_NOT_FOUND",
        ErrorKind::AlreadyExists => "VARVE_ALREADY_EXISTS",
        ErrorKind::SizeLimit => "VARVE_SIZE_LIMIT",
        ErrorKind::BadHandle => "VARVE_BAD_HANDLE",
        ErrorKind::ReadOnly => "VARVE_READ_ONLY",
        ErrorKind::Busy => "VARVE_BUSY",
        ErrorKind::Unsupported => "VARVE_UNSUPPORTED",
        ErrorKind::Io => "VARVE_IO",
        ErrorKind::NoSpace => "VARVE_NO_SPACE",
        ErrorKind::NoMemory => "VARVE_NO_MEMORY",
        ErrorKind::Corruption => "VARVE_CORRUPTION",
        ErrorKind::FormatVersion => "VARVE_FORMAT_VERSION",
        ErrorKind::Callback => "VARVE_CALLBACK",
        ErrorKind::Forked => "VARVE_FORKED",
        ErrorKind::Internal => "VARVE_INTERNAL",
        _ => "no status of the library",
    }
}

fn value(value: impl Into<Value>) -> Answer {
    Ok(Done { value: value.into(), keep: None })
}

fn nothing(_: ()) -> Answer {
    value(Value::Null)
}

fn document(text: impl AsRef<str>) -> Answer {
    value(exact_value(text.as_ref())?)
}

fn handle(variable: Variable) -> Answer {
    Ok(Done { value: Value::Null, keep: Some(variable) })
}

/// What a call on a handle answers that this crate does not let anybody use any more.
fn closed() -> Answer {
    let store = Store::open("memory:")?;
    store.close();
    store.sync().and_then(|()| value("a closed store was synced"))
}

/// Runs typed code, and answers with the same answer's JSON.
macro_rules! report {
    ($call:expr) => {
        $call.and_then(|answer| {
            members::note(&*answer, answer.json());
            document(answer.json())
        })
    };
}

impl Run {
    pub fn save(&mut self, name: &str, variable: Variable) {
        self.order.push(name.to_owned());
        self.variables.insert(name.to_owned(), variable);
    }

    pub fn unnamed(&mut self, variable: Variable) {
        if !matches!(variable, Variable::Value(_)) {
            self.save(&format!("unnamed {}", self.order.len()), variable);
        }
    }

    /// Closes what is still open, last opened first.
    pub fn finish(&mut self) {
        for name in std::mem::take(&mut self.order).into_iter().rev() {
            self.variables.remove(&name);
        }
    }

    /// The outer error is the runner's: it does not know the operation, or its arguments.
    pub fn operation(&mut self, op: &str, args: &mut Arguments) -> Result<Answer, String> {
        if let Some(answer) = self.helper(op, args)? {
            return Ok(answer);
        }
        let library = Library::get().map_err(|error| error.to_string())?;
        let name = match op {
            "abi_version" => return Ok(value(library.abi_version())),
            "version" => return Ok(value(library.version())),
            "status_name" => {
                let number = args.take("status").as_i64().ok_or("status is no number")?;
                return Ok(value(library.status_name(number as i32)));
            }
            "store_open" => {
                let (uri, config) = (args.text("uri")?, args.document("config_json")?);
                let opened = Store::open_with(uri, config);
                return Ok(opened.and_then(|store| handle(Variable::Store(store))));
            }
            "window_new" => {
                let opened = Window::new(args.number("capacity")? as usize);
                return Ok(opened.and_then(|window| handle(Variable::Window(window))));
            }
            "session_create" | "session_open" | "memory_open" => "store",
            _ if op.starts_with("store_") => "store",
            _ if op.starts_with("results_") => "results",
            _ if op.starts_with("window_") => "window",
            _ if op.starts_with("memory_") => "memory",
            _ => "session",
        };
        let variable = args.name(name)?;
        match self.variables.get(&variable) {
            Some(Variable::Store(store)) => {
                let store = store.clone();
                self.store(op, &variable, &store, args)
            }
            Some(Variable::Session(session)) => session_operation(op, &session.clone(), args),
            Some(Variable::Results(_)) if op == "results_free" => {
                self.variables.insert(variable, Variable::Closed);
                Ok(nothing(()))
            }
            Some(Variable::Results(results)) => results_operation(op, results, args),
            Some(Variable::Window(_)) if op == "window_free" => {
                self.variables.insert(variable, Variable::Closed);
                Ok(nothing(()))
            }
            Some(Variable::Window(window)) => window_operation(op, window, args),
            Some(Variable::Memory(memory)) => memory_operation(op, &memory.clone(), args),
            Some(Variable::Closed) => closed_operation(op, args),
            _ => Err(format!("{variable} is no handle")),
        }
    }

    fn store(
        &mut self,
        op: &str,
        name: &str,
        store: &Store,
        args: &mut Arguments,
    ) -> Result<Answer, String> {
        Ok(match op {
            "store_close" => {
                store.close();
                nothing(())
            }
            "store_sync" => store.sync().and_then(nothing),
            "store_sessions" => report!(store.sessions(args.document("filter_json")?)),
            "store_delete_session" => store.delete_session(&args.text("id")?).and_then(nothing),
            "store_query" => results(store.query_json(args.document("query_json")?)),
            "store_backup" => {
                report!(store.backup(args.text("path")?, args.document("options_json")?))
            }
            "store_restore" => {
                report!(store.restore(args.text("path")?, args.document("options_json")?))
            }
            "store_sweep" => report!(store.sweep()),
            "store_usage" => report!(store.usage(args.document("filter_json")?)),
            "store_stats" => report!(store.stats()),
            "store_metrics" => store.metrics().and_then(value),
            "store_set_log" => self.set_log(name, store, args.number("level")?)?,
            "store_set_token_counter" => {
                let counter = args.take("counter");
                match counter.as_str() {
                    Some("bytes") => store.set_token_counter(|text| text.len() as u64),
                    Some("failing") => store.set_token_counter(|_| panic!("the counter fails")),
                    None if counter.is_null() => store.clear_token_counter(),
                    _ => return Err(format!("the counter {counter} is not known")),
                }
                .and_then(nothing)
            }
            "memory_open" => store
                .memory(args.document("options_json")?)
                .and_then(|memory| handle(Variable::Memory(memory))),
            "store_set_clock" => store.clear_clock().and_then(nothing),
            "session_create" => store
                .create_session(args.document("options_json")?)
                .and_then(|session| handle(Variable::Session(session))),
            "session_open" => store
                .open_session(&args.text("id")?)
                .and_then(|session| handle(Variable::Session(session))),
            _ => return Err("the operation is not known".into()),
        })
    }

    fn set_log(&mut self, name: &str, store: &Store, level: u64) -> Result<Answer, String> {
        if level == 4 {
            return Ok(store.clear_log().and_then(nothing));
        }
        let level = match LogLevel::try_from(level as i32) {
            Ok(level) => level,
            Err(error) => return Ok(Err(error)),
        };
        let lines = self.logs.entry(name.to_owned()).or_default().clone();
        let keep = move |level: LogLevel, line: &str| {
            let line: Value = serde_json::from_str(line).unwrap_or_else(|_| line.into());
            lines.lock().expect("lines").push(json!({"level": level as i32, "line": line}));
        };
        Ok(store.set_log(level, keep).and_then(nothing))
    }

    fn helper(&mut self, op: &str, args: &mut Arguments) -> Result<Option<Answer>, String> {
        let path = |args: &mut Arguments| args.text("path");
        let failed = |error: std::io::Error| error.to_string();
        Ok(Some(match op {
            "clock" => self.clock(args)?,
            "log_lines" => {
                let lines = self.logs.entry(args.name("store")?).or_default();
                let lines = lines.lock().expect("lines").clone();
                value(lines)
            }
            "file_write" => {
                let (path, text) = (path(args)?, args.text("text")?);
                fs::write(path, text).map_err(failed).map(nothing)?
            }
            "file_read" => fs::read_to_string(path(args)?).map_err(failed).map(value)?,
            "file_replace" => {
                let path = path(args)?;
                let (find, new) = (args.text("find")?, args.text("replace")?);
                let bytes = fs::read(&path).map_err(failed)?;
                let at = bytes.windows(find.len()).position(|part| part == find.as_bytes());
                let at = at.ok_or("find is not in the file")?;
                let changed = [&bytes[..at], new.as_bytes(), &bytes[at + find.len()..]].concat();
                fs::write(path, changed).map_err(failed).map(nothing)?
            }
            _ => return Ok(None),
        }))
    }

    fn clock(&mut self, args: &mut Arguments) -> Result<Answer, String> {
        let name = args.name("store")?;
        let now_ms = args.take("now_ms").as_i64().ok_or("now_ms is no number")?;
        if let Some(clock) = self.clocks.get(&name) {
            clock.store(now_ms, Ordering::SeqCst);
            return Ok(nothing(()));
        }
        let Some(Variable::Store(store)) = self.variables.get(&name) else {
            return Err(format!("{name} is no store"));
        };
        let clock = Arc::new(AtomicI64::new(now_ms));
        self.clocks.insert(name, clock.clone());
        Ok(store.set_clock(move || clock.load(Ordering::SeqCst)).and_then(nothing))
    }
}

/// The document of the results, which must fit the type too; the handle is kept.
fn results(found: varve::Result<RawResults>) -> Answer {
    let found = found?;
    let typed = found.parse()?;
    members::note(&typed, found.json()?);
    let value = exact_value(found.json()?)?;
    assert_eq!(typed.len(), found.len());
    assert_eq!(found.entries().count(), found.len());
    Ok(Done { value, keep: Some(Variable::Results(found)) })
}

fn results_operation(
    op: &str,
    results: &RawResults,
    args: &mut Arguments,
) -> Result<Answer, String> {
    Ok(match op {
        "results_count" => value(results.len()),
        "results_json" => results.json().and_then(document),
        "results_entry" => results.entry_json(args.number("index")? as usize).and_then(document),
        "results_next" => results.next().and_then(value),
        "results_score" => results.relevance(args.number("index")? as usize).and_then(value),
        _ => return Err("the operation is not known".into()),
    })
}

fn session_operation(op: &str, session: &Session, args: &mut Arguments) -> Result<Answer, String> {
    Ok(match op {
        "session_close" => {
            session.close();
            nothing(())
        }
        "session_sync" => session.sync().and_then(nothing),
        "session_id" => value(session.id()),
        "session_metadata" => report!(session.metadata()),
        "session_stats" => report!(session.stats()),
        "session_files" => report!(session.files()),
        "session_tags" => report!(session.tags()),
        "session_index" => report!(session.index()),
        "session_update" => session.update(args.document("patch_json")?).and_then(nothing),
        "session_add" => session.add(args.document("entry_json")?).and_then(value),
        "session_add_batch" => session.add_batch(args.document("entries")?).and_then(value),
        "session_get" => {
            let id = args.text("id")?;
            session.get(&id).and_then(|_| session.get_json(&id)).and_then(document)
        }
        "session_delete" => {
            session.delete(&args.text("id")?, &args.text("reason")?).and_then(nothing)
        }
        "session_delete_where" => {
            let query = args.document("query_json")?;
            session.delete_where(query, &args.text("reason")?).and_then(value)
        }
        "session_query" => results(session.query_json(args.document("query_json")?)),
        "session_count" => session.count(args.document("query_json")?).and_then(value),
        "session_export" => session.export(&args.text("format")?).and_then(value),
        "session_import" => report!(session.import(args.text("jsonl")?)),
        "session_set_progress" => progress(session, args)?,
        "session_put_vector" => {
            let (id, values) = (args.text("id")?, args.take("values"));
            let values: Vec<f32> = serde_json::from_value(values).unwrap_or_default();
            let dimension = args.number_or("dimension", values.len() as u64)? as usize;
            session.put_vector(&id, &values[..dimension.min(values.len())]).and_then(nothing)
        }
        _ if op.starts_with("session_") => return maintenance(op, session, args),
        _ => return beside_the_log(op, session, args),
    })
}

fn beside_the_log(op: &str, session: &Session, args: &mut Arguments) -> Result<Answer, String> {
    let (kv, transcript) = (session.kv(), session.transcript());
    Ok(match op {
        "kv_set" => kv.set(&args.text("key")?, &args.text("value")?).and_then(nothing),
        "kv_get" => kv.get(&args.text("key")?).and_then(value),
        "kv_delete" => kv.delete(&args.text("key")?).and_then(nothing),
        "kv_list" => report!(kv.list()),
        "transcript_append" => {
            transcript.append(&args.text("role")?, &args.text("content")?).and_then(nothing)
        }
        "transcript_last" => report!(transcript.last(args.number_or("n", u64::MAX)? as usize)),
        "context_build" => report!(session.context(args.document("request_json")?)),
        "context_record" => {
            session.record(&args.text("kind")?, args.document("payload_json")?).and_then(value)
        }
        _ => return Err("the operation is not known".into()),
    })
}

fn window_operation(op: &str, window: &Window, args: &mut Arguments) -> Result<Answer, String> {
    Ok(match op {
        "window_add" => window.add(args.document("entry_json")?).and_then(nothing),
        "window_recent" => report!(window.recent(args.number_or("n", u64::MAX)? as usize)),
        "window_text" => window.text().and_then(value),
        "window_clear" => window.clear().and_then(nothing),
        "window_size" => value(window.len()),
        _ => return Err("the operation is not known".into()),
    })
}

fn memory_operation(op: &str, memory: &Memory, args: &mut Arguments) -> Result<Answer, String> {
    let session_id = |args: &mut Arguments| args.text("session_id");
    Ok(match op {
        "memory_record" => {
            memory.record(&session_id(args)?, args.document("entry_json")?).and_then(value)
        }
        "memory_context" => {
            let max_tokens = args.number_or("max_tokens", 0)?;
            report!(memory.context(&session_id(args)?, max_tokens))
        }
        "memory_load" => memory.load(&session_id(args)?).and_then(nothing),
        "memory_save" => memory.save(&session_id(args)?).and_then(nothing),
        "memory_clear" => memory.clear().and_then(nothing),
        "memory_store" => memory.store(args.document("entry_json")?).and_then(value),
        "memory_search" => results(memory.search_json(args.document("query_json")?)),
        "memory_delete" => {
            memory.delete(&args.text("id")?, &args.text("reason")?).and_then(nothing)
        }
        "memory_close" => {
            memory.close();
            nothing(())
        }
        _ => return Err("the operation is not known".into()),
    })
}

/// Operations on a handle that was freed, which this crate lets nobody write.
fn closed_operation(op: &str, args: &mut Arguments) -> Result<Answer, String> {
    for argument in ["index", "n", "entry_json"] {
        args.take(argument);
    }
    Ok(match op {
        "results_free" | "window_free" => nothing(()),
        "results_count" | "window_size" => value(0),
        _ => closed(),
    })
}

fn maintenance(op: &str, session: &Session, args: &mut Arguments) -> Result<Answer, String> {
    let options = args.document("options_json")?;
    Ok(match op {
        "session_verify" => report!(session.verify(options)),
        "session_repair" => report!(session.repair(options)),
        "session_compact" => report!(session.compact(options)),
        "session_purge" => report!(session.purge(options)),
        "session_migrate" => report!(session.migrate(options)),
        "session_rebuild_index" => report!(session.rebuild_index(options)),
        "session_export_file" => report!(session.export_file(args.text("path")?, options)),
        "session_import_file" => report!(session.import_file(args.text("path")?, options)),
        _ => return Err("the operation is not known".into()),
    })
}

fn progress(session: &Session, args: &mut Arguments) -> Result<Answer, String> {
    let answer = args.take("answer");
    Ok(match answer.as_str() {
        Some("go_on") => session.set_progress(|_, _, _| true),
        Some("stop") => session.set_progress(|_, _, _| false),
        None if answer.is_null() => session.clear_progress(),
        _ => return Err(format!("the answer {answer} is not known")),
    }
    .and_then(nothing))
}
