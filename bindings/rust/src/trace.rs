//! Log lines as events of the crate `tracing`.
use serde_json::Value;

use crate::error::Result;
use crate::store::{LogLevel, Store};

impl Store {
    /// Passes log lines of this level and above on to the crate `tracing`: events of the target
    /// `varve` with the fields `component`, `session_id` and `metadata`.
    ///
    /// ```
    /// # fn main() -> varve::Result<()> {
    /// let store = varve::Store::open("memory:")?;
    /// store.trace(varve::LogLevel::Info)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn trace(&self, level: LogLevel) -> Result<()> {
        self.set_log(level, event)
    }
}

fn event(level: LogLevel, line: &str) {
    let line: Value = serde_json::from_str(line).unwrap_or_else(|_| line.into());
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let (component, session_id) = (text("component"), text("session_id"));
    let metadata = line.get("metadata").map(ToString::to_string).unwrap_or_default();
    // The level of an event is part of its type: one macro call for each.
    macro_rules! emit {
        ($level:ident) => {
            tracing::event!(target: "varve", tracing::Level::$level, component, session_id,
                            metadata, "{}", text("message"))
        };
    }
    match level {
        LogLevel::Debug => emit!(DEBUG),
        LogLevel::Info => emit!(INFO),
        LogLevel::Warn => emit!(WARN),
        LogLevel::Error => emit!(ERROR),
    }
}
