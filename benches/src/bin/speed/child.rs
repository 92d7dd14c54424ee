//! The steps, each run in a process of its own.

use std::fs;
use std::path::Path;

use sextant::chunk;
use sextant::config::{Config, WalkConfig};
use sextant::engine::Strategy;
use sextant::source::{self, Loaded};
use sextant::task::{CancelToken, NoProgress};
use sextant::token::TokenCounter;
use sextant::walk::{FileEntry, walk};
use sextant_benches::workspace::{open_only, request};

use crate::QUESTIONS;
use crate::references;
use crate::usage::cpu_ms;

/// Hits asked for.
pub const LIMIT: usize = 32;
/// Rounds over the questions; the first is not counted.
const ROUNDS: usize = 6;

/// Does `step` and prints `name=value` lines.
pub fn work(step: &str, root: &Path, storage: &Path) {
    match step {
        "read" => read(root),
        "load" => load(root, |_, _| ()),
        "chunk-lines" => {
            let counter = TokenCounter::new();
            load(root, |path, text| {
                std::hint::black_box(chunk::chunk_lines(path, text, &counter));
            });
        }
        "parse" => parse(root),
        "index" => index(root, storage, Config::standard()),
        "index-lexical" => index(
            root,
            storage,
            Config { use_syntax: false, use_vectors: false, ..Config::standard() },
        ),
        "index-tantivy" => references::index_tantivy(root, storage),
        "index-fts5" => references::index_fts5(root, storage),
        "search" => search(root, storage, Strategy::Hybrid),
        "search-terms" => search(root, storage, Strategy::Tfidf),
        "search-tantivy" => references::search_tantivy(storage),
        "search-fts5" => references::search_fts5(storage),
        "reopen" => reopen(root, storage),
        "touch" => {
            let file = files(root).into_iter().find(|file| file.path.ends_with(".md"));
            let path = root.join(file.expect("a corpus has a Markdown file").path);
            let text = fs::read_to_string(&path).expect("it can be read");
            fs::write(&path, format!("{text}\nOne line more.\n")).expect("it can be written");
            reopen(root, storage);
            fs::write(&path, text).expect("it can be written");
        }
        other => panic!("unknown step {other}"),
    }
}

/// The files that Sextant would index.
pub fn files(root: &Path) -> Vec<FileEntry> {
    walk(&CancelToken::new(), root, &WalkConfig::STANDARD).expect("the folder can be walked").files
}

fn read(root: &Path) {
    let files = files(root);
    let mut n_bytes = 0;
    for file in &files {
        n_bytes += fs::read(root.join(&file.path)).map_or(0, |bytes| bytes.len());
    }
    println!("files={}\nbytes={n_bytes}", files.len());
}

fn load(root: &Path, mut visit: impl FnMut(&str, &str)) {
    for file in files(root) {
        if let Loaded::Text(source) = source::load(&root.join(&file.path), &file.path) {
            visit(&file.path, &source.text);
        }
    }
}

fn parse(root: &Path) {
    let mut n_nodes = 0;
    for file in files(root) {
        if let Loaded::Text(source) = source::load(&root.join(&file.path), &file.path) {
            n_nodes += chunk::count_syntax_nodes(&file.path, source.language, &source.text);
        }
    }
    println!("nodes={n_nodes}");
}

fn index(root: &Path, storage: &Path, config: Config) {
    let engine = open_only(root, storage, config);
    let report = engine.sync(&CancelToken::new(), &NoProgress).expect("indexing works");
    let status = engine.status().expect("the index can be read");
    println!("chunks={}\ndatabase={}", report.chunks, status.database_bytes);
}

fn search(root: &Path, storage: &Path, strategy: Strategy) {
    let mut config = Config::standard();
    // An answer that was kept says nothing of how long it takes to find one.
    config.settings.vector_db.cache_enabled = false;
    let engine = open_only(root, storage, config);
    percentiles(|question| {
        let request = request(question, LIMIT, strategy);
        engine.search(&CancelToken::new(), &request).expect("searching works").hits.len()
    });
}

fn reopen(root: &Path, storage: &Path) {
    let engine = open_only(root, storage, Config::standard());
    let request = request(QUESTIONS[0], LIMIT, Strategy::Hybrid);
    let answer = engine.sync_and_search(&CancelToken::new(), &NoProgress, &request);
    println!("hits={}", answer.expect("searching works").hits.len());
}

/// Asks every question several times and prints the percentiles of the CPU time of one.
pub fn percentiles(ask: impl Fn(&str) -> usize) {
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        for question in QUESTIONS {
            let before = cpu_ms();
            std::hint::black_box(ask(question));
            if round > 0 {
                times.push(cpu_ms() - before);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    println!("p50={}\np95={}", times[times.len() / 2], times[times.len() * 95 / 100]);
}
