//! The vectors of a provider's model, beside the index.
//!
//! In: 128-bit keys, each a hash of a model and a text, and packed vectors ([`crate::embed::dense`]). Out: the vectors of
//! the texts of a segment. One database a model, so that models never mix: a change of model fills another file while
//! this one serves, and then the old file goes. Segments are known by number and fingerprint, so that the keys of an
//! index that was built anew are never taken for those of the old one.
//!
//! - A vector is what was put under exactly its key: the seal covers both.
//! - What is lost here is made again by the provider or taken from the cache, so a damaged file is removed, and whoever
//!   reads then finds nothing.
//! - [`VectorStore::set_complete`] is the only way to serve: it says that every text of the workspace had its vector, once.
//!
//! Fails with [`StoreError`].

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::codec::{seal, unseal};
use super::database::{DatabaseIdentity, identity, new_identity};
use super::error::{Result, StoreError};
use super::lock::WriteLock;
use super::segment::SegmentId;
use crate::task::CancelToken;

/// "SXTV": marks the file as ours.
const APPLICATION_ID: i64 = 0x5358_5456;
const FORMAT_VERSION: i64 = 1;
/// What nobody has written for so long, nobody uses.
const UNUSED: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long a statement waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const CREATE: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE vectors(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
-- Texts that the provider refuses; they are no reason to wait.
CREATE TABLE refused(key BLOB PRIMARY KEY) WITHOUT ROWID;
-- The key of each vector of a segment, in order; zeros for those of files that are gone.
CREATE TABLE segments(id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL, keys BLOB NOT NULL);
";

/// What a vector is found by.
pub type VectorKey = u128;

/// The key of a text's vector by a model.
#[must_use]
pub fn vector_key(model: &str, text: &str) -> VectorKey {
    let mut bytes = Vec::with_capacity(model.len() + text.len() + 8);
    bytes.extend_from_slice(&(model.len() as u64).to_le_bytes());
    bytes.extend_from_slice(model.as_bytes());
    bytes.extend_from_slice(text.as_bytes());
    // Zero stands for no key.
    xxh3_128(&bytes).max(1)
}

/// The vectors of one model in one storage folder.
#[derive(Debug)]
pub struct VectorStore {
    path: PathBuf,
    model: String,
    open: Mutex<Option<Open>>,
}

/// A connection, and the file that it reads.
#[derive(Debug)]
struct Open {
    connection: Connection,
    identity: Option<DatabaseIdentity>,
}

impl VectorStore {
    /// The vectors of `model` in `folder`. Makes no file.
    #[must_use]
    pub fn new(folder: &Path, model: &str) -> Self {
        let path = folder.join(format!("vectors-{:016x}.db", xxh3_64(model.as_bytes())));
        Self { path, model: model.to_owned(), open: Mutex::new(None) }
    }

    /// The model whose vectors these are.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Models in `folder` that have once been complete.
    #[must_use]
    pub fn complete_models(folder: &Path) -> Vec<String> {
        named(folder, |has| has("complete"))
    }

    /// Removes the vectors of other models in `folder` that nobody has written for a week: another program may have this
    /// index open with a model of its own, which somebody may have paid for.
    pub fn remove_old(&self, folder: &Path) {
        let is_old = |path: &PathBuf| {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > UNUSED))
        };
        for path in files(folder).into_iter().filter(|path| *path != self.path && is_old(path)) {
            remove(&path);
        }
    }

    /// Removes the vectors of this model.
    pub fn remove(&self) {
        self.close();
        remove(&self.path);
    }

    /// Removes the vectors of all models in `folder`.
    pub fn remove_all(folder: &Path) {
        for path in files(folder) {
            remove(&path);
        }
    }

    /// Bytes of all vectors in `folder`.
    #[must_use]
    pub fn bytes(folder: &Path) -> u64 {
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        files(folder).iter().map(size).sum()
    }

    /// The right to have vectors made, if no other process has it.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn lock(folder: &Path) -> Result<Option<WriteLock>> {
        WriteLock::take(&folder.join("embed.lock"))
    }

    /// As [`VectorStore::lock`], waiting at most as long as `patience` for who has it.
    ///
    /// # Errors
    /// The same; [`StoreError::Busy`].
    pub fn wait_lock(
        folder: &Path,
        cancel: &CancelToken,
        patience: Duration,
    ) -> Result<Option<WriteLock>> {
        WriteLock::wait_for(&folder.join("embed.lock"), cancel, patience)
    }

    /// The models in `folder`.
    #[must_use]
    pub fn models(folder: &Path) -> Vec<String> {
        named(folder, |_| true)
    }

    /// Whether every text of a workspace once had its vector.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn is_complete(&self) -> Result<bool> {
        Ok(self.meta("complete")?.is_some())
    }

    /// Says so.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_complete(&self) -> Result<()> {
        self.set_meta("complete", "1")
    }

    /// Dimensions of the vectors, once there are any.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn dimensions(&self) -> Result<Option<usize>> {
        Ok(self.meta("dimensions")?.and_then(|text| text.parse().ok()))
    }

    /// Counts the writes, so that readers notice that there is more. Another file has another number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn generation(&self) -> Result<u64> {
        let writes = self.meta("writes")?.unwrap_or_default();
        let file = self.meta("uuid")?.unwrap_or_default();
        Ok(xxh3_64(format!("{writes} {file}").as_bytes()))
    }

    /// The texts that the provider refuses.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn refused(&self) -> Result<HashSet<VectorKey>> {
        self.read(HashSet::new(), |connection| {
            let mut statement = connection.prepare_cached("SELECT key FROM refused")?;
            let keys = statement.query_map([], |row| row.get::<_, [u8; 16]>(0))?;
            keys.map(|key| key.map(VectorKey::from_le_bytes)).collect()
        })
    }

    /// Keeps which texts the provider refuses, in place of those before.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_refused(&self, keys: &HashSet<VectorKey>) -> Result<()> {
        if *keys == self.refused()? {
            return Ok(());
        }
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM refused", [])?;
            for key in keys {
                transaction
                    .prepare_cached("INSERT INTO refused VALUES(?1)")?
                    .execute([bytes_of(*key)])?;
            }
            count_write(&transaction)?;
            transaction.commit()
        })
    }

    /// The keys among `keys` that have no vector, in their order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn missing(&self, keys: &[VectorKey]) -> Result<Vec<VectorKey>> {
        self.read(keys.to_vec(), |connection| {
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM vectors WHERE key = ?1")?;
            let mut missing = Vec::new();
            for &key in keys {
                if !statement.exists([bytes_of(key)])? {
                    missing.push(key);
                }
            }
            Ok(missing)
        })
    }

    /// Hands each vector that there is to `visit`, with the position of its key.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn for_each(&self, keys: &[VectorKey], mut visit: impl FnMut(usize, &[u8])) -> Result<()> {
        self.read((), |connection| {
            let sql = "SELECT data FROM vectors WHERE key = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            for (at, &key) in keys.iter().enumerate().filter(|(_, key)| **key != 0) {
                let mut rows = statement.query([bytes_of(key)])?;
                if let Some(row) = rows.next()?
                    && let Some(sealed) = unseal(row.get_ref(0)?.as_blob()?)
                    && let Some((packed, of)) = sealed.split_last_chunk::<16>()
                    && *of == key.to_le_bytes()
                {
                    visit(at, packed);
                }
            }
            Ok(())
        })
    }

    /// Keeps packed vectors of `dimensions` dimensions under their keys.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn put(&self, vectors: &[(VectorKey, Vec<u8>)], dimensions: usize) -> Result<()> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT OR IGNORE INTO meta VALUES('dimensions', ?1)",
                [dimensions.to_string()],
            )?;
            let mut statement = transaction.prepare_cached(
                "INSERT INTO vectors(key, data) VALUES(?1, ?2)
                     ON CONFLICT(key) DO UPDATE SET data = excluded.data",
            )?;
            for (key, packed) in vectors {
                let mut data = packed.clone();
                data.extend_from_slice(&key.to_le_bytes());
                statement.execute(params![bytes_of(*key), seal(data)])?;
            }
            drop(statement);
            count_write(&transaction)?;
            transaction.commit()
        })
    }

    /// The keys of a segment's vectors, if they were put for this very segment.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn segment_keys(
        &self,
        segment: SegmentId,
        fingerprint: u64,
    ) -> Result<Option<Vec<VectorKey>>> {
        self.read(None, |connection| {
            let sql = "SELECT keys FROM segments WHERE id = ?1 AND fingerprint = ?2";
            let blob: Option<Vec<u8>> = connection
                .prepare_cached(sql)?
                .query_row(params![segment, fingerprint.to_le_bytes()], |row| row.get(0))
                .optional()?;
            Ok(blob.as_deref().and_then(unseal).map(|blob| {
                blob.as_chunks::<16>().0.iter().map(|key| u128::from_le_bytes(*key)).collect()
            }))
        })
    }

    /// Keeps the keys of a segment's vectors.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn put_segment_keys(
        &self,
        segment: SegmentId,
        fingerprint: u64,
        keys: &[VectorKey],
    ) -> Result<()> {
        let blob: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        self.write(|connection| {
            connection
                .prepare_cached("INSERT OR REPLACE INTO segments VALUES(?1, ?2, ?3)")?
                .execute(params![segment, fingerprint.to_le_bytes(), seal(blob)])
                .map(|_| ())
        })
    }

    /// Forgets all vectors but those under `keys`, and all segments but `segments`. Overwrites what it forgets.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn retain(&self, keys: &[VectorKey], segments: &[SegmentId]) -> Result<()> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch(
                "CREATE TEMP TABLE IF NOT EXISTS kept(key BLOB PRIMARY KEY) WITHOUT ROWID;
                 DELETE FROM temp.kept;
                 CREATE TEMP TABLE IF NOT EXISTS kept_segments(id INTEGER PRIMARY KEY);
                 DELETE FROM temp.kept_segments;",
            )?;
            for key in keys {
                transaction
                    .prepare_cached("INSERT OR IGNORE INTO temp.kept VALUES(?1)")?
                    .execute([bytes_of(*key)])?;
            }
            for segment in segments {
                transaction
                    .prepare_cached("INSERT OR IGNORE INTO temp.kept_segments VALUES(?1)")?
                    .execute([segment])?;
            }
            transaction.execute_batch(
                "DELETE FROM vectors WHERE key NOT IN (SELECT key FROM temp.kept);
                 DELETE FROM segments WHERE id NOT IN (SELECT id FROM temp.kept_segments);
                 DELETE FROM temp.kept;",
            )?;
            count_write(&transaction)?;
            transaction.commit()?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })
    }

    /// Number of vectors.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn n_vectors(&self) -> Result<u64> {
        self.read(0, |connection| {
            connection
                .query_row("SELECT count(*) FROM vectors", [], |row| row.get::<_, i64>(0))
                .map(|n| n as u64)
        })
    }

    fn meta(&self, key: &str) -> Result<Option<String>> {
        self.read(None, |connection| {
            connection
                .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()
        })
    }

    fn set_meta(&self, key: &str, value: &str) -> Result<()> {
        self.write(|connection| {
            connection
                .execute("INSERT OR REPLACE INTO meta VALUES(?1, ?2)", [key, value])
                .map(|_| ())
        })
    }

    /// Lets go of the file, so that it can be removed anywhere. The next call opens it anew.
    pub fn close(&self) {
        *self.lock_connection() = None;
    }

    /// Reads; `nothing` if there is no file, or one that was damaged and is removed now.
    fn read<T>(
        &self,
        nothing: T,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let mut open = self.lock_connection();
        if !self.path.exists() {
            *open = None;
            return Ok(nothing);
        }
        match self.with(&mut open, |connection| work(connection)) {
            Err(StoreError::Damaged { .. }) => Ok(nothing),
            result => result,
        }
    }

    fn write<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T> {
        self.with(&mut self.lock_connection(), work)
    }

    fn with<T>(
        &self,
        open: &mut Option<Open>,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        // Somebody may have removed the file, or put another in its place; what is open is then read by nobody else.
        let is_same =
            |open: &Open| open.identity.is_some() && open.identity == identity(&self.path);
        let opened = match open.take().filter(is_same) {
            Some(known) => Ok(known),
            None => {
                self.open().map(|connection| Open { connection, identity: identity(&self.path) })
            }
        };
        let done = opened.and_then(|opened| work(&mut open.insert(opened).connection));
        done.map_err(|error| {
            let error = match StoreError::from_sqlite(&self.path, &error) {
                // A later version's, which paid for it.
                StoreError::Damaged { path, .. } if version_of(&path) > FORMAT_VERSION => {
                    let (found, supported) = (version_of(&path), FORMAT_VERSION);
                    StoreError::Format { path, found, supported }
                }
                error => error,
            };
            if matches!(error, StoreError::Damaged { .. }) {
                *open = None;
                remove(&self.path);
            }
            error
        })
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // A vector tells something of its text.
        connection.pragma_update(None, "secure_delete", true)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "journal_size_limit", 4 << 20)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version == 0 {
            transaction.execute_batch(CREATE)?;
            transaction.execute(
                "INSERT INTO meta VALUES('model', ?1), ('uuid', ?2)",
                [&self.model, &new_identity(&self.path)],
            )?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
        } else {
            let model: String =
                transaction.query_row("SELECT value FROM meta WHERE key = 'model'", [], |row| {
                    row.get(0)
                })?;
            if version != FORMAT_VERSION || model != self.model {
                let code = rusqlite::ffi::SQLITE_NOTADB;
                return Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None));
            }
        }
        transaction.commit()?;
        Ok(connection)
    }

    fn lock_connection(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bytes_of(key: VectorKey) -> [u8; 16] {
    key.to_le_bytes()
}

/// The models in `folder` whose meta data pass `test`, which is told what keys there are.
fn named(folder: &Path, test: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> Vec<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut models: Vec<String> = files(folder)
        .into_iter()
        .filter_map(|path| {
            let connection = Connection::open_with_flags(path, flags).ok()?;
            let get = |key: &str| -> Option<String> {
                let sql = "SELECT value FROM meta WHERE key = ?1";
                connection.query_row(sql, [key], |row| row.get(0)).ok()
            };
            test(&|key| get(key).is_some()).then(|| get("model")).flatten()
        })
        .collect();
    models.sort();
    models
}

/// Says that something was written.
fn count_write(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO meta VALUES('writes', '1')
             ON CONFLICT(key) DO UPDATE SET value = (CAST(value AS INTEGER) + 1) || ''",
        )?
        .execute([])
        .map(|_| ())
}

/// The format of a file; 0 if it has none.
fn version_of(path: &Path) -> i64 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags);
    connection
        .and_then(|open| open.query_row("PRAGMA user_version", [], |row| row.get(0)))
        .unwrap_or(0)
}

/// The databases of vectors in `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("vectors-") && name.ends_with(".db")
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(is_ours).collect()
}

fn remove(path: &Path) {
    // The log goes first: it must not be taken for that of a file that comes next.
    for suffix in ["-wal", "-shm", ""] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        // What cannot be removed is noticed by whoever opens it.
        let _ = fs::remove_file(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(store: &VectorStore, keys: &[VectorKey]) -> Vec<(usize, Vec<u8>)> {
        let mut found = Vec::new();
        store.for_each(keys, |at, packed| found.push((at, packed.to_vec()))).unwrap();
        found
    }

    #[test]
    fn a_vector_is_found_under_its_key_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = VectorStore::new(folder.path(), "a");
        let keys = [vector_key("a", "x"), 0, vector_key("a", "y"), vector_key("b", "x")];
        assert_eq!(store.missing(&keys[..1]).unwrap(), &keys[..1]);
        assert!(!store.path.exists(), "reading makes no file");
        store.put(&[(keys[0], vec![1, 2, 3]), (keys[2], vec![4])], 3).unwrap();
        assert_eq!(found(&store, &keys), [(0, vec![1, 2, 3]), (2, vec![4])]);
        assert_eq!(store.dimensions().unwrap(), Some(3));
        assert_eq!(VectorStore::new(folder.path(), "a").n_vectors().unwrap(), 2);
        store
            .write(|connection| {
                connection.execute("UPDATE vectors SET data = (SELECT max(data) FROM vectors)", [])
            })
            .unwrap();
        assert!(found(&store, &keys).len() <= 1, "the seal covers the key");
    }

    #[test]
    fn models_do_not_mix_and_the_complete_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (VectorStore::new(folder.path(), "a"), VectorStore::new(folder.path(), "b"));
        a.put(&[(1, vec![1])], 1).unwrap();
        b.put(&[(1, vec![2])], 1).unwrap();
        assert_eq!(VectorStore::complete_models(folder.path()), [""; 0]);
        b.set_complete().unwrap();
        assert_eq!(VectorStore::complete_models(folder.path()), ["b"]);
        assert_eq!(found(&a, &[1]), [(0, vec![1])]);
        b.remove_old(folder.path());
        assert_eq!(found(&a, &[1]), [(0, vec![1])], "somebody may use it");
        a.close();
        let old = std::time::SystemTime::now() - 2 * UNUSED;
        fs::File::options().write(true).open(&a.path).unwrap().set_modified(old).unwrap();
        b.remove_old(folder.path());
        assert_eq!(found(&a, &[1]), []);
        assert_eq!(found(&b, &[1]), [(0, vec![2])]);
    }

    #[test]
    fn every_write_is_another_generation_and_so_is_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = VectorStore::new(folder.path(), "a");
        let other = VectorStore::new(folder.path(), "a");
        let mut seen = HashSet::from([store.generation().unwrap()]);
        store.put(&[(1, vec![1])], 1).unwrap();
        assert!(seen.insert(other.generation().unwrap()));
        store.put(&[(2, vec![1])], 1).unwrap();
        assert!(seen.insert(store.generation().unwrap()));
        store.retain(&[1], &[]).unwrap();
        assert!(seen.insert(store.generation().unwrap()));
        store.set_refused(&HashSet::from([9])).unwrap();
        assert!(seen.insert(other.generation().unwrap()));
        assert_eq!(other.refused().unwrap(), HashSet::from([9]));
        VectorStore::remove_all(folder.path());
        assert_eq!(found(&other, &[1]), [], "the file that is open is gone");
        other.put(&[(1, vec![1])], 1).unwrap();
        assert!(seen.insert(store.generation().unwrap()));
    }

    #[test]
    fn keys_of_another_segment_with_the_same_number_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let store = VectorStore::new(folder.path(), "a");
        store.put_segment_keys(7, 1, &[5, 0, 6]).unwrap();
        assert_eq!(store.segment_keys(7, 1).unwrap(), Some(vec![5, 0, 6]));
        assert_eq!(store.segment_keys(7, 2).unwrap(), None);
        assert_eq!(store.segment_keys(8, 1).unwrap(), None);
    }

    #[test]
    fn what_is_not_retained_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let store = VectorStore::new(folder.path(), "a");
        let secret = b"a vector that tells something".to_vec();
        store.put(&[(1, vec![1]), (2, secret.clone())], 1).unwrap();
        store.put_segment_keys(1, 1, &[1]).unwrap();
        store.put_segment_keys(2, 1, &[2]).unwrap();
        store.retain(&[1], &[1]).unwrap();
        assert_eq!(store.missing(&[1, 2]).unwrap(), [2]);
        assert_eq!(store.segment_keys(2, 1).unwrap(), None);
        for suffix in ["", "-wal"] {
            let mut path = store.path.clone().into_os_string();
            path.push(suffix);
            let bytes = fs::read(path).unwrap();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
    }

    #[test]
    fn a_damaged_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = VectorStore::new(folder.path(), "a");
        fs::write(&store.path, vec![7; 8192]).unwrap();
        assert_eq!(store.n_vectors().unwrap(), 0);
        assert!(!store.path.exists());
        store.put(&[(1, vec![1])], 1).unwrap();
        assert_eq!(found(&store, &[1]), [(0, vec![1])]);
    }
}
