//! What several tests share.
#![allow(dead_code)] // each test program uses a part of it

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of its own, removed at the end.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("varve-rust-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Directory(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An example program that `cargo test` or `cargo build --examples` built beside this test.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this program");
    let folder = test.parent().and_then(Path::parent).expect("target/debug/deps/test");
    folder.join("examples").join(name)
}

/// The top of varve's source tree.
pub fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a test answers: any error fails it.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;
