//! Closures that the library calls. A panic never leaves one: where the function can say that it
//! failed it does, and the call it was made from answers `ErrorKind::Callback`.
use std::ffi::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::handle::bytes;

const FAILED: i32 = 1;

/// Runs a closure; none when it panicked. To drop what it panicked with may panic again, and behind
/// the frame of a trampoline stands C.
fn caught<T>(closure: impl FnOnce() -> T) -> Option<T> {
    let panicked_with = match catch_unwind(AssertUnwindSafe(closure)) {
        Ok(value) => return Some(value),
        Err(panicked_with) => panicked_with,
    };
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panicked_with))) {
        std::mem::forget(again);
    }
    None
}

pub(crate) type Log = dyn Fn(i32, &str) + Send + Sync;
pub(crate) type Clock = dyn Fn() -> i64 + Send + Sync;
pub(crate) type Progress = dyn Fn(&str, u64, u64) -> bool + Send + Sync;
pub(crate) type Tokens = dyn Fn(&str) -> u64 + Send + Sync;

/// The closure of one kind that a handle has. The library is given the address of the slot, which
/// stays when the closure is replaced: a call on another thread may still be in the one before,
/// which goes when that call is over.
pub(crate) struct Slot<F: ?Sized>(Mutex<Option<Arc<F>>>);

impl<F: ?Sized> Slot<F> {
    pub(crate) const fn new() -> Self {
        Slot(Mutex::new(None))
    }

    /// Puts a closure, or none, in the place of the one before, which is given back.
    pub(crate) fn replace(&self, closure: Option<Arc<F>>) -> Option<Arc<F>> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), closure)
    }

    /// What the trampoline of this kind is to be called with.
    pub(crate) fn user_data(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    pub(crate) fn get(&self) -> Option<Arc<F>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How many are closing a handle. Of several at once only one waits for the calls under way, so who
/// is done last may let go of the closures that these call.
#[derive(Default)]
pub(crate) struct Closing(AtomicUsize);

impl Closing {
    /// Closes the handle, and tells whether nobody else is still at it.
    pub(crate) fn is_last(&self, close: impl FnOnce()) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst);
        close();
        self.0.fetch_sub(1, Ordering::SeqCst) == 1
    }
}

/// Makes a closure the one that is called, as soon as `register` has told the library of the slot
/// that it is in. When that fails, the one before stays.
pub(crate) fn set<F: ?Sized, E>(
    slot: &Slot<F>,
    closure: Arc<F>,
    register: impl FnOnce(*mut c_void) -> Result<(), E>,
) -> Result<(), E> {
    let before = slot.replace(Some(closure));
    let registered = register(slot.user_data());
    if registered.is_err() {
        slot.replace(before);
    }
    registered
}

/// # Safety
/// Of this and the functions below: `user_data` is what [`Slot::user_data`] gave for a slot of this
/// kind that is still there, and the texts are as the header promises.
pub(crate) unsafe extern "C" fn log(
    user_data: *mut c_void,
    level: i32,
    line: *const c_char,
    length: usize,
) {
    // SAFETY: as this function's own.
    let (slot, line) = unsafe { (&*user_data.cast::<Slot<Log>>(), bytes(line, length)) };
    // A log line has no way to fail: a panic ends here.
    caught(|| {
        if let Some(closure) = slot.get() {
            closure(level, &String::from_utf8_lossy(line));
        }
    });
}

/// # Safety
/// See [`log`].
pub(crate) unsafe extern "C" fn clock(user_data: *mut c_void) -> i64 {
    // SAFETY: as this function's own.
    let slot = unsafe { &*user_data.cast::<Slot<Clock>>() };
    caught(|| slot.get().map(|closure| closure())).flatten().unwrap_or_else(system_clock_ms)
}

fn system_clock_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// # Safety
/// See [`log`].
pub(crate) unsafe extern "C" fn progress(
    user_data: *mut c_void,
    operation: *const c_char,
    done: u64,
    total: u64,
) -> i32 {
    // SAFETY: as this function's own.
    let slot = unsafe { &*user_data.cast::<Slot<Progress>>() };
    // SAFETY: as this function's own.
    let operation = unsafe { crate::error::text(operation) };
    let go_on = caught(|| slot.get().map_or(true, |closure| closure(&operation, done, total)));
    match go_on {
        Some(true) => 0,
        _ => FAILED,
    }
}

/// # Safety
/// See [`log`]; `tokens_out` may be written.
pub(crate) unsafe extern "C" fn tokens(
    user_data: *mut c_void,
    text: *const c_char,
    length: usize,
    tokens_out: *mut u64,
) -> i32 {
    // SAFETY: as this function's own.
    let (slot, text) = unsafe { (&*user_data.cast::<Slot<Tokens>>(), bytes(text, length)) };
    let counted = caught(|| slot.get().map(|closure| closure(&String::from_utf8_lossy(text))));
    match counted {
        Some(Some(tokens)) => {
            // SAFETY: as this function's own.
            unsafe { tokens_out.write(tokens) };
            0
        }
        _ => FAILED,
    }
}

#[cfg(test)]
mod without_library {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn the_closure_that_is_called_is_the_last_one() {
        let (slot, sum) = (Slot::<Log>::new(), Arc::new(AtomicU64::new(0)));
        let registered = slot.user_data();
        for factor in 1..=3 {
            let held = sum.clone();
            slot.replace(Some(Arc::new(move |level, line: &str| {
                held.fetch_add(factor * level as u64 * line.len() as u64, Ordering::SeqCst);
            })));
            assert_eq!(Arc::strong_count(&sum), 2, "the one before is gone");
            // SAFETY: `slot` is alive, the text is as long as is said.
            unsafe { log(registered, 2, c"line".as_ptr(), 4) };
        }
        assert_eq!(sum.load(Ordering::SeqCst), 8 * (1 + 2 + 3));
        slot.replace(None);
        // SAFETY: as above.
        unsafe { log(registered, 2, c"line".as_ptr(), 4) };
        assert_eq!((sum.load(Ordering::SeqCst), Arc::strong_count(&sum)), (48, 1));
    }

    #[test]
    fn a_closure_that_is_not_registered_leaves_the_one_before() {
        let slot = Slot::<Clock>::new();
        assert_eq!(set(&slot, Arc::new(|| 1), |_| Ok::<_, ()>(())), Ok(()));
        assert_eq!(set(&slot, Arc::new(|| 2), |_| Err("refused")), Err("refused"));
        // SAFETY: `slot` is alive.
        assert_eq!(unsafe { clock(slot.user_data()) }, 1);
    }

    #[test]
    fn a_panic_becomes_what_the_function_can_say() {
        let lines = Slot::<Log>::new();
        lines.replace(Some(Arc::new(|_, _: &str| panic!("in a log line"))));
        // SAFETY: `lines` is alive; no text.
        unsafe { log(lines.user_data(), 1, std::ptr::null(), 0) };

        let steps = Slot::<Progress>::new();
        steps.replace(Some(Arc::new(|_: &str, _, _| panic!("in progress"))));
        // SAFETY: as above.
        let answer = unsafe { progress(steps.user_data(), c"verify".as_ptr(), 1, 2) };
        assert_eq!(answer, FAILED);

        let counter = Slot::<Tokens>::new();
        counter.replace(Some(Arc::new(|_: &str| panic!("in a counter"))));
        let mut count = 7;
        // SAFETY: as above.
        let answer = unsafe { tokens(counter.user_data(), c"tea".as_ptr(), 3, &mut count) };
        assert_eq!((answer, count), (FAILED, 7));
    }

    #[test]
    fn a_panic_with_a_value_that_panics_when_it_is_dropped_stays_in_rust() {
        struct Twice;
        impl Drop for Twice {
            fn drop(&mut self) {
                panic!("once more");
            }
        }
        let slot = Slot::<Progress>::new();
        slot.replace(Some(Arc::new(|_: &str, _, _| std::panic::panic_any(Twice))));
        // SAFETY: `slot` is alive.
        let answer = unsafe { progress(slot.user_data(), c"verify".as_ptr(), 1, 2) };
        assert_eq!(answer, FAILED);
    }

    #[test]
    fn a_closure_that_replaces_itself_comes_to_its_end() {
        let slot: Arc<Slot<Clock>> = Arc::new(Slot::new());
        let own = Arc::downgrade(&slot);
        slot.replace(Some(Arc::new(move || {
            drop(own.upgrade().expect("it is called").replace(None));
            5
        })));
        // SAFETY: `slot` is alive.
        assert_eq!(unsafe { clock(slot.user_data()) }, 5);
        assert!(slot.get().is_none());
    }
}
