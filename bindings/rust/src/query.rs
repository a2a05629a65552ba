//! Queries: by words, tag, type, time, reference, and by relevance that decays.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What to find. Every member is optional, all combine by AND; the page docs/query.md of varve is
/// the whole language. What is `None` is no condition; the library is told of an empty list or object.
///
/// ```
/// use varve::{Query, SortBy};
/// let query = Query::text("oauth* -implicit")
///     .types(["decision", "finding"])
///     .tag("security")
///     .last("7d")
///     .sort_by(SortBy::Time)
///     .limit(10);
/// assert_eq!(serde_json::to_value(&query).unwrap()["time"]["last"], "7d");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use = "each step gives the value with it; pass the last one to a call"]
pub struct Query {
    /// Words (ranked, any may match), `"phrases"`, `+must`, `-not`, wildcards `*` and `?`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Instead of `text`, as a person asks: words and `"phrases"`; signs and wildcards say nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// An embedding of the question, for entries that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<f32>>,
    /// What the vector counts beside the text, of 1; 0.5 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_weight: Option<f64>,
    /// Any of these types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// Tags that must and must not be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
    /// From when to when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// The importance as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_importance: Option<f64>,
    /// What age, recency and match make of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_relevance: Option<f64>,
    /// Entries reached from these ids, outwards and inwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<Vec<String>>,
    /// Only along relations of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// How many steps; 1 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// Only these ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// Only of this trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Scalar members of the content that must be equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Map<String, Value>>,
    /// `Best` when there is text, else `Relevance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_by: Option<SortBy>,
    /// `Desc` when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// 100 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The moment that ages are counted to, RFC 3339; else the store's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Tells for each result why it stands where it does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Of a store's query: only sessions of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Of a store's query: only sessions of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Of a store's query: only these sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_ids: Option<Vec<String>>,
    /// Members that this type does not have.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Tags that must and must not be there: exactly, or above in the hierarchy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tags {
    /// These must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include: Option<Vec<String>>,
    /// None of these may be there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Any or all of `include`; `Any` when not given.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<Match>,
}

/// Whether one tag is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// One of them is enough.
    Any,
    /// All of them.
    All,
}

/// A range of time: `start <= timestamp < end`, or the last `7d`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Time {
    /// RFC 3339; belongs to the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// RFC 3339; does not belong to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Back from now: a number and s, m, h, d or w.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// What decides the order of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortBy {
    /// Words, meaning and neighbourhood together.
    Best,
    /// Importance, decay, recency and match together.
    Relevance,
    /// The words alone.
    Match,
    /// The timestamp.
    Time,
    /// The importance as given.
    Importance,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The smallest, or oldest.
    Asc,
    /// The largest, or newest.
    Desc,
}

fn strings<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}

impl Query {
    /// Everything, by relevance.
    pub fn all() -> Self {
        Query::default()
    }

    /// What these words find.
    pub fn text(text: impl Into<String>) -> Self {
        Query { text: Some(text.into()), ..Query::default() }
    }

    /// What answers this question, as a person wrote it: its signs and wildcards say nothing.
    pub fn question(question: impl Into<String>) -> Self {
        Query { question: Some(question.into()), ..Query::default() }
    }

    /// Entries whose vectors are near to this one.
    pub fn vector(mut self, values: impl Into<Vec<f32>>) -> Self {
        self.vector = Some(values.into());
        self
    }

    /// What the vector counts beside the text, of 1.
    pub fn vector_weight(mut self, weight: f64) -> Self {
        self.vector_weight = Some(weight);
        self
    }

    /// Any of these types.
    pub fn types<T: Into<String>>(mut self, types: impl IntoIterator<Item = T>) -> Self {
        self.types.get_or_insert_with(Vec::new).extend(types.into_iter().map(Into::into));
        self
    }

    /// This tag, or one below it.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        let tags = self.tags.get_or_insert_with(Default::default);
        tags.include.get_or_insert_with(Vec::new).push(tag.into());
        self
    }

    /// Not this tag, nor one below it.
    pub fn without_tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.get_or_insert_with(Default::default).exclude.push(tag.into());
        self
    }

    /// All the tags that are asked for, not only one of them.
    pub fn all_tags(mut self) -> Self {
        self.tags.get_or_insert_with(Default::default).matching = Some(Match::All);
        self
    }

    /// From this moment on, RFC 3339.
    pub fn since(mut self, start: impl Into<String>) -> Self {
        self.time.get_or_insert_with(Default::default).start = Some(start.into());
        self
    }

    /// Before this moment, RFC 3339.
    pub fn before(mut self, end: impl Into<String>) -> Self {
        self.time.get_or_insert_with(Default::default).end = Some(end.into());
        self
    }

    /// In the last `15m`, `24h`, `7d`, `2w`.
    pub fn last(mut self, span: impl Into<String>) -> Self {
        self.time.get_or_insert_with(Default::default).last = Some(span.into());
        self
    }

    /// At least this important.
    pub fn min_importance(mut self, importance: f64) -> Self {
        self.min_importance = Some(importance);
        self
    }

    /// At least this relevant.
    pub fn min_relevance(mut self, relevance: f64) -> Self {
        self.min_relevance = Some(relevance);
        self
    }

    /// What these entries refer to and what refers to them, `depth` steps far.
    pub fn references<T: Into<String>>(
        mut self,
        ids: impl IntoIterator<Item = T>,
        depth: u32,
    ) -> Self {
        self.references = Some(strings(ids));
        self.max_depth = Some(depth);
        self
    }

    /// Only along relations of this name.
    pub fn relation(mut self, name: impl Into<String>) -> Self {
        self.relation = Some(name.into());
        self
    }

    /// Only these entries.
    pub fn ids<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.ids = Some(strings(ids));
        self
    }

    /// Only entries of this trace.
    pub fn trace(mut self, trace_id: impl Into<String>) -> Self {
        self.trace_id = Some(trace_id.into());
        self
    }

    /// Only entries whose content has this member with this value.
    pub fn content(mut self, member: impl Into<String>, value: impl Into<Value>) -> Self {
        self.content.get_or_insert_with(Map::new).insert(member.into(), value.into());
        self
    }

    /// What decides the order.
    pub fn sort_by(mut self, by: SortBy) -> Self {
        self.sort_by = Some(by);
        self
    }

    /// Which end comes first.
    pub fn order(mut self, order: Order) -> Self {
        self.order = Some(order);
        self
    }

    /// At most so many.
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The page behind this cursor.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.after = Some(cursor.into());
        self
    }

    /// The moment that ages are counted to, RFC 3339.
    pub fn now(mut self, moment: impl Into<String>) -> Self {
        self.now = Some(moment.into());
        self
    }

    /// Tells for each result why it stands where it does.
    pub fn explain(mut self) -> Self {
        self.explain = true;
        self
    }

    /// Of a store's query: only sessions of this user.
    pub fn user(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }

    /// Of a store's query: only sessions of this agent.
    pub fn agent(mut self, agent_id: impl Into<String>) -> Self {
        self.agent_id = Some(agent_id.into());
        self
    }

    /// Of a store's query: only these sessions.
    pub fn sessions<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.session_ids = Some(strings(ids));
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
    fn an_empty_query_is_an_empty_object() {
        assert_eq!(serde_json::to_string(&Query::all()).expect("written"), "{}");
    }

    #[test]
    fn an_empty_list_or_object_is_no_absent_one() {
        let none: [&str; 0] = [];
        let query = Query::all().types(none).references(none, 1).ids(none).sessions(none);
        let tags = Some(Tags { include: Some(vec![]), ..Tags::default() });
        let query = Query { tags, content: Some(Map::new()), ..query };
        let expected = serde_json::json!({"types": [], "references": [], "max_depth": 1, "ids": [],
            "session_ids": [], "tags": {"include": []}, "content": {}});
        assert_eq!(serde_json::to_value(query).expect("written"), expected);
    }

    #[test]
    fn every_member_is_written_as_the_language_has_it() {
        let query = Query::text("tea")
            .tag("drinks")
            .without_tag("old")
            .all_tags()
            .since("2026-01-01T00:00:00Z")
            .before("2026-02-01T00:00:00Z")
            .min_importance(0.1)
            .min_relevance(0.2)
            .types(["finding"])
            .types(["decision"])
            .references(["a"], 2)
            .relation("caused_by")
            .ids(["b", "c"])
            .trace("trace-7")
            .content("role", "user")
            .sort_by(SortBy::Importance)
            .order(Order::Asc)
            .vector([0.5, -1.0])
            .vector_weight(0.25)
            .limit(7)
            .after("cursor")
            .now("2026-03-01T00:00:00Z")
            .explain()
            .user("ann")
            .agent("cook")
            .sessions(["kitchen"])
            .member("colour", "blue");
        let value = serde_json::to_value(&query).expect("written");
        let expected = serde_json::json!({
            "text": "tea", "tags": {"include": ["drinks"], "exclude": ["old"], "match": "all"},
            "time": {"start": "2026-01-01T00:00:00Z", "end": "2026-02-01T00:00:00Z"},
            "min_importance": 0.1, "min_relevance": 0.2, "types": ["finding", "decision"],
            "references": ["a"], "max_depth": 2, "relation": "caused_by", "ids": ["b", "c"],
            "trace_id": "trace-7", "content": {"role": "user"}, "sort_by": "importance",
            "order": "asc", "vector": [0.5, -1.0], "vector_weight": 0.25, "limit": 7,
            "after": "cursor", "now": "2026-03-01T00:00:00Z", "explain": true, "user_id": "ann",
            "agent_id": "cook", "session_ids": ["kitchen"], "colour": "blue"});
        assert_eq!(value, expected);
        assert_eq!(serde_json::from_value::<Query>(value).expect("read"), query);
        let query = serde_json::to_value(Query::question("why?").last("7d")).expect("written");
        assert_eq!(query, serde_json::json!({"question": "why?", "time": {"last": "7d"}}));
    }
}
