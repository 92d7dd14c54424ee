//! The database as SQLite sees it.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::failure::{Context, Failure, Result};

/// A finding unless SQLite itself finds the index and the cache of embeddings sound.
pub fn check_integrity(storage: &Path) -> Result<()> {
    for path in [storage.join("index.db"), storage.join("cache/embeddings.db")] {
        if !path.exists() {
            continue;
        }
        let verdict: String = connect(&path)?
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .finding(format_args!("PRAGMA integrity_check of {}", path.display()))?;
        if verdict != "ok" {
            let name = path.display();
            return Err(Failure::Finding(format!("PRAGMA integrity_check of {name}: {verdict}")));
        }
    }
    Ok(())
}

/// Bytes of the database.
#[derive(Clone, Copy, Default)]
pub struct Bytes {
    file: u64,
    log: u64,
    /// Of the file: in pages that hold nothing.
    free: u64,
}

impl Bytes {
    /// Looks at the files and asks SQLite for free pages.
    pub fn of(storage: &Path) -> Result<Self> {
        let bytes = |name: &str| fs::metadata(storage.join(name)).map_or(0, |found| found.len());
        let connection = connect(&storage.join("index.db"))?;
        let number = |sql: &str| -> Result<i64> {
            connection.query_row(sql, [], |row| row.get(0)).finding(sql)
        };
        let free = number("PRAGMA freelist_count")? * number("PRAGMA page_size")?;
        let free = u64::try_from(free).unwrap_or(0);
        Ok(Self { file: bytes("index.db"), log: bytes("index.db-wal"), free })
    }

    /// File and log.
    pub fn sum(&self) -> u64 {
        self.file + self.log
    }

    /// For the summary.
    pub fn to_json(self) -> Value {
        json!({ "file": self.file, "log": self.log, "freePages": self.free })
    }
}

fn connect(path: &Path) -> Result<Connection> {
    Connection::open(path).finding(format_args!("opening {} with SQLite", path.display()))
}
