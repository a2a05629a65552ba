//! Errors: what kind they are, where the fault is, and what other libraries make of them.
mod common;

use std::error::Error as _;
use std::fs;
use std::io;

use common::{Directory, Outcome};
use serde_json::json;
use varve::{Entry, Error, ErrorKind, LogLevel, Store};

#[test]
fn the_line_at_fault_is_told() -> Outcome {
    let session = Store::open("memory:")?.session("test")?;
    let error =
        session.add_batch("{\"type\":\"finding\",\"content\":1}\n{\"type\":\n").unwrap_err();
    assert_eq!((error.line(), error.offset()), (Some(2), Some(39)), "{error:?}");
    assert_eq!((error.errno(), error.path()), (None, None));
    Ok(())
}

#[test]
fn what_the_system_answered_is_told() -> Outcome {
    let directory = Directory::new();
    fs::write(directory.join("file"), "in the way")?;
    let error = Store::open(directory.join("file/below")).unwrap_err();
    assert_eq!((error.kind(), error.errno()), (ErrorKind::Io, Some(20))); // ENOTDIR
    assert_eq!(error.line(), None);
    Ok(())
}

#[test]
fn busy_is_what_another_holder_of_the_lock_makes_it() -> Outcome {
    let directory = Directory::new();
    let alone = json!({"concurrency": {"exclusive": true}});
    let holder = Store::open_with(directory.path(), alone)?.session("test")?;
    holder.add(Entry::new("finding", 1))?;
    let hasty = json!({"concurrency": {"lock_timeout_ms": 0}});
    let other = Store::open_with(directory.path(), hasty)?.session("test")?;
    let error = other.add(Entry::new("finding", 2)).unwrap_err();
    assert!(error.kind() == ErrorKind::Busy && error.is_busy(), "{error:?}");
    assert!(!other.get("nobody").unwrap_err().is_busy());
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::WouldBlock);
    Ok(())
}

#[test]
fn an_error_of_io_keeps_kind_and_cause() -> Outcome {
    let store = Store::open("memory:")?;
    let session = store.session("test")?;
    let missing = io::Error::from(session.get("nobody").unwrap_err());
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    assert!(missing.to_string().contains("nobody"));
    let cause = missing.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    assert_eq!(cause.map(Error::kind), Some(ErrorKind::NotFound));
    let again = store.create_session(json!({"session_id": "test"})).unwrap_err();
    assert_eq!(io::Error::from(again).kind(), io::ErrorKind::AlreadyExists);
    let unknown = io::Error::from(Store::open("ftp:nowhere").unwrap_err());
    assert_eq!(unknown.kind(), io::ErrorKind::Unsupported);
    Ok(())
}

#[test]
fn a_failure_of_json_has_its_source() {
    let error = Error::from(serde_json::from_str::<u8>("tea").unwrap_err());
    assert_eq!((error.kind(), error.status(), error.details()), (ErrorKind::Json, 0, "{}"));
    assert!(error.source().is_some_and(|source| source.is::<serde_json::Error>()));
}

#[test]
fn a_number_is_a_level_or_an_error_that_names_it() -> Outcome {
    for level in [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error] {
        assert_eq!(LogLevel::try_from(level as i32)?, level);
    }
    for none in [LogLevel::Debug as i32 - 1, LogLevel::Error as i32 + 1] {
        let error = LogLevel::try_from(none).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(error.member().as_deref(), Some("level"));
        assert!(error.to_string().contains(&none.to_string()), "{error}");
    }
    Ok(())
}
