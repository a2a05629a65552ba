//! Where the library is looked for, and in which order, seen from outside.
mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::Directory;

/// A program in a directory of its own, `bin/library` with `lib` beside it. One at a time: a child of
/// another thread holds a program that is being copied open, and then it cannot be run.
struct Place {
    directory: Directory,
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Place {
    fn new() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = Directory::new();
        fs::create_dir(directory.join("bin")).expect("bin");
        fs::create_dir(directory.join("lib")).expect("lib");
        fs::copy(common::example("library"), directory.join("bin/library")).expect("the example");
        Place { directory, _turn: turn }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Puts the real library there.
    fn put(&self, name: &str) {
        symlink(real(), self.file(name)).expect("a link");
    }

    fn run(&self, variable: Option<&Path>, argument: Option<&Path>) -> Output {
        let mut command = Command::new(self.file("bin/library"));
        command.env_remove("VARVE_LIBRARY").env_remove("LD_LIBRARY_PATH");
        if let Some(path) = variable {
            command.env("VARVE_LIBRARY", path);
        }
        command.args(argument).output().expect("the example runs")
    }

    fn found(&self, variable: Option<&Path>, argument: Option<&Path>) -> String {
        let output = self.run(variable, argument);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let line = String::from_utf8(output.stdout).expect("text");
        line.trim().split_once(' ').expect("version and path").1.to_owned()
    }
}

fn real() -> PathBuf {
    let path = std::env::var_os("VARVE_LIBRARY").expect("VARVE_LIBRARY: the library to test with");
    fs::canonicalize(path).expect("VARVE_LIBRARY is a file")
}

fn name() -> String {
    format!("libvarve.so.{}", varve::raw::VARVE_ABI_VERSION)
}

#[test]
fn the_path_given_comes_before_the_variable_and_the_variable_before_the_places() {
    let place = Place::new();
    let (given, variable) = (place.file("given.so"), place.file("variable.so"));
    let beside = format!("bin/{}", name());
    for file in ["given.so", "variable.so", &beside] {
        place.put(file);
    }
    assert_eq!(place.found(Some(&variable), Some(&given)), given.to_string_lossy());
    assert_eq!(place.found(Some(&variable), None), variable.to_string_lossy());
    assert!(place.found(None, None).ends_with(&beside));
}

#[test]
fn a_variable_that_is_empty_names_nothing() {
    let place = Place::new();
    let beside = format!("bin/{}", name());
    place.put(&beside);
    assert!(place.found(Some(Path::new("")), None).ends_with(&beside));
}

#[test]
fn beside_the_executable_comes_before_the_lib_folder() {
    let place = Place::new();
    place.put(&format!("lib/{}", name()));
    assert!(place.found(None, None).ends_with(&format!("bin/../lib/{}", name())));
    place.put(&format!("bin/{}", name()));
    assert!(place.found(None, None).ends_with(&format!("bin/{}", name())));
}

#[test]
fn the_system_finds_it_last() {
    let place = Place::new();
    place.put(&format!("lib/{}", name()));
    fs::rename(place.file("lib"), place.file("elsewhere")).expect("another folder");
    let mut command = Command::new(place.file("bin/library"));
    command.env_remove("VARVE_LIBRARY").env("LD_LIBRARY_PATH", place.file("elsewhere"));
    let output = command.output().expect("the example runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).trim().ends_with(&name()));
}

#[test]
fn a_path_that_was_asked_for_is_the_only_one_tried() {
    let place = Place::new();
    place.put(&format!("bin/{}", name()));
    for (variable, argument) in [(true, false), (false, true)] {
        let missing = place.file("missing.so");
        let output =
            place.run(variable.then_some(missing.as_path()), argument.then_some(missing.as_path()));
        assert!(!output.status.success());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("missing.so") && !told.contains("bin/"), "{told}");
    }
}

#[test]
fn the_error_lists_every_place() {
    let place = Place::new();
    let output = place.run(None, None);
    if output.status.success() {
        // A libvarve is installed on this system: then that one was found, at the last place.
        assert!(String::from_utf8_lossy(&output.stdout).trim().ends_with(&name()));
        return;
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in ["bin/libvarve.so", "bin/../lib/libvarve.so", "No such file"] {
        assert!(told.contains(part), "{told}");
    }
}
