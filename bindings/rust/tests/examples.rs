//! The example programs: what they print is what README.md says, and README.md quotes them whole.
mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::Directory;

/// The fenced blocks behind `<!-- example: NAME.rs -->`: the program, and what it prints.
fn quoted(readme: &str, name: &str) -> (String, String) {
    let mark = format!("<!-- example: {name}.rs -->");
    let (_, rest) = readme.split_once(&mark).unwrap_or_else(|| panic!("README.md lacks {mark}"));
    let (program, rest) = block(rest);
    let (_, rest) = rest.split_once("<!-- prints -->").expect("<!-- prints --> behind a program");
    (program, block(rest).0)
}

/// The text of the next fenced block, and what follows it.
fn block(text: &str) -> (String, &str) {
    let (_, rest) = text.split_once("```").expect("a block");
    let (_, rest) = rest.split_once('\n').expect("its first line");
    let (inner, rest) = rest.split_once("```").expect("its end");
    (inner.to_owned(), rest)
}

/// What it prints with a new directory, and again when it is run once more.
fn prints(name: &str) -> String {
    let directory = Directory::new();
    let run = || {
        let output = Command::new(common::example(name)).arg(directory.join("memory")).output();
        let output = output.expect("cargo test builds the examples");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let printed = run();
    assert_eq!(run(), printed, "what {name} prints when it is run again");
    printed
}

#[test]
fn every_example_is_quoted_and_prints_what_is_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(folder.join("README.md")).expect("README.md");
    let mut names = Vec::new();
    for item in fs::read_dir(folder.join("examples")).expect("examples") {
        let path = item.expect("a file").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if ["library", "worker"].contains(&name.as_str()) {
            continue; // tools; tests/finding.rs and tests/processes.rs run them
        }
        let (program, output) = quoted(&readme, &name);
        assert_eq!(program, fs::read_to_string(&path).expect("the example"), "{name} in README.md");
        assert_eq!(output, prints(&name), "what {name} prints");
        names.push(name);
    }
    assert_eq!(names.len(), readme.matches("<!-- example: ").count());
}
