//! Calling the library: an error object becomes an `Error`, owned text a `String`.
use std::ffi::c_char;
use std::ptr;

use crate::error::{Error, Result};
use crate::library::Library;
use crate::raw;

type ErrorOut = *mut *mut raw::varve_error_t;

/// Calls a function that answers nothing but its status.
pub(crate) fn call(
    library: &Library,
    function: impl FnOnce(ErrorOut) -> raw::varve_status_t,
) -> Result<()> {
    let mut error = ptr::null_mut();
    let status = function(&mut error);
    if status == raw::VARVE_OK {
        return Ok(());
    }
    Err(Error::take(library, status, error))
}

/// Calls a function that gives a text to be freed.
pub(crate) fn call_for_text(
    library: &Library,
    function: impl FnOnce(*mut *mut c_char, *mut usize, ErrorOut) -> raw::varve_status_t,
) -> Result<String> {
    let (mut start, mut length) = (ptr::null_mut(), 0);
    call(library, |error| function(&mut start, &mut length, error))?;
    // SAFETY: the call gave `length` bytes at `start`, ours until they are freed.
    let bytes = unsafe { bytes(start, length) }.to_vec();
    // SAFETY: given by the call, not freed yet, not used after.
    unsafe { (library.api().varve_free)(start.cast()) };
    utf8(bytes)
}

/// The bytes that the library gave, which may be none at NULL.
///
/// # Safety
/// `start` is NULL, or has `length` bytes that are alive and unchanged during `'a`.
pub(crate) unsafe fn bytes<'a>(start: *const c_char, length: usize) -> &'a [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: as this function's own.
    unsafe { std::slice::from_raw_parts(start.cast(), length) }
}

pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| Error::json("cannot read the library's answer", error))
}

/// A text as the pair of arguments that the functions take.
pub(crate) trait Argument {
    fn pointer(&self) -> *const c_char;
}

impl Argument for [u8] {
    fn pointer(&self) -> *const c_char {
        self.as_ptr().cast()
    }
}

impl Argument for str {
    fn pointer(&self) -> *const c_char {
        self.as_ptr().cast()
    }
}
