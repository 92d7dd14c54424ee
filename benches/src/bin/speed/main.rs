//! Measures indexing and searching, beside tantivy and SQLite's FTS5 in the same run.
//!
//! ```sh
//! cargo run --release -p sextant-benches --features references --bin speed -- FOLDER…
//! ```
//!
//! Every figure is the CPU time (user and system) and the peak memory of a child process that does one thing, because
//! wall time on a shared machine is noise. "x read" is CPU over that of walking the folder and reading every file,
//! measured in the same run. Each search figure is over the questions of `QUESTIONS`, the best 32 hits with their text.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is its purpose")]

mod child;
mod references;
mod usage;

use std::path::Path;

use usage::{Usage, run};

/// Questions about nothing in particular, so that every corpus has some answer.
pub const QUESTIONS: [&str; 20] = [
    "where is a request retried after a timeout",
    "how are configuration files loaded",
    "parse a date from a string",
    "close the database connection",
    "validate user input",
    "cache invalidation",
    "compare two versions",
    "write a log message",
    "escape html characters",
    "find the first matching element in a list",
    "what happens when a file is not found",
    "register an event listener",
    "serialize an object to json",
    "thread pool size",
    "check permissions before deleting",
    "render a template",
    "handleError",
    "createConnection",
    "default value of an option",
    "how do we compute the diff between two trees",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--child") {
        child::work(&arguments[1], Path::new(&arguments[2]), Path::new(&arguments[3]));
        return;
    }
    assert!(!arguments.is_empty(), "name a folder to index");
    for folder in &arguments {
        measure(Path::new(folder));
    }
}

fn measure(root: &Path) {
    let storage = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| storage.path().join(name);
    // The first pass warms the file cache and is not counted.
    let _ = run("read", root, &at("read"));
    let read = run("read", root, &at("read"));
    let source_bytes = read.value("bytes");
    println!(
        "\n## {} ({} files, {:.1} MB); walk + read {:.3} s CPU",
        root.display(),
        read.value("files"),
        source_bytes / 1e6,
        read.cpu_s
    );
    println!("| step | CPU s | x read | wall s | peak MB | database x source |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let row = |name: &str, usage: &Usage| {
        println!(
            "| {name} | {:.2} | {:.1} | {:.2} | {:.0} | {} |",
            usage.cpu_s,
            usage.cpu_s / read.cpu_s,
            usage.wall_s,
            usage.peak_mb,
            usage
                .find("database")
                .map_or("-".into(), |bytes| format!("{:.2}", bytes / source_bytes)),
        );
    };
    let parse = run("parse", root, &at("parse"));
    row("tree-sitter parse alone", &parse);
    let load = run("load", root, &at("load"));
    let lines = run("chunk-lines", root, &at("lines"));
    let mut lexical = run("index-lexical", root, &at("lexical"));
    // The lexical part is terms, postings and stored text; cutting into chunks is not in it.
    lexical.cpu_s -= lines.cpu_s - load.cpu_s;
    row("Sextant, walk, read and lexical part", &lexical);
    let index = run("index", root, &at("sextant"));
    row("Sextant, everything", &index);
    row("tantivy, one writer, text stored", &run("index-tantivy", root, &at("tantivy")));
    row("FTS5, split identifiers", &run("index-fts5", root, &at("fts5")));
    println!("everything over parse alone: {:.2}", index.cpu_s / parse.cpu_s);

    println!("\n| search | p50 CPU ms | p95 CPU ms | peak MB |");
    println!("| --- | --- | --- | --- |");
    for (name, step, folder) in [
        ("Sextant, hybrid", "search", "sextant"),
        ("Sextant, terms only", "search-terms", "sextant"),
        ("tantivy", "search-tantivy", "tantivy"),
        ("FTS5", "search-fts5", "fts5"),
    ] {
        let usage = run(step, root, &at(folder));
        println!(
            "| {name} | {:.2} | {:.2} | {:.0} |",
            usage.value("p50"),
            usage.value("p95"),
            usage.peak_mb
        );
    }
    let unchanged = run("reopen", root, &at("sextant"));
    let touched = run("touch", root, &at("sextant"));
    println!(
        "\nprocess start, stat of all files, search: {:.0} ms CPU, {:.0} ms wall",
        unchanged.cpu_s * 1e3,
        unchanged.wall_s * 1e3
    );
    println!(
        "the same after one file changed: {:.0} ms CPU, {:.0} ms wall",
        touched.cpu_s * 1e3,
        touched.wall_s * 1e3
    );
}
