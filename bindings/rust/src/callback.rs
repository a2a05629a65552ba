//! Closures that the library calls. A panic never leaves one: where the function can say that it
//! failed it does, and the call it was made from answers `ErrorKind::Callback`.
use std::any::Any;
use std::ffi::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::handle::bytes;

const FAILED: i32 = 1;

/// The closures given to one handle. They live as long as it does: a call on another thread may
/// still be in one that was replaced.
#[derive(Default)]
pub(crate) struct Closures(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Closures {
    /// Keeps a closure, and gives what its trampoline is to be called with.
    pub(crate) fn keep<F: Send + Sync + 'static>(&self, closure: F) -> *mut c_void {
        let closure = Arc::new(closure);
        let user_data = Arc::as_ptr(&closure).cast_mut().cast();
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(closure);
        user_data
    }
}

impl std::fmt::Debug for Closures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Closures")
    }
}

/// # Safety
/// Of this and the functions below: `user_data` is what [`Closures::keep`] gave for an `F` that is
/// still kept, and the texts are as the header promises.
pub(crate) unsafe extern "C" fn log<F: Fn(i32, &str)>(
    user_data: *mut c_void,
    level: i32,
    line: *const c_char,
    length: usize,
) {
    // SAFETY: as this function's own.
    let (closure, line) = unsafe { (&*user_data.cast::<F>(), bytes(line, length)) };
    // A log line has no way to fail: a panic ends here.
    let _ = catch_unwind(AssertUnwindSafe(|| closure(level, &String::from_utf8_lossy(line))));
}

/// # Safety
/// See [`log`].
pub(crate) unsafe extern "C" fn clock<F: Fn() -> i64>(user_data: *mut c_void) -> i64 {
    // SAFETY: as this function's own.
    let closure = unsafe { &*user_data.cast::<F>() };
    catch_unwind(AssertUnwindSafe(closure)).unwrap_or_else(|_| system_clock_ms())
}

fn system_clock_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// # Safety
/// See [`log`].
pub(crate) unsafe extern "C" fn progress<F: Fn(&str, u64, u64) -> bool>(
    user_data: *mut c_void,
    operation: *const c_char,
    done: u64,
    total: u64,
) -> i32 {
    // SAFETY: as this function's own.
    let (closure, operation) = unsafe { (&*user_data.cast::<F>(), crate::error::text(operation)) };
    match catch_unwind(AssertUnwindSafe(|| closure(&operation, done, total))) {
        Ok(true) => 0,
        _ => FAILED,
    }
}

/// # Safety
/// See [`log`]; `tokens_out` may be written.
pub(crate) unsafe extern "C" fn tokens<F: Fn(&str) -> u64>(
    user_data: *mut c_void,
    text: *const c_char,
    length: usize,
    tokens_out: *mut u64,
) -> i32 {
    // SAFETY: as this function's own.
    let (closure, text) = unsafe { (&*user_data.cast::<F>(), bytes(text, length)) };
    match catch_unwind(AssertUnwindSafe(|| closure(&String::from_utf8_lossy(text)))) {
        Ok(tokens) => {
            // SAFETY: as this function's own.
            unsafe { tokens_out.write(tokens) };
            0
        }
        Err(_) => FAILED,
    }
}

#[cfg(test)]
mod without_library {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    type LogFn = unsafe extern "C" fn(*mut c_void, i32, *const c_char, usize);

    fn registered<F: Fn(i32, &str) + Send + Sync + 'static>(
        closures: &Closures,
        closure: F,
    ) -> (LogFn, *mut c_void) {
        (log::<F>, closures.keep(closure))
    }

    #[test]
    fn a_closure_is_called_with_what_it_was_kept_for() {
        let (closures, sum) = (Closures::default(), Arc::new(AtomicU64::new(0)));
        let calls: Vec<_> = (1..=3)
            .map(|factor| {
                let sum = sum.clone();
                registered(&closures, move |level, line: &str| {
                    sum.fetch_add(factor * level as u64 * line.len() as u64, Ordering::SeqCst);
                })
            })
            .collect();
        for (function, user_data) in calls {
            // SAFETY: `closures` is alive, the text is as long as is said.
            unsafe { function(user_data, 2, c"line".as_ptr(), 4) };
        }
        assert_eq!(sum.load(Ordering::SeqCst), 48);
        assert_eq!(Arc::strong_count(&sum), 4);
        drop(closures);
        assert_eq!(Arc::strong_count(&sum), 1);
    }

    #[test]
    fn a_panic_becomes_what_the_function_can_say() {
        let closures = Closures::default();
        let (function, user_data) = registered(&closures, |_, _| panic!("in a log line"));
        // SAFETY: `closures` is alive; no text.
        unsafe { function(user_data, 1, std::ptr::null(), 0) };

        fn panics(_: &str, _: u64, _: u64) -> bool {
            panic!("in progress")
        }
        let user_data = closures.keep(panics as fn(&str, u64, u64) -> bool);
        // SAFETY: as above, with the type that was kept.
        let answer =
            unsafe { progress::<fn(&str, u64, u64) -> bool>(user_data, c"verify".as_ptr(), 1, 2) };
        assert_eq!(answer, FAILED);
    }
}
