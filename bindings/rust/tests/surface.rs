//! Every function of the library is used by this crate: a new one that is not wrapped fails here.

use std::fs;
use std::path::Path;

/// The status of an error is what the call answered, which this crate has already.
const NOT_NEEDED: &str = "varve_error_status";

#[test]
fn every_function_is_called_by_the_public_layer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = String::new();
    for item in fs::read_dir(folder).expect("src") {
        let path = item.expect("a file").path();
        if path.file_name().is_some_and(|name| name != "raw.rs") {
            sources += &fs::read_to_string(path).expect("a source");
        }
    }
    let used = |name: &&&str| {
        sources.match_indices(**name).any(|(start, found)| {
            !sources[start + found.len()..]
                .starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    };
    let unused: Vec<_> = varve::raw::Api::NAMES.iter().filter(|name| !used(name)).collect();
    assert_eq!(unused, [&NOT_NEEDED]);
}
