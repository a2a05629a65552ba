//! Patterns of tests/conformance/README.md: what an answer is compared with.
use regex::Regex;
use serde_json::{Map, Value};

/// Nothing when the value matches, else where and why not.
pub fn mismatch(pattern: &Value, value: &Value, place: &str) -> Option<String> {
    let differs = || Some(format!("{place}: expected {pattern}, got {value}"));
    match (pattern, value) {
        (Value::Object(members), _) if special(members).is_some() => {
            special(members).and_then(|(name, inner)| special_mismatch(name, inner, value, place))
        }
        (Value::Object(members), Value::Object(_)) => members.iter().find_map(|(name, inner)| {
            member_mismatch(inner, value.get(name), &format!("{place}.{name}"))
        }),
        (Value::Array(patterns), Value::Array(values)) if patterns.len() == values.len() => {
            let mut pairs = patterns.iter().zip(values).enumerate();
            pairs.find_map(|(i, (pattern, value))| {
                mismatch(pattern, value, &format!("{place}[{i}]"))
            })
        }
        (Value::Number(_), Value::Number(_)) if same_number(pattern, value) => None,
        (Value::Object(_) | Value::Array(_) | Value::Number(_), _) => differs(),
        _ if pattern == value => None,
        _ => differs(),
    }
}

fn special(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (name, argument) = members.iter().next()?;
    (members.len() == 1 && name.starts_with('$')).then_some((name, argument))
}

fn member_mismatch(pattern: &Value, value: Option<&Value>, place: &str) -> Option<String> {
    let absent = pattern.get("$absent").is_some();
    match value {
        None if absent => None,
        None => Some(format!("{place}: is not there")),
        Some(value) if absent => Some(format!("{place}: is there: {value}")),
        Some(value) => mismatch(pattern, value, place),
    }
}

fn same_number(one: &Value, other: &Value) -> bool {
    match (one.as_i64(), other.as_i64(), one.as_u64(), other.as_u64()) {
        (Some(a), Some(b), ..) => a == b,
        (_, _, Some(a), Some(b)) => a == b,
        _ => one.as_f64().is_some() && one.as_f64() == other.as_f64(),
    }
}

fn special_mismatch(name: &str, argument: &Value, value: &Value, place: &str) -> Option<String> {
    let matches = match name {
        "$any" => true,
        "$type" => argument.as_str() == Some(type_of(value)),
        "$matches" => {
            let expression = argument.as_str().map(|text| Regex::new(text).expect("a pattern"));
            expression.zip(value.as_str()).is_some_and(|(regex, text)| regex.is_match(text))
        }
        "$length" => {
            value.as_array().is_some_and(|items| argument.as_u64() == Some(items.len() as u64))
        }
        "$unordered" => unordered(argument, value),
        "$contains" => argument.as_array().zip(value.as_array()).is_some_and(|(wanted, items)| {
            wanted.iter().all(|each| items.iter().any(|item| fits(each, item)))
        }),
        "$number" if value.is_number() => argument.as_str() == Some(&value.to_string()),
        "$number" => value.get("$number") == Some(argument), // one beyond u64
        "$between" => value.as_f64().is_some_and(|number| {
            (argument[0].as_f64().expect("a bound")..=argument[1].as_f64().expect("a bound"))
                .contains(&number)
        }),
        "$jsonl" => value.as_str().is_some_and(|text| {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let parsed = lines.map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
            parsed.is_ok_and(|lines| fits(argument, &Value::Array(lines)))
        }),
        "$json" => value.as_str().is_some_and(|text| {
            serde_json::from_str(text).is_ok_and(|inner| fits(argument, &inner))
        }),
        _ => return Some(format!("{place}: the pattern {name} is not known")),
    };
    (!matches).then(|| format!("{place}: {value} does not match {name} {argument}"))
}

fn fits(pattern: &Value, value: &Value) -> bool {
    mismatch(pattern, value, "").is_none()
}

fn unordered(patterns: &Value, value: &Value) -> bool {
    let (Some(patterns), Some(items)) = (patterns.as_array(), value.as_array()) else {
        return false;
    };
    let mut left: Vec<&Value> = items.iter().collect();
    patterns.len() == items.len()
        && patterns.iter().all(|pattern| {
            let found = left.iter().position(|item| fits(pattern, item));
            found.map(|index| left.remove(index)).is_some()
        })
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
