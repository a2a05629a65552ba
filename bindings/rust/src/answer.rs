//! What comes out as JSON.
use std::fmt;
use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::{Error, Result};

/// An answer of the library: the typed value, which it can be used as, and the JSON beside it.
///
/// ```
/// # fn main() -> varve::Result<()> {
/// # let session = varve::Store::open("memory:")?.create_session(())?;
/// let report = session.verify(())?;
/// assert!(report.ok && report.problems.is_empty());
/// assert!(report.json().starts_with('{'));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Answer<T> {
    value: T,
    json: String,
}

impl<T: DeserializeOwned> Answer<T> {
    pub(crate) fn read(json: String) -> Result<Self> {
        let value = serde_json::from_str(&json)
            .map_err(|error| Error::json("the library's answer does not match its type", error))?;
        Ok(Answer { value, json })
    }
}

impl<T> Answer<T> {
    /// The JSON as the library gave it.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The JSON with every member, also those that the type does not have.
    pub fn to_value(&self) -> Result<Value> {
        Ok(serde_json::from_str(&self.json)?)
    }

    /// The typed value alone.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Answer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// One odd value of somebody's hand, as a title that is a number, must not hide all the others.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    member: D,
) -> std::result::Result<T, D::Error> {
    Ok(T::deserialize(Value::deserialize(member)?).unwrap_or_default())
}

/// Structs of documents that the library answers with.
macro_rules! documents {
    ($($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        #[non_exhaustive]
        pub struct $name {
            $(
                $(#[$what])*
                #[serde(deserialize_with = "crate::answer::or_default")]
                pub $field: $type,
            )*
            /// All other members.
            #[serde(flatten)]
            pub extra: serde_json::Map<String, serde_json::Value>,
        }
    )*};
}
pub(crate) use documents;
