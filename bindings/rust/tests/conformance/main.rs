//! Runs tests/conformance/cases/*.json of varve through the public layer of this crate. The last
//! line is `N cases, M failed`. VARVE_CASES names another folder of cases.
#[path = "../common/mod.rs"]
mod common;

mod arguments;
mod members;
mod operations;
mod pattern;
mod rare;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::{replace, Arguments, Variable, Variables};
use operations::Run;
use serde_json::{json, Value};

fn main() -> ExitCode {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let folder = std::env::var_os("VARVE_CASES")
        .map_or_else(|| common::tree().join("tests/conformance/cases"), PathBuf::from);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map(|entries| entries.map(|entry| entry.expect("a readable folder").path()).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let wanted = |file: &&PathBuf| match &filter {
        Some(filter) => file.to_string_lossy().contains(filter.as_str()),
        None => true,
    };
    let (mut cases, mut failed) = (0, 0);
    for file in files.iter().filter(wanted) {
        cases += 1;
        if let Err(reason) = run_file(file) {
            failed += 1;
            println!("{}: {reason}", file.file_stem().unwrap_or_default().to_string_lossy());
        }
    }
    println!("{cases} cases, {failed} failed");
    let complete = cases > 0 && (filter.is_some() || cases == files.len());
    let whole = filter.is_none() && std::env::var_os("VARVE_CASES").is_none();
    if whole {
        if let Err(reason) = rare::note_answers() {
            failed += 1;
            println!("answers that no case has: {reason}");
        }
    }
    let never = if whole { members::never_seen() } else { Vec::new() };
    for field in &never {
        println!("no answer had a member for {field}");
    }
    ExitCode::from(u8::from(failed > 0 || !complete || !never.is_empty()))
}

fn run_file(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let case: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let directory = common::Directory::new();
    let mut run = Run::default();
    let path = directory.path().to_string_lossy().into_owned();
    run.variables.insert("dir".into(), Variable::Value(path.into()));
    let steps = case["steps"].as_array().ok_or("it has no steps")?;
    for (number, step) in steps.iter().enumerate() {
        let op = step["op"].as_str().unwrap_or_default();
        run_step(&mut run, op, step).map_err(|reason| format!("step {number}, {op}: {reason}"))?;
    }
    run.finish();
    Ok(())
}

fn run_step(run: &mut Run, op: &str, step: &Value) -> Result<(), String> {
    let mut arguments = Arguments::new(step, &run.variables)?;
    let answer = run.operation(op, &mut arguments)?;
    arguments.done()?;
    let expected = expectation(step, &run.variables)?;
    let (actual, variable) = match answer {
        Ok(done) => {
            let actual = json!({"status": "VARVE_OK", "value": done.value.clone()});
            (actual, Some(done.keep.unwrap_or(Variable::Value(done.value))))
        }
        Err(error) => {
            let details: Value =
                serde_json::from_str(error.details()).map_err(|error| error.to_string())?;
            let status = operations::status_of(error.kind());
            (json!({"status": status, "details": details, "message": error.message()}), None)
        }
    };
    if let Some(mismatch) = pattern::mismatch(&expected, &actual, "answer") {
        return Err(format!("{mismatch} in {actual}"));
    }
    match (step["save"].as_str(), variable) {
        (Some(name), Some(variable)) => run.save(name, variable),
        (Some(_), None) => return Err("there is nothing to save".into()),
        (None, Some(variable)) => run.unnamed(variable),
        (None, None) => {}
    }
    Ok(())
}

fn expectation(step: &Value, variables: &Variables) -> Result<Value, String> {
    let mut expected = step.get("expect").cloned().unwrap_or_else(|| json!({}));
    replace(&mut expected, variables)?;
    let members = expected.as_object_mut().ok_or("expect is no object")?;
    members.entry("status").or_insert_with(|| "VARVE_OK".into());
    Ok(expected)
}
