//! Was this text embedded before, here or in any other workspace?
//!
//! In: 128-bit keys, each a hash of all that a value follows from. Out: the value that was put under the key, or nothing.
//! One SQLite database a user, shared by all workspaces and processes, so that neither a branch switched back to, nor a
//! second work tree, nor a clone is embedded again. It holds vectors under hashes and nothing else, no text, no name and
//! no path, which is why it may be shared.
//!
//! - An answer is what was put under exactly this key: the seal of a value covers its key, so that no damage, not even of
//!   SQLite's own index, gives the vectors of another text.
//! - The file stays below its limit; the entries that were used least recently go first.
//! - Never fails: a cache that is damaged is removed and made anew, one that cannot be opened or written never hits. What
//!   could not be written is counted and forgotten.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

use super::codec::{seal, unseal};

/// "SXTE": marks the file as ours.
const APPLICATION_ID: i64 = 0x5358_5445;
/// Format of the file. A later one is left alone, an earlier one is made anew.
const FORMAT_VERSION: i64 = 1;

/// How long a statement waits for another process. Short: embedding again costs less than waiting. Unmeasured.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);
/// Bytes of values that are written in one transaction, at most an eighth of the limit. Unmeasured.
const BATCH_BYTES: usize = 1 << 20;
/// Entries that one transaction evicts. Unmeasured.
const EVICTED_AT_ONCE: usize = 256;
/// What SQLite needs for an entry beside its value: key, number, index. An estimate from above.
const ENTRY_BYTES: usize = 128;
/// SQLite's default, named because the limit is counted in pages.
const PAGE_BYTES: usize = 4096;

/// Entries are numbered in the order of their last use (more or less, see [`Store::is_old`]): the first are the next to
/// go, whole pages at a time, which gives the space back that they took.
const CREATE: &str = "
CREATE TABLE entries(id INTEGER PRIMARY KEY, key BLOB NOT NULL, value BLOB NOT NULL);
CREATE UNIQUE INDEX entries_by_key ON entries(key);
";

/// The embeddings of all workspaces of a user.
///
/// The file is opened by the first look-up and let go of by [`EmbeddingCache::flush`], so that a run that embeds nothing
/// never touches it.
#[derive(Debug)]
pub struct EmbeddingCache {
    path: PathBuf,
    limit_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    file: File,
    /// Values to be written.
    puts: HashMap<u128, Vec<u8>>,
    n_put_bytes: usize,
    /// Entries that were used and are not among the younger half.
    used: BTreeSet<i64>,
    /// Values that could not be written.
    n_dropped: u64,
}

#[derive(Debug, Default)]
enum File {
    #[default]
    Unopened,
    Open(Store),
    /// It cannot be used, until the next [`EmbeddingCache::flush`].
    Unusable,
}

impl EmbeddingCache {
    /// The cache at `path`, whose file takes at most about `limit_bytes`.
    #[must_use]
    pub fn open(path: &Path, limit_bytes: usize) -> Self {
        Self { path: path.to_path_buf(), limit_bytes, inner: Mutex::default() }
    }

    /// The value under `key`. An entry that is not as it was written counts as none.
    #[must_use]
    pub fn get(&self, key: u128) -> Option<Vec<u8>> {
        let mut inner = self.lock();
        if let Some(value) = inner.puts.get(&key) {
            return Some(value.clone());
        }
        let (id, sealed) = self.with_store(&mut inner, |store| store.get(key))??;
        let is_old = matches!(&inner.file, File::Open(store) if store.is_old(id));
        let value = open_sealed(key, sealed)?;
        if is_old {
            inner.used.insert(id);
        }
        Some(value)
    }

    /// Keeps `value` under `key`, in place of any other. It is written with others, by the last of them or by
    /// [`EmbeddingCache::flush`].
    pub fn put(&self, key: u128, value: Vec<u8>) {
        let mut inner = self.lock();
        let batch_bytes = BATCH_BYTES.min(self.limit_bytes / 8);
        if matches!(inner.file, File::Unusable) || value.len() + ENTRY_BYTES > batch_bytes {
            inner.n_dropped += 1;
            return;
        }
        inner.n_put_bytes += value.len() + ENTRY_BYTES;
        inner.puts.insert(key, value);
        if inner.n_put_bytes >= batch_bytes {
            self.write(&mut inner);
        }
    }

    /// Writes what is left and lets go of the file.
    pub fn flush(&self) {
        let mut inner = self.lock();
        self.write(&mut inner);
        inner.file = File::Unopened;
    }

    /// Values that could not be written, because the disk or the cache was full, busy or closed to us.
    #[must_use]
    pub fn n_dropped(&self) -> u64 {
        self.lock().n_dropped
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, inner: &mut Inner) {
        let puts = std::mem::take(&mut inner.puts);
        let used: Vec<i64> = std::mem::take(&mut inner.used).into_iter().collect();
        let n_bytes = std::mem::take(&mut inner.n_put_bytes);
        if puts.is_empty() && used.is_empty() {
            return;
        }
        let n_puts = puts.len() as u64;
        let written = self.with_store(inner, |store| store.write(puts, &used, n_bytes));
        if written.is_none() {
            inner.n_dropped += n_puts;
        }
    }

    /// Runs `work` on the file, opening it if it is not yet. `None` if that failed; a damaged file is made anew for the
    /// next time.
    fn with_store<T>(
        &self,
        inner: &mut Inner,
        work: impl FnOnce(&mut Store) -> rusqlite::Result<T>,
    ) -> Option<T> {
        if matches!(inner.file, File::Unopened) {
            inner.file = self.open_file().map_or(File::Unusable, File::Open);
        }
        let File::Open(store) = &mut inner.file else { return None };
        match work(store) {
            Ok(done) => Some(done),
            Err(error) => {
                if is_damage(&error) {
                    inner.file = File::Unusable;
                    self.remove();
                    inner.file = self.open_file().map_or(File::Unusable, File::Open);
                }
                None
            }
        }
    }

    fn open_file(&self) -> Option<Store> {
        match Store::open(&self.path, self.limit_bytes) {
            Err(error) if is_damage(&error) => {
                self.remove();
                Store::open(&self.path, self.limit_bytes).ok()
            }
            store => store.ok(),
        }
    }

    /// A process that still has the file open may damage the one that takes its place; seals and this function then do
    /// their work again.
    fn remove(&self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            // What cannot be removed cannot be opened anew either, and that is seen there.
            let _ = fs::remove_file(name);
        }
    }
}

impl Drop for EmbeddingCache {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The open file, and what it held when it was last written or opened.
#[derive(Debug)]
struct Store {
    connection: Connection,
    limit_bytes: usize,
    /// Entries below this number are moved to the end when they are used.
    young: i64,
}

impl Store {
    fn open(path: &Path, limit_bytes: usize) -> rusqlite::Result<Self> {
        if let Some(folder) = path.parent() {
            // A folder that cannot be made is one in which nothing can be opened.
            let _ = fs::create_dir_all(folder);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "page_size", PAGE_BYTES as i64)?;
        // Nothing waits for the disk: a loss of power may cost the cache, which seals and SQLite's own checks notice.
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "max_page_count", (limit_bytes / PAGE_BYTES) as i64)?;
        connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
        let mut store = Self { connection, limit_bytes, young: i64::MIN };
        store.prepare()?;
        store.look()?;
        Ok(store)
    }

    /// Makes the table in an empty file; an error of damage for any other that is not ours.
    fn prepare(&mut self) -> rusqlite::Result<()> {
        let number = |connection: &Connection, sql: &str| -> rusqlite::Result<i64> {
            connection.query_row(sql, [], |row| row.get(0))
        };
        let failure =
            |code| Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None));
        let version = number(&self.connection, "PRAGMA user_version")?;
        if version == FORMAT_VERSION
            && number(&self.connection, "PRAGMA application_id")? == APPLICATION_ID
        {
            return Ok(());
        }
        if version > FORMAT_VERSION {
            return failure(rusqlite::ffi::SQLITE_CANTOPEN);
        }
        if version != 0 || number(&self.connection, "SELECT count(*) FROM sqlite_schema")? != 0 {
            return failure(rusqlite::ffi::SQLITE_NOTADB);
        }
        self.connection.pragma_update(None, "journal_mode", "WAL")?;
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another process may have been faster.
        if number(&transaction, "PRAGMA user_version")? == 0 {
            transaction.execute_batch(CREATE)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
        }
        transaction.commit()
    }

    /// Finds out which entries are old. While the cache is half empty none is, so that using it writes nothing; after
    /// that, the older half is, so that an entry is moved at most once while half of the cache is replaced.
    fn look(&mut self) -> rusqlite::Result<()> {
        self.young = if self.n_bytes()? > self.limit_bytes / 2 {
            self.connection
                .prepare_cached(
                    "SELECT (SELECT min(id) FROM entries) / 2 + (SELECT max(id) FROM entries) / 2",
                )?
                .query_row([], |row| row.get::<_, Option<i64>>(0))?
                .unwrap_or(i64::MIN)
        } else {
            i64::MIN
        };
        Ok(())
    }

    fn is_old(&self, id: i64) -> bool {
        id < self.young
    }

    fn get(&mut self, key: u128) -> rusqlite::Result<Option<(i64, Vec<u8>)>> {
        self.connection
            .prepare_cached("SELECT id, value FROM entries WHERE key = ?1")?
            .query_row([key.to_le_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    }

    /// Bytes of the pages that hold something.
    fn n_bytes(&self) -> rusqlite::Result<usize> {
        let count = |sql: &str| -> rusqlite::Result<u32> {
            self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
        };
        let n_free = count("PRAGMA freelist_count")?;
        let n_pages = count("PRAGMA page_count")?.saturating_sub(n_free) as usize;
        Ok(n_pages * PAGE_BYTES)
    }

    fn write(
        &mut self,
        puts: HashMap<u128, Vec<u8>>,
        used: &[i64],
        n_put_bytes: usize,
    ) -> rusqlite::Result<()> {
        // What is used moves before what is not is evicted.
        for some in used.chunks(EVICTED_AT_ONCE) {
            let transaction = self.begin()?;
            let mut renumber = transaction.prepare_cached(
                "UPDATE OR IGNORE entries SET id = (SELECT max(id) FROM entries) + 1 WHERE id = ?1",
            )?;
            for id in some {
                renumber.execute([id])?;
            }
            drop(renumber);
            transaction.commit()?;
        }
        // The rest is room in which entries can be moved the next time.
        self.make_room(n_put_bytes + self.limit_bytes / 16)?;
        let transaction = self.begin()?;
        let mut insert = transaction
            .prepare_cached("INSERT OR REPLACE INTO entries(key, value) VALUES(?1, ?2)")?;
        for (key, value) in puts {
            insert.execute(params![key.to_le_bytes(), sealed(key, value)])?;
        }
        drop(insert);
        transaction.commit()?;
        self.look()
    }

    /// Evicts entries until `n_bytes` more have room.
    fn make_room(&mut self, n_bytes: usize) -> rusqlite::Result<()> {
        while self.n_bytes()? + n_bytes > self.limit_bytes {
            let transaction = self.begin()?;
            let n_evicted = transaction
                .prepare_cached(
                    "DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY id LIMIT ?1)",
                )?
                .execute([EVICTED_AT_ONCE as i64])?;
            transaction.commit()?;
            if n_evicted == 0 {
                break;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> rusqlite::Result<rusqlite::Transaction<'_>> {
        self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
    }
}

/// Whether the file is to blame, not the moment or the permission.
fn is_damage(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        // A table that is missing or a value of another type: not what this program wrote.
        None | Some(ErrorCode::Unknown | ErrorCode::TypeMismatch) => true,
        Some(code) => matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase),
    }
}

/// The value under a seal that covers the key too.
fn sealed(key: u128, mut value: Vec<u8>) -> Vec<u8> {
    let n = value.len();
    value.extend_from_slice(&key.to_le_bytes());
    let mut sealed = seal(value);
    sealed.drain(n..n + size_of::<u128>());
    sealed
}

/// The value within [`sealed`]; `None` if it is not what was put under `key`.
fn open_sealed(key: u128, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
    // The seal is what an empty value leaves.
    let n = sealed.len().checked_sub(seal(Vec::new()).len())?;
    sealed.splice(n..n, key.to_le_bytes());
    unseal(&sealed)?;
    sealed.truncate(n);
    Some(sealed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(seed: u128, n: usize) -> Vec<u8> {
        (0..n).map(|at| (seed as u8).wrapping_mul(31).wrapping_add(at as u8)).collect()
    }

    fn file(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("below/embeddings.db")
    }

    fn bytes_on_disk(path: &Path) -> u64 {
        fs::metadata(path).map_or(0, |metadata| metadata.len())
    }

    #[test]
    fn what_was_put_is_found_by_others() {
        let folder = tempfile::tempdir().unwrap();
        let ours = EmbeddingCache::open(&file(&folder), 1 << 20);
        let theirs = EmbeddingCache::open(&file(&folder), 1 << 20);
        // Keys that are the same in either half.
        let keys = [0, 1, 1 << 64, (1 << 64) + 1, u128::MAX];
        for key in keys {
            ours.put(key, value(key, 200));
            assert_eq!(ours.get(key), Some(value(key, 200)), "before it is written");
            assert_eq!(theirs.get(key), None);
        }
        ours.flush();
        for key in keys {
            assert_eq!(theirs.get(key), Some(value(key, 200)));
        }
        assert_eq!(theirs.get(2), None);
        theirs.put(1, value(9, 100));
        theirs.flush();
        assert_eq!(ours.get(1), Some(value(9, 100)), "the later value counts");
        assert_eq!(ours.n_dropped() + theirs.n_dropped(), 0);
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let limit_bytes = 1 << 20;
        let cache = EmbeddingCache::open(&path, limit_bytes);
        let of = |key: u128| value(key, 500 + key as usize % 900);
        for key in 0..6000u128 {
            cache.put(key, of(key));
            if key > 300 {
                // Used all the time.
                assert_eq!(cache.get(7), Some(of(7)), "after {key}");
            }
            if key % 500 == 0 {
                cache.flush();
            }
            assert!(bytes_on_disk(&path) <= limit_bytes as u64);
        }
        cache.flush();
        assert!(bytes_on_disk(&path) > limit_bytes as u64 / 2, "the room is used");
        assert!((5700..6000).all(|key| cache.get(key) == Some(of(key))), "the newest are there");
        assert!((100..4000).all(|key| cache.get(key).is_none()), "the oldest are gone");
        assert_eq!(cache.get(7), Some(of(7)));
        assert_eq!(cache.n_dropped(), 0);
        cache.put(1, vec![0; limit_bytes]);
        assert_eq!(cache.n_dropped(), 1, "larger than the cache");
    }

    #[test]
    fn many_at_once() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u128 {
                let path = file(&folder);
                scope.spawn(move || {
                    let cache = EmbeddingCache::open(&path, 1 << 20);
                    for key in (0..400).map(|key| key + thread % 2 * 200) {
                        assert!(cache.get(key).is_none_or(|found| found == value(key, 300)));
                        cache.put(key, value(key, 300));
                        if key % 50 == 0 {
                            cache.flush();
                        }
                    }
                });
            }
        });
        let cache = EmbeddingCache::open(&file(&folder), 1 << 20);
        let n_found = (0..600).filter(|&key| cache.get(key).is_some()).count();
        // Writing gives way to another writer.
        assert!(n_found > 300, "{n_found}");
        assert!((0..600).all(|key| cache.get(key).is_none_or(|found| found == value(key, 300))));
    }

    #[test]
    fn entries_that_are_not_as_written_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = EmbeddingCache::open(&file(&folder), 1 << 20);
        for key in 1..=5 {
            cache.put(key, value(key, 132));
        }
        cache.flush();
        let connection = Connection::open(file(&folder)).unwrap();
        connection
            .execute_batch(
                "UPDATE entries SET value = zeroblob(136) WHERE id = 1;
                 UPDATE entries SET value = x'00' WHERE id = 2;
                 UPDATE entries SET value = (SELECT value FROM entries WHERE id = 5) WHERE id = 3;
                 UPDATE entries SET value = 'text' WHERE id = 4;",
            )
            .unwrap();
        drop(connection);
        let n_found = (1..=5).filter(|&key| cache.get(key).is_some()).count();
        assert!(n_found <= 1, "{n_found}: only the fifth is as it was written");
        for key in 1..=5 {
            cache.put(key, value(key, 132));
        }
        cache.flush();
        assert!((1..=5).all(|key| cache.get(key) == Some(value(key, 132))));
    }

    #[test]
    fn a_later_format_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("embeddings.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE later(x); PRAGMA user_version = 2;").unwrap();
        drop(connection);
        let before = fs::read(&path).unwrap();
        let cache = EmbeddingCache::open(&path, 1 << 20);
        assert_eq!(cache.get(1), None);
        cache.put(1, value(1, 10));
        cache.flush();
        assert_eq!(cache.n_dropped(), 1);
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    proptest! {
        #[test]
        fn a_seal_opens_only_what_it_sealed(
            key in any::<u128>(),
            other in any::<u128>(),
            value in proptest::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(),
        ) {
            let sealed = sealed(key, value.clone());
            prop_assert_eq!(open_sealed(key, sealed.clone()), Some(value));
            prop_assert_eq!(open_sealed(other, sealed.clone()).is_some(), other == key);
            let mut damaged = sealed;
            let at = at.index(damaged.len());
            damaged[at] ^= 1;
            prop_assert_eq!(open_sealed(key, damaged), None);
        }
    }
}
