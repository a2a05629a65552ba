//! Entries: what an agent saw, decided and learnt.
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// One entry, to be added or as it is stored.
///
/// Only the type and the content are needed. What is left empty is made by the library: the id, the
/// timestamp, an importance of 0.5. Members that this type does not have are kept in `extra`, so an
/// entry that is read and written again loses nothing. Where somebody gave `usage`, or wrote `span_id`,
/// `ttl_seconds`, `decay_factor` or `session_id` into the file, of another kind than the field, that
/// is none here, and stands only in the JSON ([`Session::get_json`](crate::Session::get_json)).
///
/// ```
/// use varve::Entry;
/// # fn main() -> varve::Result<()> {
/// # let session = varve::Store::open("memory:")?.create_session(())?;
/// let id = session.add(
///     Entry::new("decision", serde_json::json!({"use": "PostgreSQL", "because": "transactions"}))
///         .tags(["database", "backend.storage"])
///         .importance(0.9),
/// )?;
/// let stored = session.get(&id)?;
/// assert_eq!(stored.content["use"], "PostgreSQL");
/// assert_eq!(stored.seq, Some(1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// The id; empty to have one made. Used once, ever: also not after a delete.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// conversation, decision, finding, preference, message, tool_call, tool_result, observation,
    /// summary, document, or a name of your own: `[a-z][a-z0-9_]{0,31}`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Any JSON.
    pub content: Value,
    /// RFC 3339; now when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// 0 to 1; 0.5 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// Tags; `.` makes a hierarchy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Ids of entries that this one refers to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Ids of entries by the name of the relation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub relations: BTreeMap<String, Vec<String>>,
    /// RFC 3339; from then on the entry is as if it were not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// It expires so many seconds after it was added; stored as `expires_at`.
    #[serde(deserialize_with = "if_it_fits", skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<f64>,
    /// What the model call behind it used; see [`Store::usage`](crate::Store::usage).
    #[serde(deserialize_with = "if_it_fits", skip_serializing_if = "Option::is_none")]
    pub usage: Option<EntryUsage>,
    /// Which trace it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Which part of the trace.
    #[serde(deserialize_with = "if_it_fits", skip_serializing_if = "Option::is_none")]
    pub span_id: Option<String>,
    /// 0 to 1; stored, nothing uses it yet.
    #[serde(deserialize_with = "if_it_fits", skip_serializing_if = "Option::is_none")]
    pub decay_factor: Option<f64>,
    /// The session it is in; given by the library.
    #[serde(deserialize_with = "if_it_fits", skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Its number in the session; given by the library.
    #[serde(deserialize_with = "if_whole", skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The version of its form; given by the library.
    #[serde(deserialize_with = "if_whole", skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<u64>,
    /// Its place among those it was added with; given by the library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchPlace>,
    /// The checksum of its line; given by the library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// All other members, kept as they are.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The place of an entry among those that it was added with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchPlace {
    /// Counted from 0.
    #[serde(rename = "i", deserialize_with = "whole")]
    pub index: u64,
    /// How many they were.
    #[serde(rename = "n", deserialize_with = "whole")]
    pub count: u64,
}

/// What a model call used, as an entry tells of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EntryUsage {
    /// Tokens that the model was given.
    #[serde(deserialize_with = "if_whole", skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that it gave.
    #[serde(deserialize_with = "if_whole", skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// What it cost.
    #[serde(deserialize_with = "if_it_fits", skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// All other members.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// For members that the library takes in any form: one of an unexpected form must not hide the
/// entry, nor all others of its page.
pub(crate) fn if_it_fits<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    member: D,
) -> std::result::Result<Option<T>, D::Error> {
    Ok(T::deserialize(Value::deserialize(member)?).ok())
}

/// A line that was written by hand may have 1.0 or 1e0 for 1, which serde does not take for an
/// integer. Beyond 2^53 a double is not sure of each.
fn if_whole<'de, D: Deserializer<'de>>(member: D) -> std::result::Result<Option<u64>, D::Error> {
    const SURE_UP_TO: f64 = 9_007_199_254_740_992.0;
    let value = Value::deserialize(member)?;
    let is_whole = |number: &f64| number.fract() == 0.0 && (0.0..SURE_UP_TO).contains(number);
    Ok(value.as_u64().or_else(|| value.as_f64().filter(is_whole).map(|number| number as u64)))
}

fn whole<'de, D: Deserializer<'de>>(member: D) -> std::result::Result<u64, D::Error> {
    if_whole(member)?.ok_or_else(|| serde::de::Error::custom("not a whole number from 0"))
}

impl Entry {
    /// An entry of this type with this content.
    pub fn new(kind: impl Into<String>, content: impl Into<Value>) -> Self {
        Entry { kind: kind.into(), content: content.into(), ..Entry::default() }
    }

    /// An entry of this type with what serde makes of `content`.
    pub fn with_content(kind: impl Into<String>, content: &impl Serialize) -> Result<Self> {
        let content = serde_json::to_value(content)
            .map_err(|error| Error::json("the content cannot be written", error))?;
        Ok(Entry::new(kind, content))
    }

    /// Reads the content as a type of yours.
    pub fn content_as<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.content)
            .map_err(|error| Error::json("the content is of another form", error))
    }

    /// Gives it an id of yours.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Adds tags.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// How much it matters, 0 to 1.
    pub fn importance(mut self, importance: f64) -> Self {
        self.importance = Some(importance);
        self
    }

    /// When it happened, RFC 3339.
    pub fn timestamp(mut self, timestamp: impl Into<String>) -> Self {
        self.timestamp = Some(timestamp.into());
        self
    }

    /// When it is to be forgotten, RFC 3339.
    pub fn expires_at(mut self, moment: impl Into<String>) -> Self {
        self.expires_at = Some(moment.into());
        self
    }

    /// It is to be forgotten so many seconds after it was added.
    pub fn ttl_seconds(mut self, seconds: f64) -> Self {
        self.ttl_seconds = Some(seconds);
        self
    }

    /// What the model call behind it used.
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64, cost_usd: f64) -> Self {
        self.usage = Some(EntryUsage {
            input_tokens: Some(input_tokens),
            output_tokens: Some(output_tokens),
            cost_usd: Some(cost_usd),
            ..EntryUsage::default()
        });
        self
    }

    /// Refers to another entry.
    pub fn reference(mut self, id: impl Into<String>) -> Self {
        self.references.push(id.into());
        self
    }

    /// Refers to another entry by a named relation.
    pub fn relation(mut self, name: impl Into<String>, id: impl Into<String>) -> Self {
        self.relations.entry(name.into()).or_default().push(id.into());
        self
    }

    /// Which trace it belongs to.
    pub fn trace(mut self, trace_id: impl Into<String>) -> Self {
        self.trace_id = Some(trace_id.into());
        self
    }

    /// Sets a member that this type has no field for.
    pub fn member(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }
}

#[cfg(test)]
mod without_library {
    use super::*;

    #[test]
    fn what_is_not_given_is_not_written() {
        let text = serde_json::to_string(&Entry::new("finding", "tea")).expect("written");
        assert_eq!(text, r#"{"type":"finding","content":"tea"}"#);
    }

    #[test]
    fn every_step_is_written_under_its_name() {
        let entry = Entry::new("finding", "tea")
            .id("a")
            .tag("one")
            .tags(["two", "three"])
            .importance(0.5)
            .timestamp("2026-01-01T00:00:00Z")
            .expires_at("2026-02-01T00:00:00Z")
            .reference("b")
            .reference("c")
            .relation("caused_by", "d")
            .relation("caused_by", "e")
            .trace("trace-7")
            .ttl_seconds(0.5)
            .usage(412, 9, 0.25)
            .member("mood", "good");
        let expected = serde_json::json!({
            "id": "a", "type": "finding", "content": "tea", "tags": ["one", "two", "three"],
            "importance": 0.5, "timestamp": "2026-01-01T00:00:00Z",
            "expires_at": "2026-02-01T00:00:00Z", "references": ["b", "c"],
            "relations": {"caused_by": ["d", "e"]}, "trace_id": "trace-7", "mood": "good",
            "ttl_seconds": 0.5,
            "usage": {"input_tokens": 412, "output_tokens": 9, "cost_usd": 0.25}});
        assert_eq!(serde_json::to_value(entry).expect("written"), expected);
    }

    #[test]
    fn members_without_a_field_are_kept() {
        let line = r#"{"type":"finding","content":null,"mood":{"n":18446744073709551615},"seq":3}"#;
        let entry: Entry = serde_json::from_str(line).expect("read");
        assert_eq!((entry.seq, &entry.extra["mood"]["n"]), (Some(3), &u64::MAX.into()));
        let again: Entry = serde_json::to_value(&entry).and_then(serde_json::from_value).expect("");
        assert_eq!(again, entry);
    }

    #[test]
    fn a_number_that_is_read_and_written_again_is_the_same() {
        for number in ["0.00010001881480466123", "51.24817837550541", "1.0715660391465826e-5"] {
            let line = format!(r#"{{"type":"finding","content":{number}}}"#);
            let entry: Entry = serde_json::from_str(&line).expect("read");
            assert_eq!(entry.content.as_f64(), number.parse().ok(), "{number}");
            let again: serde_json::Result<Entry> =
                serde_json::to_string(&entry).and_then(|text| serde_json::from_str(&text));
            assert_eq!(again.expect("read again"), entry);
        }
    }
}
