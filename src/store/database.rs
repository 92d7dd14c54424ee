//! Opening the database: new, ours, older, newer or damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};
use xxhash_rust::xxh3::xxh3_128;

use super::error::{Result, StoreError};
use super::lock::WriteLock;
use super::schema::{APPLICATION_ID, CREATE, FORMAT_VERSION};
use crate::task::CancelToken;

/// How long a statement waits for another process's short transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long opening waits for another process that repairs the database, or uses it meanwhile.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// A database is made by [`Database::create`] alone, never by opening one that is not there.
const OPEN_FLAGS: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Where the database is, and the way to connections.
#[derive(Clone, Debug)]
pub struct Database {
    folder: PathBuf,
    path: PathBuf,
    profile: String,
}

/// Device and number of the database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseIdentity(u64, u64);

/// What stands at the database's path.
#[derive(Debug, PartialEq, Eq)]
enum State {
    Missing,
    Current,
    /// Of an earlier format or another profile: which.
    Outdated(String),
    /// Why it cannot be used.
    Damaged(String),
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
    /// `profile`. One that is damaged is set aside, one of an earlier format or another profile is removed; the next
    /// sync says so.
    ///
    /// # Errors
    /// A folder that cannot be created or written, a database of a later format.
    pub fn prepare(folder: &Path, profile: &str) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|error| StoreError::from_io(folder, error))?;
        let database = Self {
            folder: folder.to_path_buf(),
            path: folder.join("index.db"),
            profile: profile.to_owned(),
        };
        // While another process replaces the files, looking at them may fail; under the lock it must not.
        if !matches!(database.state(), Ok(State::Current)) {
            let lock = database.lock(&CancelToken::new(), LOCK_PATIENCE)?;
            database.replace()?;
            drop(lock);
        }
        Ok(database)
    }

    /// Makes a usable database of whatever there is. The caller holds the lock.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn replace(&self) -> Result<()> {
        match self.state()? {
            State::Current => Ok(()),
            State::Missing => {
                // A log without its database is that of another one.
                self.move_files(None)?;
                self.create(None)
            }
            State::Outdated(made_for) => {
                self.move_files(None)?;
                self.create(Some(&format!(
                    "INDEX_OUTDATED\nthe index was made for {made_for} and is rebuilt"
                )))
            }
            State::Damaged(detail) => self.set_aside(&detail),
        }
    }

    /// Puts an empty database in the place of this one. The caller holds the lock.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub(super) fn recreate(&self) -> Result<()> {
        self.move_files(None)?;
        self.create(None)
    }

    /// Moves a damaged database aside, deleting nothing, and makes a new one. The caller holds the lock.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn set_aside(&self, detail: &str) -> Result<()> {
        let stamp = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
            .as_millis();
        let target = self.folder.join(format!("index.db.damaged-{stamp}"));
        self.move_files(Some(&target))?;
        self.create(Some(&format!(
            "INDEX_DAMAGED\nthe index was damaged ({detail}) and is rebuilt; the old file is kept at {}",
            target.display()
        )))
    }

    fn state(&self) -> Result<State> {
        if self.path.is_dir() {
            return Ok(State::Damaged("a folder stands in its place".into()));
        }
        if !self.path.exists() {
            return Ok(State::Missing);
        }
        match self.read_state() {
            Err(StoreError::Damaged { detail, .. }) => Ok(State::Damaged(detail)),
            state => state,
        }
    }

    fn read_state(&self) -> Result<State> {
        let connection = self.connect()?;
        let number = |sql: &str| -> Result<i64> {
            self.run(|| connection.query_row(sql, [], |row| row.get(0)))
        };
        let version = number("PRAGMA user_version")?;
        if version > FORMAT_VERSION {
            return Err(StoreError::Format {
                path: self.path.clone(),
                found: version,
                supported: FORMAT_VERSION,
            });
        }
        if version == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0 {
            return Ok(State::Missing);
        }
        if number("PRAGMA application_id")? != APPLICATION_ID {
            return Ok(State::Damaged("it is not an index of Sextant".into()));
        }
        if version < FORMAT_VERSION {
            return Ok(State::Outdated(format!("format {version}")));
        }
        let profile: String = self.run(|| {
            connection
                .query_row("SELECT value FROM meta WHERE key = 'profile'", [], |row| row.get(0))
        })?;
        if profile != self.profile {
            return Ok(State::Outdated(profile));
        }
        Ok(State::Current)
    }

    /// Makes a database under another name and then puts it in its place, so that nobody sees one in the making. The
    /// caller holds the lock, and nothing stands in its place.
    fn create(&self, notice: Option<&str>) -> Result<()> {
        let made = self.folder.join("index.db.new");
        remove_files(&made)?;
        let flags = OPEN_FLAGS | OpenFlags::SQLITE_OPEN_CREATE;
        self.run(|| {
            let mut connection = Connection::open_with_flags(&made, flags)?;
            connection.pragma_update(None, "page_size", 4096)?;
            // Unused pages can be given back in steps, without a copy of the database in a temporary folder.
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            let transaction = connection.transaction()?;
            transaction.execute_batch(CREATE)?;
            transaction.execute(
                "INSERT INTO meta
                 VALUES('profile', ?1), ('generation', 0), ('last_segment', 0), ('log_start', 0)",
                [&self.profile],
            )?;
            transaction.execute("INSERT INTO meta VALUES('uuid', ?1)", [new_identity(&made)])?;
            if let Some(notice) = notice {
                transaction.execute("INSERT INTO meta VALUES('notice', ?1)", [notice])?;
            }
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
            transaction.commit()?;
            // Moves the log into the database and removes it.
            connection.close().map_err(|(_, error)| error)
        })?;
        fs::rename(&made, &self.path).map_err(|error| StoreError::from_io(&self.path, error))
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// A file that is not there or cannot be opened.
    pub fn connect(&self) -> Result<Connection> {
        self.run(|| {
            let connection = Connection::open_with_flags(&self.path, OPEN_FLAGS)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            // What is deleted is overwritten: the text of a file that became ignored must not stay.
            connection.pragma_update(None, "secure_delete", "ON")?;
            connection.pragma_update(None, "cache_size", -8192)?;
            // Sorting and the like must not depend on room in another file system.
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            connection.pragma_update(None, "journal_size_limit", 16 << 20)?;
            connection.set_prepared_statement_cache_capacity(64);
            Ok(connection)
        })
    }

    /// Opens a connection to read from. If another process is just replacing the database, waits for that.
    ///
    /// # Errors
    /// As [`Database::prepare`].
    pub fn connect_ready(&self) -> Result<Connection> {
        match self.connect() {
            Err(_) if !self.path.exists() => {
                Self::prepare(&self.folder, &self.profile)?;
                self.connect()
            }
            connected => connected,
        }
    }

    /// Begins reading: until the guard is dropped, `connection` sees one state.
    ///
    /// # Errors
    /// A database that cannot be read.
    pub fn begin_read<'c>(&self, connection: &'c Connection) -> Result<ReadGuard<'c>> {
        self.run(|| connection.execute_batch("BEGIN"))?;
        Ok(ReadGuard(connection))
    }

    /// Moves the database files to `target` and its siblings, or removes them.
    fn move_files(&self, target: Option<&Path>) -> Result<()> {
        let Some(target) = target else { return remove_files(&self.path) };
        for suffix in SUFFIXES {
            let from = with_suffix(&self.path, suffix);
            absent_or(fs::rename(&from, with_suffix(target, suffix)), &from)?;
        }
        Ok(())
    }

    /// Waits for the right to write, at most as long as `patience`. `Ok(None)` if `cancel` came first.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when the time is over, a lock file that cannot be created.
    pub fn lock(&self, cancel: &CancelToken, patience: Duration) -> Result<Option<WriteLock>> {
        WriteLock::wait(&self.folder, cancel, patience)
    }

    /// Whether somebody is writing now, in this process or another.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        WriteLock::is_held(&self.folder)
    }

    /// Tells the database file from another in its place; `None` if there is none.
    #[must_use]
    pub fn identity(&self) -> Option<DatabaseIdentity> {
        identity(&self.path)
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

    /// Bytes of the log.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        fs::metadata(self.folder.join("index.db-wal")).map_or(0, |metadata| metadata.len())
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

/// Tells a file from another in its place; `None` if there is none.
pub(super) fn identity(path: &Path) -> Option<DatabaseIdentity> {
    let metadata = fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some(DatabaseIdentity(metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        // A file that is open cannot be replaced on Windows.
        let _ = metadata;
        Some(DatabaseIdentity(0, 0))
    }
}

/// A name that no other database has: what is kept in memory or beside the index must not be taken for that of another
/// one that counts its segments and states from 1 as well.
pub(super) fn new_identity(path: &Path) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let parts = format!("{path:?} {} {number} {}", std::process::id(), now.as_nanos());
    format!("{:032x}", xxh3_128(parts.as_bytes()))
}

/// What the names of a database's files end with.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes a database and what lies beside it.
fn remove_files(path: &Path) -> Result<()> {
    for suffix in SUFFIXES.into_iter().chain(["-journal"]) {
        let file = with_suffix(path, suffix);
        absent_or(fs::remove_file(&file), &file)?;
    }
    Ok(())
}

fn absent_or(done: std::io::Result<()>, path: &Path) -> Result<()> {
    match done {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::from_io(path, error))
        }
        _ => Ok(()),
    }
}
