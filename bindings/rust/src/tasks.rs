//! The same calls as futures: each runs on tokio's threads for blocking work.
use std::ffi::OsStr;

use tokio::task::spawn_blocking;

use crate::answer::Answer;
use crate::context::Context;
use crate::document::Document;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::options::SessionOptions;
use crate::results::Results;
use crate::session::Session;
use crate::store::Store;

/// Runs a closure where it may block. A panic in it goes on in the task that waits.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(Error::cancelled()),
    }
}

/// A [`Store`] for asynchronous code.
#[derive(Clone, Debug)]
pub struct StoreHandle(Store);

/// A [`Session`] for asynchronous code. Clones are the same session.
///
/// A future that is dropped does not take its call back: what was begun is finished on its thread.
///
/// ```
/// use varve::{Entry, Query, StoreHandle};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> varve::Result<()> {
/// let store = StoreHandle::open("memory:", ()).await?;
/// let session = store.create_session(()).await?;
/// session.add(Entry::new("finding", "The kettle needs 3 minutes")).await?;
/// assert_eq!(session.query(Query::text("kettle")).await?.len(), 1);
/// // Every other call:
/// let report = session.run(|session| session.verify(())).await?;
/// assert!(report.ok);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SessionHandle(Session);

impl From<Store> for StoreHandle {
    fn from(store: Store) -> Self {
        StoreHandle(store)
    }
}

impl From<Session> for SessionHandle {
    fn from(session: Session) -> Self {
        SessionHandle(session)
    }
}

impl StoreHandle {
    /// As [`Store::open_with`].
    pub async fn open(uri: impl AsRef<OsStr>, config: impl Document) -> Result<StoreHandle> {
        let (uri, config) = (uri.as_ref().to_owned(), config.to_json()?.into_owned());
        blocking(move || Store::open_with(uri, config)).await.map(StoreHandle)
    }

    /// As [`Store::create_session`].
    pub async fn create_session(&self, options: impl Document) -> Result<SessionHandle> {
        let options = options.to_json()?.into_owned();
        self.run(move |store| store.create_session(options)).await.map(SessionHandle)
    }

    /// As [`Store::open_session`].
    pub async fn open_session(&self, id: &str) -> Result<SessionHandle> {
        let id = id.to_owned();
        self.run(move |store| store.open_session(&id)).await.map(SessionHandle)
    }

    /// As [`Store::session`].
    pub async fn session(&self, options: impl Into<SessionOptions>) -> Result<SessionHandle> {
        let options = options.into();
        self.run(move |store| store.session(options)).await.map(SessionHandle)
    }

    /// As [`Store::query`].
    pub async fn query(&self, query: impl Document) -> Result<Results> {
        let query = query.to_json()?.into_owned();
        self.run(move |store| store.query(query)).await
    }

    /// Closes the store for all clones, where it may block: dropping the last handle closes it too,
    /// on the thread that drops it.
    pub async fn close(&self) -> Result<()> {
        self.run(|store| {
            store.close();
            Ok(())
        })
        .await
    }

    /// Any call of the store.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.0.clone();
        blocking(move || work(&store)).await
    }

    /// The store itself.
    pub fn blocking(&self) -> &Store {
        &self.0
    }
}

impl SessionHandle {
    /// Its id.
    pub fn id(&self) -> &str {
        self.0.id()
    }

    /// As [`Session::add`].
    pub async fn add(&self, entry: impl Document) -> Result<String> {
        let entry = entry.to_json()?.into_owned();
        self.run(move |session| session.add(entry)).await
    }

    /// As [`Session::add_batch`].
    pub async fn add_batch(&self, entries: impl Document) -> Result<Vec<String>> {
        let entries = entries.to_json()?.into_owned();
        self.run(move |session| session.add_batch(entries)).await
    }

    /// As [`Session::get`].
    pub async fn get(&self, id: &str) -> Result<Entry> {
        let id = id.to_owned();
        self.run(move |session| session.get(&id)).await
    }

    /// As [`Session::delete`].
    pub async fn delete(&self, id: &str, reason: &str) -> Result<()> {
        let (id, reason) = (id.to_owned(), reason.to_owned());
        self.run(move |session| session.delete(&id, &reason)).await
    }

    /// As [`Session::delete_where`].
    pub async fn delete_where(&self, query: impl Document, reason: &str) -> Result<u64> {
        let (query, reason) = (query.to_json()?.into_owned(), reason.to_owned());
        self.run(move |session| session.delete_where(query, &reason)).await
    }

    /// As [`Session::query`].
    pub async fn query(&self, query: impl Document) -> Result<Results> {
        let query = query.to_json()?.into_owned();
        self.run(move |session| session.query(query)).await
    }

    /// As [`Session::count`].
    pub async fn count(&self, query: impl Document) -> Result<u64> {
        let query = query.to_json()?.into_owned();
        self.run(move |session| session.count(query)).await
    }

    /// As [`Session::context`].
    pub async fn context(&self, request: impl Document) -> Result<Answer<Context>> {
        let request = request.to_json()?.into_owned();
        self.run(move |session| session.context(request)).await
    }

    /// As [`Session::record`].
    pub async fn record(&self, kind: &str, payload: impl Document) -> Result<String> {
        let (kind, payload) = (kind.to_owned(), payload.to_json()?.into_owned());
        self.run(move |session| session.record(&kind, payload)).await
    }

    /// As [`Session::sync`].
    pub async fn sync(&self) -> Result<()> {
        self.run(Session::sync).await
    }

    /// Closes the session for all clones, where it may block: dropping the last handle closes it
    /// too, on the thread that drops it.
    pub async fn close(&self) -> Result<()> {
        self.run(|session| {
            session.close();
            Ok(())
        })
        .await
    }

    /// Any call of the session.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let session = self.0.clone();
        blocking(move || work(&session)).await
    }

    /// The session itself.
    pub fn blocking(&self) -> &Session {
        &self.0
    }
}
