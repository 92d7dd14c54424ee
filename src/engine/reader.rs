//! One reading connection, and what was derived from the state it read last.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;

use crate::config::Config;
use crate::error::Error;
use crate::store::{Database, DatabaseIdentity, Snapshot};
use crate::strategy::semantic::Statistics;

/// A snapshot and what is computed from it.
pub struct View {
    /// The state.
    pub snapshot: Snapshot,
    statistics: OnceLock<Statistics>,
    /// Tokens that all files together are known to have at least.
    least_tokens: AtomicUsize,
}

impl View {
    /// Tokens that all files together are known to have at least.
    pub fn least_tokens(&self) -> usize {
        self.least_tokens.load(Ordering::Relaxed)
    }

    /// Remembers that all files together have at least so many tokens.
    pub fn note_tokens(&self, at_least: usize) {
        self.least_tokens.fetch_max(at_least, Ordering::Relaxed);
    }

    /// Computed at the first call.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn statistics(
        &self,
        connection: &Connection,
        config: &Config,
    ) -> Result<&Statistics, Error> {
        if let Some(statistics) = self.statistics.get() {
            return Ok(statistics);
        }
        let statistics = Statistics::new(&self.snapshot, connection, &config.ranking)?;
        Ok(self.statistics.get_or_init(|| statistics))
    }
}

/// A connection that reads.
struct Open {
    connection: Connection,
    /// Which file it reads: another process may put a new database in its place.
    identity: Option<DatabaseIdentity>,
    /// The roots that `view` is of.
    roots: Vec<String>,
    view: Option<Arc<View>>,
}

/// The reader of a workspace; opened when first needed.
#[derive(Default)]
pub struct Reader {
    open: Option<Open>,
    is_closed: bool,
}

impl Reader {
    /// Runs `work` on one state of the database from start to end.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::Store`], and those of `work`.
    pub fn read<T>(
        &mut self,
        database: &Database,
        roots: &[String],
        work: impl FnOnce(&Arc<View>, &Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let open = self.open(database)?;
        let transaction = database.begin_read(&open.connection)?;
        let before = open.view.as_ref().filter(|_| open.roots == roots);
        let is_current = match before {
            Some(view) => view.snapshot.is_current(&open.connection)?,
            None => false,
        };
        let view = match before {
            Some(view) if is_current => Arc::clone(view),
            _ => {
                // A view of other roots has read segments that may be ours as well.
                let before = open.view.as_ref().map(|view| &view.snapshot);
                let snapshot = Snapshot::load(database, &open.connection, roots, before)?;
                Arc::new(View {
                    snapshot,
                    statistics: OnceLock::new(),
                    least_tokens: AtomicUsize::new(0),
                })
            }
        };
        let result = work(&view, &open.connection);
        drop(transaction);
        roots.clone_into(&mut open.roots);
        open.view = Some(view);
        result
    }

    /// The number of the state that a read would see. Reads nothing else.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::Store`].
    pub fn generation(&mut self, database: &Database) -> Result<i64, Error> {
        let open = self.open(database)?;
        Ok(Snapshot::current_generation(database, &open.connection)?)
    }

    fn open(&mut self, database: &Database) -> Result<&mut Open, Error> {
        if self.is_closed {
            return Err(Error::Closed);
        }
        let identity = database.identity();
        let open = match self.open.take() {
            // A database that is gone can still be read by who has it open.
            Some(open) if identity.is_none() || identity == open.identity => open,
            _ => {
                let connection = database.connect_ready()?;
                let identity = database.identity();
                Open { connection, identity, roots: Vec::new(), view: None }
            }
        };
        Ok(self.open.insert(open))
    }

    /// Lets go of the connection, so that the file can be replaced; gives which file it read. The next read opens anew.
    pub fn release(&mut self) -> Option<DatabaseIdentity> {
        self.open.take().and_then(|open| open.identity)
    }

    /// Refuses every later read.
    pub fn close(&mut self) {
        self.open = None;
        self.is_closed = true;
    }

    /// Whether nothing was read yet, so that the next read takes its time.
    pub fn is_cold(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.view.is_none())
    }

    /// Whether [`Reader::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }
}
