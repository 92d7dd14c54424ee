//! The engines that Sextant is measured beside: tantivy and FTS5, each over pieces of 60 lines with split identifiers.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, params};
use sextant::source::{self, Loaded};
use sextant::term::terms;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, TantivyDocument, doc};

use crate::child::{LIMIT, files, percentiles};

const PIECE_LINES: usize = 60;

/// Calls `visit` with the path and text of every piece.
fn pieces(root: &Path, mut visit: impl FnMut(&str, &str)) {
    for file in files(root) {
        let Loaded::Text(source) = source::load(&root.join(&file.path), &file.path) else {
            continue;
        };
        let lines: Vec<&str> = source.text.split_inclusive('\n').collect();
        for piece in lines.chunks(PIECE_LINES) {
            visit(&file.path, &piece.concat());
        }
    }
}

/// Identifiers as they stand, with their camelCase and snake_case parts after them.
fn with_parts(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    out.push_str(text);
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let mut previous = ' ';
        let mut split = String::new();
        for c in word.chars() {
            if c == '_' || (previous.is_lowercase() && c.is_uppercase()) {
                split.push(' ');
            }
            if c != '_' {
                split.push(c);
            }
            previous = c;
        }
        if split.contains(' ') {
            out.push(' ');
            out.push_str(&split);
        }
    }
    out
}

fn folder_bytes(folder: &Path) -> u64 {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}

pub fn index_tantivy(root: &Path, storage: &Path) {
    fs::create_dir_all(storage).expect("the storage folder");
    let mut schema = Schema::builder();
    let path = schema.add_text_field("path", STRING | STORED);
    let text = schema.add_text_field("text", STORED);
    let body = schema.add_text_field("body", TEXT);
    let index = Index::create_in_dir(storage, schema.build()).expect("a new index");
    let mut writer = index.writer_with_num_threads(1, 64 << 20).expect("a writer");
    pieces(root, |piece_path, piece| {
        writer
            .add_document(doc!(path => piece_path, text => piece, body => with_parts(piece)))
            .expect("a document is added");
    });
    writer.commit().expect("the index is written");
    writer.wait_merging_threads().expect("merging ends");
    println!("database={}", folder_bytes(storage));
}

pub fn search_tantivy(storage: &Path) {
    let index = Index::open_in_dir(storage).expect("the index opens");
    let schema = index.schema();
    let text = schema.get_field("text").expect("the text field");
    let body = schema.get_field("body").expect("the body field");
    let searcher = index.reader().expect("a reader").searcher();
    let parser = QueryParser::for_index(&index, vec![body]);
    percentiles(|question| {
        let (query, _) = parser.parse_query_lenient(&terms(question).join(" "));
        let top = searcher
            .search(&query, &TopDocs::with_limit(LIMIT).order_by_score())
            .expect("searching works");
        top.iter()
            .map(|(_, address)| {
                let document: TantivyDocument = searcher.doc(*address).expect("it is stored");
                document.get_first(text).and_then(|v| v.as_str()).map_or(0, str::len)
            })
            .sum()
    });
}

pub fn index_fts5(root: &Path, storage: &Path) {
    fs::create_dir_all(storage).expect("the storage folder");
    let mut connection = Connection::open(storage.join("fts.db")).expect("a new database");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             CREATE TABLE pieces(id INTEGER PRIMARY KEY, path TEXT, text TEXT);
             CREATE VIRTUAL TABLE fts USING fts5(body, content='', tokenize='unicode61');",
        )
        .expect("the tables");
    let transaction = connection.transaction().expect("a transaction");
    {
        let mut piece_row = transaction
            .prepare("INSERT INTO pieces(path, text) VALUES(?1, ?2)")
            .expect("a statement");
        let mut fts_row = transaction
            .prepare("INSERT INTO fts(rowid, body) VALUES(?1, ?2)")
            .expect("a statement");
        pieces(root, |path, piece| {
            let id = piece_row.insert(params![path, piece]).expect("a row");
            fts_row.execute(params![id, with_parts(piece)]).expect("a row");
        });
    }
    transaction.commit().expect("the index is written");
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("a checkpoint");
    println!("database={}", folder_bytes(storage));
}

pub fn search_fts5(storage: &Path) {
    let connection = Connection::open(storage.join("fts.db")).expect("the database opens");
    let mut statement = connection
        .prepare(
            "SELECT text FROM (SELECT rowid AS id FROM fts WHERE fts MATCH ?1 ORDER BY rank LIMIT 32)
             JOIN pieces USING(id)",
        )
        .expect("a statement");
    let statement = std::cell::RefCell::new(&mut statement);
    percentiles(|question| {
        let words: Vec<String> = terms(question).iter().map(|term| format!("\"{term}\"")).collect();
        let mut statement = statement.borrow_mut();
        let rows = statement
            .query_map([words.join(" OR ")], |row| row.get::<_, String>(0))
            .expect("searching works");
        rows.map(|text| text.map_or(0, |text| text.len())).sum()
    });
}
