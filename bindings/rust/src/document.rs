//! What goes in as JSON.
use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::context::ContextRequest;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::memory::{MemoryEntry, MemoryOptions};
use crate::options::SessionOptions;
use crate::query::Query;
use crate::window::Message;

/// What a call takes as a JSON document.
///
/// - a typed value: [`Entry`], `[Entry]`, [`Query`], [`ContextRequest`], [`Message`], options such as
///   [`StoreConfig`](crate::StoreConfig) and [`CompactOptions`](crate::CompactOptions);
/// - [`serde_json::Value`] or its `Map`, as `json!` makes them;
/// - JSON text, `str` or `String`, or bytes, which go to the library as they are (it checks them:
///   bytes that are no UTF-8 are [`ErrorKind::InvalidArgument`](crate::ErrorKind));
/// - `()` for none, and `Option` of all these;
/// - [`Json`] around any other type that serde can write.
///
/// By value or by reference.
///
/// ```
/// # fn main() -> varve::Result<()> {
/// # let session = varve::Store::open("memory:")?.create_session(())?;
/// #[derive(serde::Serialize)]
/// struct Remark { r#type: &'static str, content: String }
///
/// session.add(varve::Json(Remark { r#type: "finding", content: "It rains".into() }))?;
/// session.add(serde_json::json!({"type": "finding", "content": "It snows"}))?;
/// session.add(r#"{"type":"finding","content":"It thaws"}"#)?;
/// assert_eq!(session.count(())?, 3);
/// # Ok(())
/// # }
/// ```
pub trait Document {
    /// The document as UTF-8 JSON; empty for none.
    fn to_json(&self) -> Result<Cow<'_, [u8]>>;
}

/// Makes a [`Document`] of anything that serde can write.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<Cow<'_, [u8]>> {
    serde_json::to_vec(value)
        .map(Cow::Owned)
        .map_err(|error| Error::json("the document cannot be written", error))
}

impl<T: Serialize> Document for Json<T> {
    fn to_json(&self) -> Result<Cow<'_, [u8]>> {
        write(&self.0)
    }
}

impl<T: Document + ?Sized> Document for &T {
    fn to_json(&self) -> Result<Cow<'_, [u8]>> {
        (**self).to_json()
    }
}

impl<T: Document> Document for Option<T> {
    fn to_json(&self) -> Result<Cow<'_, [u8]>> {
        self.as_ref().map_or_else(|| ().to_json(), T::to_json)
    }
}

impl Document for () {
    fn to_json(&self) -> Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(&[]))
    }
}

macro_rules! as_they_are {
    ($($name:ty),*) => {$(
        impl Document for $name {
            fn to_json(&self) -> Result<Cow<'_, [u8]>> {
                Ok(Cow::Borrowed(self.as_ref()))
            }
        }
    )*};
}
as_they_are!(str, String, [u8], Vec<u8>);

macro_rules! written_by_serde {
    ($($name:ty),*) => {$(
        impl Document for $name {
            fn to_json(&self) -> Result<Cow<'_, [u8]>> {
                write(self)
            }
        }
    )*};
}
written_by_serde!(Value, Map<String, Value>, Entry, [Entry], Vec<Entry>, Query, SessionOptions);
written_by_serde!(ContextRequest, MemoryOptions, Message, MemoryEntry);

/// Structs of documents that the library takes; what is `None` is not given.
macro_rules! options {
    ($($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        #[must_use = "pass it to a call"]
        pub struct $name {
            $(
                $(#[$what])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*
            /// Members that this type does not have.
            #[serde(flatten)]
            pub extra: serde_json::Map<String, serde_json::Value>,
        }

        impl crate::document::Document for $name {
            fn to_json(&self) -> crate::error::Result<std::borrow::Cow<'_, [u8]>> {
                crate::document::write(self)
            }
        }
    )*};
}
pub(crate) use options;

impl<const N: usize> Document for [Entry; N] {
    fn to_json(&self) -> Result<Cow<'_, [u8]>> {
        self.as_slice().to_json()
    }
}

impl<const N: usize> Document for [u8; N] {
    fn to_json(&self) -> Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(self))
    }
}
