//! The provider of vectors of a workspace: its model, what it has made, and how it fares.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::lock;
use super::reader::View;
use crate::embed::provider::{Embedder, ProviderError, Role};
use crate::error::Error;
use crate::index::provided;
use crate::store::{SegmentId, VectorKey, VectorStore};
use crate::strategy::dense::DenseIndex;
use crate::task::CancelToken;

/// Vectors of queries that are kept: who searches as they type asks the same again and again.
const KEPT_QUERIES: usize = 256;
/// After a failure, searches do not wait for the provider for so long, twice as long after each further one.
const FIRST_REST: Duration = Duration::from_secs(2);
const LONGEST_REST: Duration = Duration::from_secs(60);
/// How often one who waits asks whether it was cancelled.
const INTERVAL: Duration = Duration::from_millis(20);

/// A provider, and what there is of it in the storage folder.
#[derive(Debug)]
pub struct Provider {
    embedder: Arc<dyn Embedder>,
    store: VectorStore,
    queries: Arc<Mutex<Queries>>,
    read: Mutex<Read>,
    trouble: Mutex<Option<String>>,
}

/// What was read of the store.
#[derive(Debug, Default)]
struct Read {
    /// The database that this is of.
    identity: u128,
    keys: HashMap<SegmentId, Arc<Vec<VectorKey>>>,
    index: Option<(i64, u64, Arc<DenseIndex>)>,
    /// The state of index and store in which no text was without a vector.
    complete_at: Option<(i64, u64)>,
}

/// Vectors of queries, and how asking for them went.
#[derive(Debug, Default)]
struct Queries {
    known: HashMap<String, Arc<Vec<f32>>>,
    failures: u32,
    /// No search waits before that.
    rest: Option<(Instant, String)>,
}

/// Why there is no vector for a query.
#[derive(Clone, Debug)]
pub struct NoVector {
    /// For a person.
    pub reason: String,
    /// Whether the time was up, rather than something wrong.
    pub is_late: bool,
}

impl Provider {
    /// The provider that `embedder` asks, with what it has in `folder`.
    pub fn new(embedder: Arc<dyn Embedder>, folder: &std::path::Path) -> Self {
        let store = VectorStore::new(folder, &embedder.model().id());
        Self {
            embedder,
            store,
            queries: Arc::default(),
            read: Mutex::default(),
            trouble: Mutex::default(),
        }
    }

    /// Whether it asks `embedder`.
    pub fn is_of(&self, embedder: &Arc<dyn Embedder>) -> bool {
        Arc::ptr_eq(&self.embedder, embedder)
    }

    /// Who is asked.
    pub fn embedder(&self) -> &dyn Embedder {
        self.embedder.as_ref()
    }

    /// What keeps it from making the vectors that are missing, as far as is known.
    pub fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    /// Keeps what the last try came to, for those who ask meanwhile.
    pub fn note_trouble(&self, trouble: Option<&str>) {
        *lock(&self.trouble) = trouble.map(str::to_owned);
    }

    /// What it has made.
    pub fn store(&self) -> &VectorStore {
        &self.store
    }

    /// The vector of a query, waited for at most `patience`. One that comes later is kept for the next time.
    ///
    /// # Errors
    /// [`NoVector`], if it was not cancelled.
    pub fn query(
        &self,
        cancel: &CancelToken,
        text: &str,
        patience: Duration,
    ) -> Result<Arc<Vec<f32>>, NoVector> {
        let vector = self.ask_in_time(cancel, text, patience)?;
        match self.store.dimensions() {
            Ok(Some(expected)) if expected != vector.len() => {
                let found = vector.len();
                let reason = format!(
                    "it gave a vector of {found} dimensions for the query; those of the texts have {expected}"
                );
                Err(NoVector { reason, is_late: false })
            }
            _ => Ok(vector),
        }
    }

    fn ask_in_time(
        &self,
        cancel: &CancelToken,
        text: &str,
        patience: Duration,
    ) -> Result<Arc<Vec<f32>>, NoVector> {
        {
            let queries = lock(&self.queries);
            if let Some(known) = queries.known.get(text) {
                return Ok(Arc::clone(known));
            }
            if let Some((until, why)) =
                queries.rest.as_ref().filter(|(until, _)| *until > Instant::now())
            {
                let seconds = (*until - Instant::now()).as_secs() + 1;
                let reason = format!("it failed before ({why}) and is left alone for {seconds} s");
                return Err(NoVector { reason, is_late: false });
            }
        }
        let (sender, receiver) = mpsc::channel();
        let (embedder, queries) = (Arc::clone(&self.embedder), Arc::clone(&self.queries));
        let (asked, cancel_asking) = (text.to_owned(), cancel.clone());
        // One question fails once, whoever notices first.
        let is_counted = Arc::new(AtomicBool::new(false));
        let counted = Arc::clone(&is_counted);
        let thread = std::thread::Builder::new().name("sextant-query".into()).spawn(move || {
            let answer = ask(embedder.as_ref(), &cancel_asking, &asked, &queries, &counted);
            // Nobody listens any more if it came too late.
            let _ = sender.send(answer);
        });
        if let Err(error) = thread {
            let reason = format!("the system gives no thread: {error}");
            return Err(NoVector { reason, is_late: false });
        }
        let due = Instant::now() + patience;
        loop {
            let left = due.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left.min(INTERVAL)) {
                Ok(answer) => return answer.map_err(|reason| NoVector { reason, is_late: false }),
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                    return Err(NoVector { reason: "cancelled".into(), is_late: false });
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    let ms = patience.as_millis();
                    let reason = format!("it gave no vector of the query within {ms} ms");
                    if !is_counted.swap(true, Ordering::SeqCst) {
                        lock(&self.queries).fail(&reason);
                    }
                    return Err(NoVector { reason, is_late: true });
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "asking for the vector of the query failed".to_owned();
                    return Err(NoVector { reason, is_late: false });
                }
            }
        }
    }

    /// The keys of each segment of `view`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn keys(
        &self,
        view: &View,
        connection: &Connection,
    ) -> Result<Vec<Arc<Vec<VectorKey>>>, Error> {
        let columns = view.snapshot.columns(connection)?;
        let mut read = lock(&self.read);
        if read.identity != view.snapshot.identity {
            // Another database counts its segments and states from 1 as well.
            *read = Read { identity: view.snapshot.identity, ..Read::default() };
        }
        let live: HashSet<SegmentId> = view.snapshot.segments.iter().map(|s| s.id).collect();
        read.keys.retain(|id, _| live.contains(id));
        let mut all = Vec::with_capacity(live.len());
        for (at, segment) in view.snapshot.segments.iter().enumerate() {
            let keys = match read.keys.entry(segment.id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => {
                    let keys = provided::segment_keys(
                        &view.snapshot,
                        connection,
                        columns,
                        at,
                        &self.store,
                    )?;
                    free.insert(Arc::new(keys))
                }
            };
            all.push(Arc::clone(keys));
        }
        Ok(all)
    }

    /// Whether nothing has changed since no text was without a vector.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn is_known_complete(&self, view: &View) -> Result<bool, Error> {
        let now = (view.snapshot.generation, self.store.generation()?);
        let read = lock(&self.read);
        Ok(read.identity == view.snapshot.identity && read.complete_at == Some(now))
    }

    /// In this state no text is without a vector.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn note_complete(&self, view: &View) -> Result<(), Error> {
        let now = (view.snapshot.generation, self.store.generation()?);
        let mut read = lock(&self.read);
        if read.identity == view.snapshot.identity {
            read.complete_at = Some(now);
        }
        Ok(())
    }

    /// The vectors of `view`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn index(&self, view: &View, connection: &Connection) -> Result<Arc<DenseIndex>, Error> {
        let keys = self.keys(view, connection)?;
        let written = self.store.generation()?;
        let before = match &lock(&self.read).index {
            Some((generation, at, index)) => {
                if *generation == view.snapshot.generation && *at == written {
                    return Ok(Arc::clone(index));
                }
                Some(Arc::clone(index))
            }
            None => None,
        };
        let columns = view.snapshot.columns(connection)?;
        let index =
            DenseIndex::load(&view.snapshot, columns, &self.store, &keys, before.as_deref())?;
        let index = Arc::new(index);
        lock(&self.read).index = Some((view.snapshot.generation, written, Arc::clone(&index)));
        Ok(index)
    }
}

/// Asks, and keeps what comes of it.
fn ask(
    embedder: &dyn Embedder,
    cancel: &CancelToken,
    text: &str,
    queries: &Mutex<Queries>,
    is_counted: &AtomicBool,
) -> Result<Arc<Vec<f32>>, String> {
    let mut answer = Err("it gave no vector of the query".to_owned());
    let done = embedder.embed(cancel, Role::Query, &[text], &mut |_, vector| {
        answer = vector.map(Arc::new).map_err(|refused| refused.reason);
    });
    let mut queries = lock(queries);
    match done {
        Ok(()) => {}
        Err(ProviderError::Cancelled) => return Err("cancelled".into()),
        Err(error) => {
            if !is_counted.swap(true, Ordering::SeqCst) {
                queries.fail(&error.to_string());
            }
            return Err(error.to_string());
        }
    }
    queries.failures = 0;
    queries.rest = None;
    if let Ok(vector) = &answer {
        if queries.known.len() >= KEPT_QUERIES {
            queries.known.clear();
        }
        queries.known.insert(text.to_owned(), Arc::clone(vector));
    }
    answer
}

impl Queries {
    /// Lets the provider rest, the longer the oftener it failed; a single failure may be chance.
    fn fail(&mut self, why: &str) {
        self.failures += 1;
        if self.failures > 1 {
            let rest = FIRST_REST * 2u32.saturating_pow(self.failures.min(8) - 2);
            self.rest = Some((Instant::now() + rest.min(LONGEST_REST), why.to_owned()));
        }
    }
}
