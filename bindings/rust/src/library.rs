//! Finding libvarve.so and keeping it: once for the process, never unloaded.
use std::env;
use std::ffi::{c_void, CStr, OsStr, OsString};
use std::fmt;
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::error::{text, Error, Result};
use crate::raw;

static LOADED: OnceLock<Library> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// The shared library that this process uses. The first [`Store`](crate::Store) loads it by itself;
/// [`Library::load`] is for those who know where it is.
pub struct Library {
    api: raw::Api,
    path: PathBuf,
}

impl Library {
    /// Loads the library at `path`, and nothing else should that fail. Answers an error when
    /// another one is loaded already.
    pub fn load(path: impl AsRef<Path>) -> Result<&'static Library> {
        let path = file(path.as_ref());
        let library = Self::once(|| vec![path.as_os_str().to_owned()])?;
        if library.path != path {
            let message = format!(
                "{} cannot be loaded: this process already uses {}",
                path.display(),
                library.path.display()
            );
            return Err(Error::load(message, Vec::new()));
        }
        Ok(library)
    }

    /// The library in use; finds and loads it when there is none yet.
    pub fn get() -> Result<&'static Library> {
        Self::once(candidates)
    }

    /// Its version, `"0.1.0"` for example.
    pub fn version(&self) -> String {
        // SAFETY: static text that ends with NUL.
        unsafe { text((self.api.varve_version)()) }
    }

    /// Its ABI version.
    pub fn abi_version(&self) -> u32 {
        // SAFETY: takes nothing and always answers.
        unsafe { (self.api.varve_abi_version)() }
    }

    /// The name of a status: `"VARVE_BUSY"` for 7.
    pub fn status_name(&self, status: i32) -> String {
        // SAFETY: static text that ends with NUL, for every number.
        unsafe { text((self.api.varve_status_name)(status)) }
    }

    /// Where it was found: the path, or the plain name when the system found it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The C functions themselves.
    pub fn api(&self) -> &raw::Api {
        &self.api
    }

    fn once(paths: impl FnOnce() -> Vec<OsString>) -> Result<&'static Library> {
        if let Some(library) = LOADED.get() {
            return Ok(library);
        }
        let _one_at_a_time = LOADING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(library) = LOADED.get() {
            return Ok(library);
        }
        let library = first(&paths())?;
        Ok(LOADED.get_or_init(|| library))
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Where to look, in order, when no path was given to [`Library::load`].
fn candidates() -> Vec<OsString> {
    if let Some(path) = env::var_os("VARVE_LIBRARY").filter(|path| !path.is_empty()) {
        return vec![file(Path::new(&path)).into()];
    }
    let name = format!("libvarve.so.{}", raw::VARVE_ABI_VERSION);
    let mut paths = Vec::new();
    if let Some(folder) = env::current_exe().ok().as_deref().and_then(Path::parent) {
        paths.push(folder.join(&name).into());
        paths.push(folder.join("../lib").join(&name).into());
    }
    paths.push(name.into());
    paths
}

/// A path that was given, for the system's loader. That looks for a name without a slash in places
/// of its own, and may find another file than the one in the working directory.
fn file(path: &Path) -> PathBuf {
    if path.as_os_str().as_bytes().contains(&b'/') {
        return path.into();
    }
    Path::new(".").join(path)
}

fn first(paths: &[OsString]) -> Result<Library> {
    let mut tried = Vec::new();
    for path in paths {
        match open(path) {
            Ok(library) => return Ok(library),
            Err(reason) => tried.push((path.to_string_lossy().into_owned(), reason)),
        }
    }
    let message = format!(
        "libvarve.so of ABI version {} was not found; set VARVE_LIBRARY to its path. Tried:",
        raw::VARVE_ABI_VERSION
    );
    Err(Error::load(message, tried))
}

/// Loads one file, or says why not. Of a library that is refused only `varve_abi_version` is called.
fn open(path: &OsStr) -> std::result::Result<Library, String> {
    let wanted = raw::VARVE_ABI_VERSION as u32;
    // SAFETY: libvarve does nothing when it is loaded. What else stands at a path that somebody
    // named is theirs to know.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| plain(&error, path))?;
    // Whatever becomes of it, it is never unloaded: its code may be running on other threads.
    let library = ManuallyDrop::new(library);
    let symbol = |name: &'static CStr| -> std::result::Result<*mut c_void, String> {
        // SAFETY: only the address is taken.
        match unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) } {
            Ok(address) if !address.is_null() => Ok(*address),
            _ => Err(format!(
                "has no symbol {}: not a libvarve of ABI {wanted}",
                name.to_string_lossy()
            )),
        }
    };
    let address = symbol(c"varve_abi_version")?;
    // SAFETY: this function is the same in every version: it tells which one it is.
    let found =
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> u32>(address)() };
    if found != wanted {
        return Err(format!("is of ABI version {found}, this crate needs {wanted}"));
    }
    // SAFETY: it says that it is of the ABI that raw.rs was generated from, and stays loaded.
    let api = unsafe { raw::Api::load(symbol)? };
    Ok(Library { api, path: path.into() })
}

/// What the loader says, without the path, which we say already.
fn plain(error: &libloading::Error, path: &OsStr) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    let told = source.unwrap_or_else(|| error.to_string());
    let path = path.to_string_lossy();
    told.strip_prefix(&*path).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&told).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// A shared object made of C source, in a directory that is removed at the end.
    struct Stub(PathBuf);

    impl Stub {
        fn new(name: &str, source: &str) -> Stub {
            let folder = env::temp_dir().join(format!("varve-stub-{}-{name}", std::process::id()));
            fs::create_dir_all(&folder).expect("a temporary directory");
            let (file, code) = (folder.join("libvarve.so"), folder.join("stub.c"));
            fs::write(&code, source).expect("the source");
            let mut compiler = Command::new("cc");
            compiler.args(["-shared", "-fPIC", "-o"]).args([&file, &code]);
            assert!(compiler.status().expect("cc, a C compiler").success());
            Stub(folder)
        }

        fn path(&self) -> OsString {
            self.0.join("libvarve.so").into()
        }
    }

    impl Drop for Stub {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn reasons(paths: &[OsString]) -> Vec<String> {
        let error = first(paths).expect_err("none of these can be loaded");
        assert_eq!(error.kind(), crate::ErrorKind::Load);
        assert!(error.message().contains(&format!("ABI version {}", raw::VARVE_ABI_VERSION)));
        let shown = error.to_string();
        for (index, (path, reason)) in error.tried().iter().enumerate() {
            assert_eq!(path.as_str(), paths[index].to_string_lossy());
            assert!(shown.contains(path) && shown.contains(reason), "{shown}");
        }
        error.tried().iter().map(|(_, reason)| reason.clone()).collect()
    }

    #[test]
    fn every_path_tried_is_listed_when_no_file_is_there() {
        let reasons = reasons(&["/nowhere/libvarve.so.1".into(), "/neither/libvarve.so.1".into()]);
        assert_eq!(reasons.len(), 2);
        assert!(reasons[0].contains("No such file"), "{reasons:?}");
        assert!(!reasons[0].contains("/nowhere"), "the path is there already: {reasons:?}");
    }

    #[test]
    fn a_file_that_is_no_library_is_told() {
        let stub = Stub::new("text", "int nothing;");
        fs::write(stub.path(), "not a library ".repeat(100)).expect("a file");
        assert!(reasons(&[stub.path()])[0].contains("invalid ELF header"));
    }

    #[test]
    fn a_wrong_abi_version_is_told_with_the_one_that_is_wanted() {
        let stub = Stub::new("abi", "unsigned varve_abi_version(void) { return 99; }");
        let wanted = format!("is of ABI version 99, this crate needs {}", raw::VARVE_ABI_VERSION);
        assert_eq!(reasons(&[stub.path()]), [wanted]);
    }

    #[test]
    fn a_missing_symbol_is_named_and_nothing_is_called() {
        let abi = raw::VARVE_ABI_VERSION;
        let source = format!(
            "#include <stdlib.h>\nunsigned varve_abi_version(void) {{ return {abi}; }}\n\
             const char *varve_version(void) {{ abort(); }}"
        );
        let stub = Stub::new("symbol", &source);
        assert!(reasons(&[stub.path()])[0].contains("has no symbol varve_status_name"));
        let stub = Stub::new("other", "int other;");
        assert!(reasons(&[stub.path()])[0].contains("has no symbol varve_abi_version"));
    }

    #[test]
    fn a_library_that_is_refused_does_not_end_the_search() {
        let stub = Stub::new("next", "unsigned varve_abi_version(void) { return 99; }");
        let real = env::var_os("VARVE_LIBRARY").expect("VARVE_LIBRARY: the library to test with");
        let library = first(&[stub.path(), real.clone()]).expect("the second one is right");
        assert_eq!(library.path(), Path::new(&real));
        assert_eq!(library.abi_version(), raw::VARVE_ABI_VERSION as u32);
        assert_eq!(library.version(), raw::VERSION);
    }

    #[test]
    fn a_name_without_a_slash_is_of_a_file_in_the_working_directory() {
        for (given, expected) in [("a.so", "./a.so"), ("b/a.so", "b/a.so"), ("/a.so", "/a.so")] {
            assert_eq!(file(Path::new(given)).as_os_str(), expected);
        }
        Library::get().expect("VARVE_LIBRARY: the library to test with");
        let error = Library::load("libvarve.so.1").expect_err("another one is loaded");
        assert!(error.message().starts_with("./libvarve.so.1 "), "{error}");
    }

    #[test]
    fn the_crate_has_the_version_of_the_headers() {
        assert_eq!(env!("CARGO_PKG_VERSION"), raw::VERSION);
    }

    #[test]
    fn another_path_is_refused_once_a_library_is_loaded() {
        let loaded = Library::get().expect("VARVE_LIBRARY: the library to test with");
        assert!(std::ptr::eq(Library::load(loaded.path()).expect("the same"), loaded));
        let error = Library::load("/nowhere/libvarve.so").expect_err("another one");
        assert!(error.message().contains("already"), "{error}");
    }
}
