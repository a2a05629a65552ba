//! The sessions of a store, page after page.
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{Error, Result};
use crate::reports::SessionInfo;
use crate::store::Store;

/// The list of a store's sessions, which is asked for page after page. Made by
/// [`Store::all_sessions`]. After an error it ends.
#[derive(Debug)]
#[must_use = "nothing is asked for until it is gone through"]
pub struct Sessions {
    store: Store,
    filter: Option<Map<String, Value>>,
    page: std::vec::IntoIter<SessionInfo>,
}

impl Sessions {
    pub(crate) fn of(store: Store, filter: &impl Document) -> Result<Self> {
        let text = filter.to_json()?;
        let filter = match &*text {
            [] => Map::new(),
            text => serde_json::from_slice(text)
                .map_err(|error| Error::json("the filter is not an object", error))?,
        };
        Ok(Sessions { store, filter: Some(filter), page: Vec::new().into_iter() })
    }

    fn fetch(&mut self, mut filter: Map<String, Value>) -> Result<()> {
        let list = self.store.sessions(&filter)?.into_inner();
        self.page = list.sessions.into_iter();
        self.filter = list.next.map(|cursor| {
            filter.remove("rescan");
            filter.insert("after".into(), cursor.into());
            filter
        });
        Ok(())
    }
}

impl Iterator for Sessions {
    type Item = Result<SessionInfo>;

    fn next(&mut self) -> Option<Result<SessionInfo>> {
        loop {
            if let Some(session) = self.page.next() {
                return Some(Ok(session));
            }
            let filter = self.filter.take()?;
            if let Err(error) = self.fetch(filter) {
                return Some(Err(error));
            }
        }
    }
}
