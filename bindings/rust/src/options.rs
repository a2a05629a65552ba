//! What a new session is to be.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::{CompactionConfig, DecayConfig};

/// Options of [`Store::session`](crate::Store::session) and
/// [`Store::create_session`](crate::Store::create_session), all optional.
///
/// ```
/// use varve::SessionOptions;
/// # fn main() -> varve::Result<()> {
/// # let store = varve::Store::open("memory:")?;
/// let session = store.create_session(SessionOptions::new("kitchen").user("ann").ttl_hours(24.0))?;
/// assert_eq!(session.id(), "kitchen");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[must_use = "each step gives the value with it; pass the last one to a call"]
pub struct SessionOptions {
    /// The id; one that sorts by time is made when it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What to do when there is a session of that id: "fail" when not given, or "open".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_exists: Option<String>,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Which agent's it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// "kv" and "transcript" when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stores: Option<Vec<String>>,
    /// How many keys it keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv_cap: Option<u64>,
    /// How many turns it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_cap: Option<u64>,
    /// It expires so long after its last write; 0 for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_hours: Option<f64>,
    /// "sliding", or "fixed": after its creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_policy: Option<String>,
    /// "commit" (survives power loss), "interval" or "os".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
    /// How entries lose relevance with age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay_config: Option<DecayConfig>,
    /// When it compacts itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction_config: Option<CompactionConfig>,
    /// Preferences of yours, kept with the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Value>,
    /// Members that this type does not have.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A session of this id.
impl From<&str> for SessionOptions {
    fn from(session_id: &str) -> Self {
        SessionOptions::new(session_id)
    }
}

/// A session of this id.
impl From<String> for SessionOptions {
    fn from(session_id: String) -> Self {
        SessionOptions::new(session_id)
    }
}

/// A session of this id.
impl From<&String> for SessionOptions {
    fn from(session_id: &String) -> Self {
        SessionOptions::new(session_id)
    }
}

impl SessionOptions {
    /// A session of this id.
    pub fn new(session_id: impl Into<String>) -> Self {
        SessionOptions { session_id: Some(session_id.into()), ..SessionOptions::default() }
    }

    /// Whose it is.
    pub fn user(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }

    /// Which agent's it is.
    pub fn agent(mut self, agent_id: impl Into<String>) -> Self {
        self.agent_id = Some(agent_id.into());
        self
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// It expires so long after its last write.
    pub fn ttl_hours(mut self, hours: f64) -> Self {
        self.ttl_hours = Some(hours);
        self
    }

    /// "commit", "interval" or "os".
    pub fn durability(mut self, durability: impl Into<String>) -> Self {
        self.durability = Some(durability.into());
        self
    }
}

#[cfg(test)]
mod without_library {
    use super::*;

    #[test]
    fn every_option_is_written_under_its_name() {
        let options = SessionOptions::new("kitchen")
            .user("ann")
            .agent("cook")
            .title("Kitchen")
            .ttl_hours(0.5)
            .durability("os");
        let expected = serde_json::json!({"session_id": "kitchen", "user_id": "ann",
            "agent_id": "cook", "title": "Kitchen", "ttl_hours": 0.5, "durability": "os"});
        assert_eq!(serde_json::to_value(options).expect("written"), expected);
        let nobody = SessionOptions::default().user("").agent("");
        let expected = serde_json::json!({"user_id": "", "agent_id": ""}); // which is refused
        assert_eq!(serde_json::to_value(nobody).expect("written"), expected);
    }
}
