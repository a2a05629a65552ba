//! Which fields that an answer is read into had their member in some answer: one with another name is
//! always empty, and nobody would be told.
use std::any::type_name;
use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::Serialize;
use serde_json::Value;

static SEEN: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());

/// Compares an answer's typed form with the JSON that it was read from.
pub fn note<T: Serialize>(typed: &T, json: &str) {
    let typed = serde_json::to_value(typed).expect("what was read can be written");
    note_value(type_name::<T>(), &typed, &serde_json::from_str(json).expect("JSON"));
}

fn note_value(place: &str, typed: &Value, json: &Value) {
    match (typed, json) {
        (Value::Object(fields), Value::Object(members)) => {
            for (name, field) in fields {
                let place = format!("{place}.{name}");
                note_value(&place, field, &members.get(name).cloned().unwrap_or_default());
                let mut seen = SEEN.lock().expect("no panic before");
                *seen.entry(place).or_default() |= members.contains_key(name);
            }
        }
        (Value::Array(fields), Value::Array(members)) => {
            for (field, member) in fields.iter().zip(members) {
                note_value(&format!("{place}[]"), field, member);
            }
        }
        _ => {}
    }
}

/// Have tests of their own, in session.rs: no case has an import that is too large.
const NO_CASE: [&str; 2] =
    ["varve::reports::ImportReport.evicted", "varve::reports::ImportReport.exceeds_limit"];

/// The fields that no answer had a member for. There are many answers: with few fields, none is sure.
pub fn never_seen() -> Vec<String> {
    let seen = SEEN.lock().expect("no panic before");
    let unseen =
        seen.iter().filter(|(place, is_seen)| !**is_seen && !NO_CASE.contains(&place.as_str()));
    let mut never: Vec<_> = unseen.map(|(place, _)| place.clone()).collect();
    if seen.len() < 100 {
        never.push(format!("and only {} fields were looked at", seen.len()));
    }
    never
}
