//! What a model is given: the part of a memory that fits into its context window.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::document::{options, Document};
use crate::error::Result;
use crate::query::Query;
use crate::session::Session;

/// What to build a context from, built step by step. Without any step: the newest entries within
/// 4000 tokens.
///
/// ```
/// use varve::{ContextRequest, Query};
/// # fn main() -> varve::Result<()> {
/// # let session = varve::Store::open("memory:")?.create_session(())?;
/// session.record("user_message", serde_json::json!({"content": "Ann goes to Rome in May"}))?;
/// let context = session.context(
///     ContextRequest::new("Where does Ann go?").max_tokens(500).newest(20).important(5),
/// )?;
/// assert!(context.text.contains("Rome") && context.token_count <= 500);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use = "each step gives the value with it; pass the last one to a call"]
pub struct ContextRequest {
    /// Found as a query's text is; without `retrieve` also the newest entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The union of these is looked at, each entry once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrieve: Option<Vec<Retrieval>>,
    /// Weights of measures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<Vec<Measure>>,
    /// The question and the queries are asked of these sessions, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across: Option<Across>,
    /// How many tokens the text may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// A tool call and its results are both in or both out; true when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_together: Option<bool>,
    /// Entries that come first, before anything is ranked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<String>,
    /// Entries that are never in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_ids: Vec<String>,
    /// "markdown" when not given, "chat", "json" or "plain".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The moment that ages are counted to, RFC 3339; else the store's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Members that this type does not have.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Other sessions of the store that a context recalls from; [`Across::default`] is all of them,
/// everybody's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[must_use = "each step gives the value with it; pass the last one to ContextRequest::across"]
pub struct Across {
    /// Only sessions of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Only sessions of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Only these sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_ids: Option<Vec<String>>,
}

impl Across {
    /// The sessions of one user.
    pub fn user(user_id: impl Into<String>) -> Self {
        Across { user_id: Some(user_id.into()), ..Across::default() }
    }

    /// Of them only those of this agent.
    pub fn agent(mut self, agent_id: impl Into<String>) -> Self {
        self.agent_id = Some(agent_id.into());
        self
    }

    /// Of them only these.
    pub fn sessions<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.session_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }
}

/// How many tokens a context may have: `max_tokens - reserve_tokens`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// 4000 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// 0 when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserve_tokens: Option<u64>,
}

options! {
    /// What a context is chosen from: the newest entries, the most important ones, or what a query
    /// finds.
    Retrieval {
        /// So many of the newest.
        recency: u64,
        /// So many of the most important.
        importance: u64,
        /// What it finds.
        query: Query,
        /// Beside one of these only entries of these types; alone the 100 newest of them.
        types: Vec<String>,
    }
    /// The weight of one measure, 0 to 1e6.
    Measure {
        /// How much it counts that an entry is new.
        temporal: f64,
        /// How much the importance as given counts.
        importance: f64,
        /// How much it counts that the words match.
        r#match: f64,
    }
}

impl ContextRequest {
    /// For a model that is asked this.
    pub fn new(question: impl Into<String>) -> Self {
        ContextRequest { question: Some(question.into()), ..ContextRequest::default() }
    }

    fn look_at(mut self, retrieval: Retrieval) -> Self {
        self.retrieve.get_or_insert_with(Vec::new).push(retrieval);
        self
    }

    fn weigh(mut self, measure: Measure) -> Self {
        self.rank.get_or_insert_with(Vec::new).push(measure);
        self
    }

    /// Looks at the newest entries, so many.
    pub fn newest(self, count: u64) -> Self {
        self.look_at(Retrieval { recency: Some(count), ..Retrieval::default() })
    }

    /// Looks at the newest entries of these types, so many.
    pub fn newest_of<T: Into<String>>(
        self,
        types: impl IntoIterator<Item = T>,
        count: u64,
    ) -> Self {
        let types = Some(types.into_iter().map(Into::into).collect());
        self.look_at(Retrieval { types, recency: Some(count), ..Retrieval::default() })
    }

    /// Looks at the most important entries, so many.
    pub fn important(self, count: u64) -> Self {
        self.look_at(Retrieval { importance: Some(count), ..Retrieval::default() })
    }

    /// Looks at what a query finds.
    pub fn found_by(self, query: &Query) -> Self {
        self.look_at(Retrieval { query: Some(query.clone()), ..Retrieval::default() })
    }

    /// How much it counts that an entry is new.
    pub fn rank_time(self, weight: f64) -> Self {
        self.weigh(Measure { temporal: Some(weight), ..Measure::default() })
    }

    /// How much the importance as given counts.
    pub fn rank_importance(self, weight: f64) -> Self {
        self.weigh(Measure { importance: Some(weight), ..Measure::default() })
    }

    /// How much it counts that the words match.
    pub fn rank_match(self, weight: f64) -> Self {
        self.weigh(Measure { r#match: Some(weight), ..Measure::default() })
    }

    /// Recalls from these sessions, too.
    pub fn across(mut self, sessions: Across) -> Self {
        self.across = Some(sessions);
        self
    }

    /// At most so many tokens, those in reserve included.
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.budget.get_or_insert_with(Budget::default).max_tokens = Some(tokens);
        self
    }

    /// Leaves room for so many tokens.
    pub fn reserve_tokens(mut self, tokens: u64) -> Self {
        self.budget.get_or_insert_with(Budget::default).reserve_tokens = Some(tokens);
        self
    }

    /// Whether a tool call and its results are both in or both out.
    pub fn keep_together(mut self, together: bool) -> Self {
        self.keep_together = Some(together);
        self
    }

    /// This entry comes first.
    pub fn pin(mut self, id: impl Into<String>) -> Self {
        self.pinned.push(id.into());
        self
    }

    /// This entry is never in.
    pub fn exclude(mut self, id: impl Into<String>) -> Self {
        self.exclude_ids.push(id.into());
        self
    }

    /// "markdown", "chat", "json" or "plain".
    pub fn format(mut self, format: impl Into<String>) -> Self {
        self.format = Some(format.into());
        self
    }

    /// The moment that ages are counted to, RFC 3339.
    pub fn now(mut self, moment: impl Into<String>) -> Self {
        self.now = Some(moment.into());
        self
    }

    /// Sets a member that this type has no field for.
    pub fn member(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }
}

/// A context: the text for the model, and what it is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Context {
    /// What the model is to be given.
    pub text: String,
    /// The entries in it, in the order of the text.
    pub items: Vec<ContextItem>,
    /// Of the whole text.
    pub token_count: u64,
    /// Entries that were found and did not fit.
    pub dropped: u64,
    /// Whether there are such entries.
    pub truncated: bool,
    /// All other members.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One entry of a context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ContextItem {
    /// Which entry.
    pub id: String,
    /// Of which session, in a context across sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How many tokens it takes.
    pub tokens: u64,
    /// What it was ranked by.
    pub rank: f64,
    /// "pinned", "recalled" or "recent".
    pub source: String,
    /// All other members.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Session {
    /// Builds a context: the part of this memory that fits into a model's window.
    pub fn context(&self, request: impl Document) -> Result<Answer<Context>> {
        self.ask(self.api().varve_context_build, &request.to_json()?).and_then(Answer::read)
    }

    /// Records one step of a conversation, and gives the entry's id. `kind`: user_message,
    /// assistant_message, tool_call, tool_result, observation, event, summary, document.
    pub fn record(&self, kind: &str, payload: impl Document) -> Result<String> {
        self.ask_two(self.api().varve_context_record, kind.as_bytes(), &payload.to_json()?)
    }
}

#[cfg(test)]
mod without_library {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_step_is_written_as_a_request_has_it() {
        let request = ContextRequest::new("why?")
            .newest(3)
            .newest_of(["tool_call"], 4)
            .important(5)
            .found_by(&Query::text("tea"))
            .rank_time(0.25)
            .rank_importance(0.5)
            .rank_match(1.0)
            .across(Across::user("ann").agent("cook").sessions(["s1"]))
            .max_tokens(300)
            .reserve_tokens(50)
            .keep_together(false)
            .pin("a")
            .exclude("b")
            .format("chat")
            .now("2026-03-01T00:00:00Z")
            .member("colour", "blue");
        let expected = json!({
            "question": "why?", "retrieve": [{"recency": 3}, {"types": ["tool_call"], "recency": 4},
            {"importance": 5}, {"query": {"text": "tea"}}], "rank": [{"temporal": 0.25},
            {"importance": 0.5}, {"match": 1.0}], "across": {"user_id": "ann", "agent_id": "cook",
            "session_ids": ["s1"]}, "budget": {"max_tokens": 300,
            "reserve_tokens": 50}, "keep_together": false, "pinned": ["a"], "exclude_ids": ["b"],
            "format": "chat", "now": "2026-03-01T00:00:00Z", "colour": "blue"});
        assert_eq!(serde_json::to_value(request).expect("written"), expected);
        assert_eq!(serde_json::to_string(&ContextRequest::default()).expect("written"), "{}");
        let of_all = ContextRequest::default().across(Across::default());
        assert_eq!(serde_json::to_string(&of_all).expect("written"), r#"{"across":{}}"#);
    }
}
