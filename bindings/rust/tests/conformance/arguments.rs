//! The arguments of a step: variables replaced, documents made.
use std::borrow::Cow;
use std::collections::HashMap;

use regex::Regex;
use serde_json::{Map, Value};
use varve::{
    ContextRequest, Document, Entry, Memory, Query, RawResults, Session, SessionOptions, Store,
    Window,
};

/// What a step keeps under a name.
pub enum Variable {
    Store(Store),
    Window(Window),
    Memory(Memory),
    Session(Session),
    Results(RawResults),
    Closed,
    Value(Value),
}

pub type Variables = HashMap<String, Variable>;

/// A document, as a user of this crate would give it: typed where the type says all of it.
pub enum Given {
    Absent,
    Entry(Entry),
    Entries(Vec<Entry>),
    Query(Box<Query>),
    Options(SessionOptions),
    Request(ContextRequest),
    Value(Value),
    Text(String),
}

impl Document for Given {
    fn to_json(&self) -> varve::Result<Cow<'_, [u8]>> {
        match self {
            Given::Absent => ().to_json(),
            Given::Entry(entry) => entry.to_json(),
            Given::Entries(entries) => entries.to_json(),
            Given::Query(query) => query.to_json(),
            Given::Options(options) => options.to_json(),
            Given::Request(request) => request.to_json(),
            Given::Value(value) => value.to_json(),
            Given::Text(text) => text.to_json(),
        }
    }
}

/// The arguments of one step, each of which must be used.
pub struct Arguments {
    left: Map<String, Value>,
}

impl Arguments {
    pub fn new(step: &Value, variables: &Variables) -> Result<Self, String> {
        let mut args = step.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new()));
        replace(&mut args, variables)?;
        match args {
            Value::Object(left) => Ok(Arguments { left }),
            other => Err(format!("args is no object: {other}")),
        }
    }

    pub fn take(&mut self, name: &str) -> Value {
        self.left.remove(name).unwrap_or(Value::Null)
    }

    /// A text; what is absent is empty.
    pub fn text(&mut self, name: &str) -> Result<String, String> {
        match self.take(name) {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text),
            Value::Object(object) if object.contains_key("$text") => {
                Ok(object["$text"].as_str().unwrap_or_default().to_owned())
            }
            other => Ok(exact(&other)),
        }
    }

    pub fn number(&mut self, name: &str) -> Result<u64, String> {
        self.take(name).as_u64().ok_or_else(|| format!("{name} is no number"))
    }

    /// What is absent is the `usual` one.
    pub fn number_or(&mut self, name: &str, usual: u64) -> Result<u64, String> {
        if self.left.contains_key(name) {
            self.number(name)
        } else {
            Ok(usual)
        }
    }

    pub fn name(&mut self, name: &str) -> Result<String, String> {
        let value = self.take(name);
        value.as_str().map(str::to_owned).ok_or_else(|| format!("{name} names no variable"))
    }

    pub fn document(&mut self, name: &str) -> Result<Given, String> {
        let value = match self.take(name) {
            Value::Null => return Ok(Given::Absent),
            Value::String(text) => return Ok(Given::Text(text)),
            Value::Object(object) if object.contains_key("$text") => {
                return Ok(Given::Text(object["$text"].as_str().unwrap_or_default().to_owned()))
            }
            other => other,
        };
        let text = exact(&value);
        let plain: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        if serde_json::to_string(&plain).map_err(|error| error.to_string())? != text {
            return Ok(Given::Text(text)); // a number that Value cannot hold
        }
        Ok(typed(name, &plain).unwrap_or(Given::Value(plain)))
    }

    /// Fails when an argument was not used: the runner does not know it.
    pub fn done(self) -> Result<(), String> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("the argument {name} is not known")),
        }
    }
}

fn typed(name: &str, value: &Value) -> Option<Given> {
    match name {
        "entry_json" => same(value).map(Given::Entry),
        "entries" => same(value).map(Given::Entries),
        "query_json" => same(value).map(|query| Given::Query(Box::new(query))),
        "request_json" => same(value).map(Given::Request),
        "options_json" => same(value).map(Given::Options),
        _ => None,
    }
}

/// The value as this type, if that says no more and no less.
fn same<T: serde::Serialize + serde::de::DeserializeOwned>(value: &Value) -> Option<T> {
    let typed: T = serde_json::from_value(value.clone()).ok()?;
    (serde_json::to_value(&typed).ok()? == *value).then_some(typed)
}

/// JSON text in which `{"$number": "123"}` is the number with exactly this text.
fn exact(value: &Value) -> String {
    match value {
        Value::Object(object) if object.len() == 1 && object.contains_key("$number") => {
            object["$number"].as_str().unwrap_or_default().to_owned()
        }
        Value::Object(object) => {
            let members = object
                .iter()
                .map(|(name, inner)| format!("{}:{}", Value::String(name.clone()), exact(inner)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(exact).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// JSON text as a value, in which an integer that `Value` cannot hold is `{"$number": "123"}`.
pub fn exact_value(text: &str) -> serde_json::Result<Value> {
    let token = Regex::new(r#""(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+"#).expect("a pattern");
    let marked = token.replace_all(text, |found: &regex::Captures| {
        let digits = found[0].strip_prefix('-').unwrap_or(&found[0]);
        let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if integer && found[0].parse::<i64>().is_err() && found[0].parse::<u64>().is_err() {
            return format!(r#"{{"$number":"{}"}}"#, &found[0]);
        }
        found[0].to_owned()
    });
    serde_json::from_str(&marked)
}

/// Replaces `${var.member}` in every string.
pub fn replace(value: &mut Value, variables: &Variables) -> Result<(), String> {
    match value {
        Value::String(text) => *value = replaced(text, variables)?,
        Value::Array(items) => {
            for item in items {
                replace(item, variables)?;
            }
        }
        Value::Object(members) => {
            for (_, member) in members.iter_mut() {
                replace(member, variables)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn replaced(text: &str, variables: &Variables) -> Result<Value, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let length = rest[start..].find('}').ok_or_else(|| format!("no end of a mark: {text}"))?;
        let value = look_up(&rest[start + 2..start + length], variables)?;
        if start == 0 && rest.len() == text.len() && length + 1 == text.len() {
            return Ok(value);
        }
        out.push_str(&rest[..start]);
        out.push_str(value.as_str().unwrap_or(&value.to_string()));
        rest = &rest[start + length + 1..];
    }
    Ok(Value::String(out + rest))
}

fn look_up(path: &str, variables: &Variables) -> Result<Value, String> {
    let mut parts = path.split('.');
    let name = parts.next().unwrap_or_default();
    let Some(Variable::Value(mut value)) = variables.get(name).map(|kept| match kept {
        Variable::Value(value) => Variable::Value(value.clone()),
        _ => Variable::Closed,
    }) else {
        return Err(format!("{name} is no variable with a value"));
    };
    for part in parts {
        let inner = match part.parse::<usize>() {
            Ok(index) if value.is_array() => value.get_mut(index),
            _ => value.get_mut(part),
        };
        value = inner.map(Value::take).ok_or_else(|| format!("${{{path}}}: there is no {part}"))?;
    }
    Ok(value)
}
