//! Opening the database: new, ours, older, newer or damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};

use super::error::{Result, StoreError};
use super::lock::WriteLock;
use super::schema::{APPLICATION_ID, CREATE, FORMAT_VERSION};
use crate::task::CancelToken;

/// How long a statement waits for another process's short transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the database is, and the way to connections.
#[derive(Clone, Debug)]
pub struct Database {
    folder: PathBuf,
    path: PathBuf,
    profile: String,
}

/// A damaged or outdated database was moved out of the way.
#[derive(Clone, Debug)]
pub struct SetAside {
    /// Where it is now.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// Ends a read transaction when dropped.
pub struct ReadGuard<'c>(&'c Connection);

impl Drop for ReadGuard<'_> {
    fn drop(&mut self) {
        // Nothing was written, so nothing can be lost if this fails.
        let _ = self.0.execute_batch("ROLLBACK");
    }
}

impl Database {
    /// Makes sure that `folder` exists and can be written, and that the database in it is one of ours, made with
    /// `profile`.
    ///
    /// # Errors
    /// A folder that cannot be created or written, a database of a later format.
    pub fn prepare(folder: &Path, profile: &str) -> Result<(Self, Option<SetAside>)> {
        fs::create_dir_all(folder).map_err(|error| StoreError::from_io(folder, error))?;
        let database = Self {
            folder: folder.to_path_buf(),
            path: folder.join("index.db"),
            profile: profile.to_owned(),
        };
        match database.check() {
            Ok(()) => Ok((database, None)),
            Err(StoreError::Damaged { detail, .. }) => {
                let aside = database.set_aside(detail)?;
                database.check()?;
                Ok((database, Some(aside)))
            }
            Err(error) => Err(error),
        }
    }

    fn check(&self) -> Result<()> {
        let connection = self.connect()?;
        let version: i64 =
            self.run(|| connection.query_row("PRAGMA user_version", [], |row| row.get(0)))?;
        if version > FORMAT_VERSION {
            return Err(StoreError::Format {
                path: self.path.clone(),
                found: version,
                supported: FORMAT_VERSION,
            });
        }
        let n_tables: i64 = self.run(|| {
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        })?;
        if version == 0 && n_tables == 0 {
            return self.create(connection);
        }
        let application: i64 =
            self.run(|| connection.query_row("PRAGMA application_id", [], |row| row.get(0)))?;
        let damaged = |detail: String| StoreError::Damaged { path: self.path.clone(), detail };
        if application != APPLICATION_ID {
            return Err(damaged("it is not an index of Sextant".into()));
        }
        let profile: String = self.run(|| {
            connection
                .query_row("SELECT value FROM meta WHERE key = 'profile'", [], |row| row.get(0))
        })?;
        if version < FORMAT_VERSION || profile != self.profile {
            return Err(damaged(format!("it was made for format {version} with {profile}")));
        }
        Ok(())
    }

    fn create(&self, mut connection: Connection) -> Result<()> {
        self.run(|| {
            connection.pragma_update(None, "page_size", 4096)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            let version: i64 =
                transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if version == 0 {
                transaction.execute_batch(CREATE)?;
                transaction.execute(
                    "INSERT INTO meta VALUES('profile', ?1), ('generation', 0)",
                    [&self.profile],
                )?;
                transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
                transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
            }
            transaction.commit()
        })
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn connect(&self) -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if self.path.is_dir() {
            return Err(StoreError::Damaged {
                path: self.path.clone(),
                detail: "a folder stands in its place".into(),
            });
        }
        self.run(|| {
            let connection = Connection::open_with_flags(&self.path, flags)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "cache_size", -8192)?;
            connection.pragma_update(None, "journal_size_limit", 16 << 20)?;
            connection.set_prepared_statement_cache_capacity(64);
            Ok(connection)
        })
    }

    /// Begins reading: until the guard is dropped, `connection` sees one state.
    ///
    /// # Errors
    /// A database that cannot be read.
    pub fn begin_read<'c>(&self, connection: &'c Connection) -> Result<ReadGuard<'c>> {
        self.run(|| connection.execute_batch("BEGIN"))?;
        Ok(ReadGuard(connection))
    }

    /// Moves the database files aside, so that a new one can be made. Nothing is deleted.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn set_aside(&self, reason: String) -> Result<SetAside> {
        let stamp = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
            .as_millis();
        let target = self.folder.join(format!("index.db.damaged-{stamp}"));
        for suffix in ["", "-wal", "-shm"] {
            let with_suffix = |path: &Path| {
                let mut name = path.as_os_str().to_owned();
                name.push(suffix);
                PathBuf::from(name)
            };
            let from = with_suffix(&self.path);
            match fs::rename(&from, with_suffix(&target)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::from_io(&from, error));
                }
                _ => {}
            }
        }
        Ok(SetAside { path: target, reason })
    }

    /// Waits for the right to write. `Ok(None)` if `cancel` came first.
    ///
    /// # Errors
    /// A lock file that cannot be created.
    pub fn lock(&self, cancel: &CancelToken) -> Result<Option<WriteLock>> {
        WriteLock::wait(&self.folder, cancel)
    }

    /// What the index is made with.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// The storage folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the database and its log.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        ["index.db", "index.db-wal"]
            .iter()
            .filter_map(|name| fs::metadata(self.folder.join(name)).ok())
            .map(|metadata| metadata.len())
            .sum()
    }

    /// Runs SQLite calls, turning their errors into ours.
    pub(super) fn run<T>(&self, calls: impl FnOnce() -> rusqlite::Result<T>) -> Result<T> {
        calls().map_err(|error| StoreError::from_sqlite(&self.path, &error))
    }

    /// The error for a blob that does not decode.
    pub(super) fn damaged(&self, what: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), detail: format!("{what} does not decode") }
    }
}
