//! What went wrong, where, and what to do about it.
use std::ffi::{c_char, CStr};
use std::fmt;

use serde_json::Value;

use crate::library::Library;
use crate::raw;

/// `Result` of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of failure an [`Error`] is. The page docs/errors.md of varve says for each what
/// usually causes it and what helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Malformed input; nothing was changed. [`Error::member`] and [`Error::offset`] say where.
    InvalidArgument,
    /// There is no such entry, key, session, file or backup.
    NotFound,
    /// The id is in use, or was used and deleted.
    AlreadyExists,
    /// Larger than a configured limit.
    SizeLimit,
    /// The store, session, memory, window or results were closed.
    BadHandle,
    /// No permission to write, or writing was stopped for safety.
    ReadOnly,
    /// Another process holds the lock past the deadline; try again.
    Busy,
    /// Not available for this session, store or file system.
    Unsupported,
    /// The file system answered with an error.
    Io,
    /// Disk or quota full; nothing was added.
    NoSpace,
    /// No memory or thread is left; nothing was added, deleted or set.
    NoMemory,
    /// What is stored there is damaged.
    Corruption,
    /// Written by a newer version of varve; left untouched.
    FormatVersion,
    /// A closure of yours failed or panicked.
    Callback,
    /// The handle was made before `fork`, in the parent process.
    Forked,
    /// A defect of the library: please report it.
    Internal,
    /// A status that this version of the crate does not know.
    Unknown,
    /// The library could not be loaded: [`Error::tried`] lists the paths.
    Load,
    /// A typed value could not be written as JSON, or an answer does not fit the type asked for.
    Json,
    /// The task of an asynchronous call was cancelled, its runtime is shutting down.
    Cancelled,
}

impl ErrorKind {
    fn of(status: raw::varve_status_t) -> Self {
        match status {
            raw::VARVE_INVALID_ARGUMENT => Self::InvalidArgument,
            raw::VARVE_NOT_FOUND => Self::NotFound,
            raw::VARVE_ALREADY_EXISTS => Self::AlreadyExists,
            raw::VARVE_SIZE_LIMIT => Self::SizeLimit,
            raw::VARVE_BAD_HANDLE => Self::BadHandle,
            raw::VARVE_READ_ONLY => Self::ReadOnly,
            raw::VARVE_BUSY => Self::Busy,
            raw::VARVE_UNSUPPORTED => Self::Unsupported,
            raw::VARVE_IO => Self::Io,
            raw::VARVE_NO_SPACE => Self::NoSpace,
            raw::VARVE_NO_MEMORY => Self::NoMemory,
            raw::VARVE_CORRUPTION => Self::Corruption,
            raw::VARVE_FORMAT_VERSION => Self::FormatVersion,
            raw::VARVE_CALLBACK => Self::Callback,
            raw::VARVE_FORKED => Self::Forked,
            raw::VARVE_INTERNAL => Self::Internal,
            _ => Self::Unknown,
        }
    }
}

/// One failure: its kind, a line for a person, and the place.
///
/// ```
/// use varve::{ErrorKind, Store};
/// # fn main() -> varve::Result<()> {
/// let session = Store::open("memory:")?.create_session(())?;
/// let error = session.add(r#"{"type":"finding","content":1,"importance":7}"#).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidArgument);
/// assert_eq!(error.member().as_deref(), Some("importance"));
/// # Ok(())
/// # }
/// ```
pub struct Error(Box<Parts>); // one pointer: results stay small

#[derive(Default)]
struct Parts {
    status: raw::varve_status_t,
    kind: Option<ErrorKind>,
    message: String,
    details: String,
    tried: Vec<(String, String)>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind.unwrap_or_else(|| ErrorKind::of(self.0.status))
    }

    /// The library's status number (`VARVE_BUSY` is 7); 0 for a failure of this crate itself.
    pub fn status(&self) -> i32 {
        self.0.status
    }

    /// One line for a person: what went wrong and, where it helps, what to do.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The place, a JSON object with the members that apply: path, member, offset, line, size,
    /// limit, errno. `"{}"` when there is none.
    pub fn details(&self) -> &str {
        if self.0.details.is_empty() {
            "{}"
        } else {
            &self.0.details
        }
    }

    /// One member of the details.
    pub fn detail(&self, name: &str) -> Option<Value> {
        serde_json::from_str::<Value>(self.details()).ok()?.get_mut(name).map(Value::take)
    }

    /// The file or directory that the error is about.
    pub fn path(&self) -> Option<String> {
        self.detail("path")?.as_str().map(String::from)
    }

    /// The JSON member at fault: `importance`, `tags[2]`, `[3].tags[0]`.
    pub fn member(&self) -> Option<String> {
        self.detail("member")?.as_str().map(String::from)
    }

    /// Where, in bytes: in the file at [`Error::path`], or without one in the text given.
    pub fn offset(&self) -> Option<u64> {
        self.detail("offset")?.as_u64()
    }

    /// The line of the text given, counted from 1.
    pub fn line(&self) -> Option<u64> {
        self.detail("line")?.as_u64()
    }

    /// What was asked for, in bytes unless the message says otherwise.
    pub fn size(&self) -> Option<u64> {
        self.detail("size")?.as_u64()
    }

    /// What is allowed, as [`Error::size`].
    pub fn limit(&self) -> Option<u64> {
        self.detail("limit")?.as_u64()
    }

    /// What the operating system answered.
    pub fn errno(&self) -> Option<i32> {
        self.detail("errno")?.as_i64().and_then(|number| i32::try_from(number).ok())
    }

    /// For [`ErrorKind::Load`]: each path that was tried, and what was wrong with it.
    pub fn tried(&self) -> &[(String, String)] {
        &self.0.tried
    }

    /// Whether the same call may succeed later without a change.
    pub fn is_busy(&self) -> bool {
        self.kind() == ErrorKind::Busy
    }

    pub(crate) fn invalid(member: &str, message: String) -> Self {
        let kind = Some(ErrorKind::InvalidArgument);
        let details = serde_json::json!({ "member": member }).to_string();
        Error(Box::new(Parts { kind, message, details, ..Parts::default() }))
    }

    pub(crate) fn load(message: String, tried: Vec<(String, String)>) -> Self {
        let kind = Some(ErrorKind::Load);
        Error(Box::new(Parts { kind, message, tried, ..Parts::default() }))
    }

    pub(crate) fn json(what: &str, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        let message = format!("{what}: {source}");
        let (kind, source) = (Some(ErrorKind::Json), Some(Box::new(source) as _));
        Error(Box::new(Parts { kind, message, source, ..Parts::default() }))
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn cancelled() -> Self {
        let message = String::from("the task was cancelled: its runtime is shutting down");
        Error(Box::new(Parts { kind: Some(ErrorKind::Cancelled), message, ..Parts::default() }))
    }

    /// Takes over what a call answered: status, and the error object, which is freed.
    pub(crate) fn take(
        library: &Library,
        status: raw::varve_status_t,
        error: *mut raw::varve_error_t,
    ) -> Self {
        let api = library.api();
        // SAFETY: `error` is the call's own, or NULL, for which these answer too. Both texts are
        // copied before it is freed.
        let (message, details) = unsafe {
            let message = text((api.varve_error_message)(error));
            let details = text((api.varve_error_details)(error));
            (api.varve_error_free)(error);
            (message, details)
        };
        Error(Box::new(Parts { status, message, details, ..Parts::default() }))
    }
}

/// Copies a text of the library's that ends with NUL.
///
/// # Safety
/// `text` is NULL or such a text, alive during the call.
pub(crate) unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as this function's own.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.message.is_empty() {
            return write!(f, "varve answered with status {}", self.0.status);
        }
        f.write_str(&self.0.message)?;
        for (path, reason) in &self.0.tried {
            write!(f, "\n  {path}: {reason}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Error");
        out.field("kind", &self.kind()).field("message", &self.0.message);
        if !self.0.details.is_empty() {
            out.field("details", &self.0.details);
        }
        if !self.0.tried.is_empty() {
            out.field("tried", &self.0.tried);
        }
        out.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Error::json("cannot convert the value to or from JSON", error)
    }
}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        use std::io::ErrorKind as Io;
        let kind = match error.kind() {
            ErrorKind::InvalidArgument => Io::InvalidInput,
            ErrorKind::NotFound => Io::NotFound,
            ErrorKind::AlreadyExists => Io::AlreadyExists,
            ErrorKind::ReadOnly => Io::PermissionDenied,
            ErrorKind::Busy => Io::WouldBlock,
            ErrorKind::Unsupported => Io::Unsupported,
            ErrorKind::NoMemory => Io::OutOfMemory,
            ErrorKind::Corruption | ErrorKind::FormatVersion => Io::InvalidData,
            _ => Io::Other,
        };
        std::io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_that_the_library_names_has_the_kind_of_that_name() {
        let library = Library::get().expect("VARVE_LIBRARY: the library to test with");
        let named = |status: &i32| library.status_name(*status) != "VARVE_UNKNOWN_STATUS";
        let statuses: Vec<i32> = (1..=255).filter(named).collect();
        assert!(statuses.len() >= 16, "{statuses:?}");
        for status in statuses {
            let name = library.status_name(status);
            let words = name.trim_start_matches("VARVE_").split('_');
            let kind: String =
                words.map(|word| word[..1].to_owned() + &word[1..].to_lowercase()).collect();
            assert_eq!(format!("{:?}", ErrorKind::of(status)), kind, "of {status}");
        }
    }
}

#[cfg(test)]
mod without_library {
    use super::*;

    #[test]
    fn a_status_of_a_later_version_is_unknown() {
        assert_eq!(ErrorKind::of(254), ErrorKind::Unknown);
        let error = Error(Box::new(Parts { status: 254, ..Parts::default() }));
        assert_eq!(error.to_string(), "varve answered with status 254");
        assert_eq!((error.details(), error.offset()), ("{}", None));
    }

    #[test]
    fn a_failure_to_load_shows_every_path() {
        let tried = vec![("/a".to_owned(), "is missing".to_owned())];
        let error = Error::load("nothing found. Tried:".into(), tried);
        assert_eq!(error.to_string(), "nothing found. Tried:\n  /a: is missing");
        assert!(format!("{error:?}").contains("is missing"));
    }
}
