//! A database that is not as it was written: set aside, rebuilt, said once.

use std::fs;
use std::path::Path;

use sextant::engine::Engine;
use sextant::task::{CancelToken, NoProgress};

use crate::code::{Random, source};
use crate::support::{Place, QUERIES, State, ask, code_of, codes, options, sync, sync_and_search};

const MARKED: &str = "src/marked.rs";

/// A tree whose database has some dozens of pages.
fn indexed(n: u64) -> Place {
    let place = Place::new(&[(
        MARKED,
        "/// Where the zebra crosses.\npub fn zebra_crossing() -> u32 {\n    7\n}\n",
    )]);
    for at in 0..n {
        place.write(&format!("src/part_{at}.rs"), source("rs", at));
        place.write(&format!("lib/part_{at}.py"), source("py", at));
    }
    place.index().close();
    place
}

/// How much has to be right after some damage.
#[derive(Clone, Copy, PartialEq)]
enum Demand {
    /// The marked file is found with its text; whatever else was damaged need not have been met.
    RightHit,
    /// Every answer is that of a fresh index.
    RightAnswers,
    /// That too, and the damage is such that it has to be noticed.
    Notice,
}
use Demand::{Notice, RightAnswers, RightHit};

/// One tree, damaged in many ways, each time in a storage folder of its own.
struct Damages {
    place: Place,
    fresh: State,
    whole: Vec<u8>,
    n: usize,
    failures: Vec<String>,
}

impl Damages {
    fn new() -> Self {
        Self::of(12)
    }

    /// With a tree of about twice so many files.
    fn of(n: u64) -> Self {
        let place = indexed(n);
        let whole = fs::read(place.database()).unwrap();
        let fresh_storage = place.top.join("fresh");
        let root = std::slice::from_ref(&place.root);
        let engine = Engine::open(options(root, &fresh_storage)).unwrap();
        sync(&engine);
        let fresh = State::of(&engine);
        Self { place, fresh, whole, n: 0, failures: Vec::new() }
    }

    /// Damages a whole index and checks what comes after; failures are collected for [`Damages::done`].
    fn check(&mut self, name: &str, demand: Demand, damage: impl FnOnce(&Place)) {
        self.n += 1;
        self.place.storage = self.place.top.join(format!("storage {}", self.n));
        fs::create_dir(&self.place.storage).unwrap();
        fs::write(self.place.database(), &self.whole).unwrap();
        damage(&self.place);
        let survives = std::panic::AssertUnwindSafe(|| survives(&self.place, &self.fresh, demand));
        let failure = match std::panic::catch_unwind(survives) {
            Ok(Ok(())) => return,
            Ok(Err(failure)) => failure,
            Err(_) => "it panicked, see above".to_owned(),
        };
        self.failures.push(format!("{name}: {failure}"));
    }

    #[track_caller]
    fn done(self) {
        assert!(self.failures.is_empty(), "after damage:\n{}", self.failures.join("\n"));
    }
}

/// Right hits from the first call on, one notice if any, the old file kept.
fn survives(place: &Place, fresh: &State, demand: Demand) -> Result<(), String> {
    let n_before = place.stored_names().len();
    let engine =
        Engine::open(place.options()).map_err(|error| format!("open: {}", error.chain()))?;
    let mut n_notices = 0;
    let mut answer = |query: &str| {
        let response = sync_and_search(&engine, query)
            .map_err(|error| format!("{query}: {} {}", error.code(), error.chain()))?;
        let codes = codes(&response.degraded);
        n_notices += codes.iter().filter(|&&code| code == "INDEX_DAMAGED").count();
        Ok::<_, String>(response)
    };
    for query in ["zebra_crossing", "where does the zebra cross", "zebra_crossing"] {
        let response = answer(query)?;
        let hit = response.hits.first().ok_or_else(|| format!("{query}: no hit"))?;
        if hit.path != MARKED || !hit.text.contains("pub fn zebra_crossing() -> u32 {") {
            return Err(format!("{query}: {} {:?}", hit.path, hit.text));
        }
    }
    if demand != RightHit {
        // Whatever was not met yet is met now.
        for query in QUERIES {
            answer(query)?;
        }
        if let Some(difference) = State::of(&engine).difference(fresh) {
            return Err(difference.chars().take(300).collect());
        }
    }
    if n_notices > 1 || (n_notices == 0 && demand == Notice) {
        return Err(format!("the notice came {n_notices} times"));
    }
    let names = place.stored_names();
    if place.set_aside().len() != n_notices || names.len() < n_before {
        return Err(format!("{n_notices} notices, and {names:?} are kept"));
    }
    engine.close();
    // Not said again to whoever opens it next.
    let again = sync_and_search(&place.open(), "zebra_crossing");
    let again = again.map_err(|error| format!("again: {}", error.chain()))?;
    if n_notices == 1 && !again.degraded.is_empty() {
        return Err(format!("again: {:?}", again.degraded));
    }
    Ok(())
}

fn overwrite(path: &Path, at: usize, n: usize, seed: u64) {
    let mut bytes = fs::read(path).unwrap();
    let mut random = Random(seed);
    let end = (at + n).min(bytes.len());
    for byte in &mut bytes[at..end] {
        *byte = random.next() as u8;
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_file_that_is_no_database() {
    let mut damages = Damages::new();
    damages.check("garbage", Notice, |place| {
        fs::write(place.database(), vec![0u8; 9000]).unwrap();
        overwrite(&place.database(), 0, 9000, 1);
    });
    damages
        .check("text", Notice, |place| fs::write(place.database(), "my shopping list\n").unwrap());
    damages.check("short text", RightAnswers, |place| fs::write(place.database(), "x").unwrap());
    damages.check("folder", Notice, |place| {
        fs::remove_file(place.database()).unwrap();
        fs::create_dir(place.database()).unwrap();
        fs::write(place.database().join("inside"), "kept").unwrap();
    });
    damages.check("database of another program", Notice, |place| {
        fs::remove_file(place.database()).unwrap();
        place.connect().execute_batch("CREATE TABLE a(b); INSERT INTO a VALUES(1)").unwrap();
    });
    damages.done();
}

#[test]
fn a_missing_or_empty_database_is_built() {
    let mut damages = Damages::new();
    damages.check("zero length", RightAnswers, |place| fs::write(place.database(), "").unwrap());
    damages.check("missing", RightAnswers, |place| fs::remove_file(place.database()).unwrap());
    damages.done();
}

/// The files that SQLite keeps beside the database.
#[test]
fn a_log_that_is_none() {
    let mut damages = Damages::new();
    for suffix in ["-wal", "-shm", "-journal"] {
        let beside = |place: &Place| place.storage.join(format!("index.db{suffix}"));
        for n in [0, 9000] {
            damages.check(&format!("{suffix} of {n} bytes"), RightAnswers, |place| {
                fs::write(beside(place), vec![0u8; n]).unwrap();
                overwrite(&beside(place), 0, n, n as u64);
            });
        }
    }
    damages.done();
}

#[test]
fn a_truncated_database() {
    let mut damages = Damages::new();
    for share in [1usize, 10, 25, 50, 75, 90] {
        damages.check(&format!("truncated to {share} %"), Notice, |place| {
            let bytes = fs::read(place.database()).unwrap();
            fs::write(place.database(), &bytes[..bytes.len() * share / 100]).unwrap();
        });
    }
    damages.check("truncated by a page", Notice, |place| {
        let bytes = fs::read(place.database()).unwrap();
        fs::write(place.database(), &bytes[..bytes.len() - 4096]).unwrap();
    });
    damages.done();
}

/// Overwrites one page after the other.
fn overwrite_pages(demand: Demand) {
    let mut damages = Damages::of(20);
    let n_pages = damages.whole.len() / 4096;
    for page in 1..n_pages {
        damages.check(&format!("page {page} of {n_pages}"), demand, |place| {
            overwrite(&place.database(), page * 4096, 4096, page as u64);
        });
    }
    damages.done();
}

#[test]
fn a_page_overwritten_in_the_middle_leaves_the_right_hit() {
    overwrite_pages(RightHit);
}

#[test]
fn a_page_overwritten_in_the_middle_leaves_no_wrong_answer() {
    overwrite_pages(RightAnswers);
}

#[test]
fn a_header_overwritten() {
    let mut damages = Damages::new();
    damages.check("first page", Notice, |place| overwrite(&place.database(), 0, 4096, 3));
    damages.check("first page but the header", Notice, |place| {
        overwrite(&place.database(), 100, 3996, 3)
    });
    damages.done();
}

#[test]
fn a_table_that_is_gone() {
    let mut damages = Damages::new();
    for table in
        ["meta", "roots", "segments", "files", "records", "postings", "parts", "texts", "skipped"]
    {
        damages.check(&format!("{table} dropped"), Notice, |place| {
            place.connect().execute_batch(&format!("DROP TABLE {table}")).unwrap();
        });
    }
    damages.done();
}

#[test]
fn a_table_that_is_empty() {
    let mut damages = Damages::new();
    for table in ["meta", "segments", "records", "postings", "parts", "texts"] {
        damages.check(&format!("{table} emptied"), Notice, |place| {
            place.connect().execute_batch(&format!("DELETE FROM {table}")).unwrap();
        });
    }
    // As if nothing had been indexed yet.
    damages.check("roots emptied", RightAnswers, |place| {
        place.connect().execute_batch("DELETE FROM roots").unwrap();
    });
    damages.check("files emptied", RightAnswers, |place| {
        place.connect().execute_batch("DELETE FROM files").unwrap();
    });
    damages.done();
}

#[test]
fn a_blob_of_a_wrong_length() {
    let mut damages = Damages::new();
    for column in [
        "parts.lengths",
        "parts.kinds",
        "parts.vectors",
        "postings.data",
        "texts.data",
        "records.data",
        "segments.directory",
        "segments.vector_sum",
    ] {
        let (table, column) = column.split_once('.').unwrap();
        for (how, value) in [
            ("shorter", format!("substr({column}, 1, length({column}) - 1)")),
            ("longer", format!("CAST({column} || x'00ff' AS BLOB)")),
            ("empty", "x''".to_owned()),
            ("a number", "17".to_owned()),
        ] {
            damages.check(&format!("{table}.{column} {how}"), RightAnswers, |place| {
                place
                    .connect()
                    .execute_batch(&format!("UPDATE {table} SET {column} = {value}"))
                    .unwrap();
            });
        }
    }
    damages.done();
}

#[test]
fn numbers_that_cannot_be() {
    let mut damages = Damages::new();
    for change in [
        "files SET first_chunk = 1000000",
        "files SET n_chunks = 1000000",
        "files SET n_chunks = -1",
        "files SET ordinal = 1000000",
        "files SET segment = 77",
        "files SET text_start = 1 << 60",
        "files SET content_hash = x'00'",
        "segments SET n_chunks = 4000000000",
        "segments SET n_chunks = n_chunks + 1",
        "segments SET n_files = 0",
        "segments SET first_block = 12345",
        "meta SET value = 'zzz' WHERE key = 'generation'",
    ] {
        damages.check(change, RightAnswers, |place| {
            place.connect().execute_batch(&format!("UPDATE {change}")).unwrap();
        });
    }
    damages.done();
}

/// Damage under a running engine.
#[test]
fn a_table_that_goes_while_the_engine_is_open() {
    let place = indexed(12);
    let engine = place.open();
    assert!(sync_and_search(&engine, "zebra_crossing").unwrap().degraded.is_empty());
    place.connect().execute_batch("DROP TABLE texts; DROP TABLE records").unwrap();
    // What was answered before is kept; what was not is damaged.
    assert!(engine.search(&CancelToken::new(), &ask("zebra_crossing")).unwrap().is_cached);
    assert_eq!(code_of(engine.search(&CancelToken::new(), &ask("zebra"))), "INDEX_DAMAGED");
    let response = sync_and_search(&engine, "zebra").unwrap();
    assert_eq!(response.hits[0].path, MARKED);
    assert_eq!(codes(&response.degraded), ["INDEX_DAMAGED"]);
    assert_eq!(place.set_aside().len(), 1);
}

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let place = indexed(12);
    place.connect().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(place.database()).unwrap();
    for _ in 0..2 {
        assert_eq!(code_of(Engine::open(place.options())), "INDEX_FORMAT_UNSUPPORTED");
    }
    assert!(fs::read(place.database()).unwrap() == before, "its bytes changed");
    assert!(place.set_aside().is_empty());
}

#[test]
fn a_database_becomes_newer_while_the_engine_is_open() {
    let place = indexed(12);
    let engine = place.open();
    sync(&engine);
    engine.close();
    place.connect().pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(code_of(Engine::open(place.options())), "INDEX_FORMAT_UNSUPPORTED");
    let version: i64 =
        place.connect().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 99);
}

#[test]
fn an_index_of_an_older_format_is_rebuilt() {
    let place = indexed(12);
    let version: i64 =
        place.connect().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    place.connect().pragma_update(None, "user_version", version - 1).unwrap();
    let engine = place.open();
    let response = sync_and_search(&engine, "zebra_crossing").unwrap();
    assert_eq!(response.hits[0].path, MARKED);
    assert_eq!(codes(&response.degraded), ["INDEX_OUTDATED"]);
    assert!(sync_and_search(&engine, "zebra_crossing").unwrap().degraded.is_empty());
}

#[test]
fn an_index_of_another_profile_is_rebuilt() {
    let place = indexed(12);
    for (use_syntax, use_vectors) in [(false, true), (true, false), (true, true)] {
        let mut options = place.options();
        options.config.use_syntax = use_syntax;
        options.config.use_vectors = use_vectors;
        let engine = Engine::open(options).unwrap();
        // The notice waits for a run that can tell it.
        let cancelled = CancelToken::new();
        cancelled.cancel();
        assert_eq!(code_of(engine.sync(&cancelled, &NoProgress)), "CANCELLED");
        let response = sync_and_search(&engine, "zebra_crossing").unwrap();
        assert_eq!(response.hits[0].path, MARKED);
        assert_eq!(codes(&response.degraded), ["INDEX_OUTDATED"], "{use_syntax} {use_vectors}");
        assert!(sync_and_search(&engine, "zebra_crossing").unwrap().degraded.is_empty());
    }
}
