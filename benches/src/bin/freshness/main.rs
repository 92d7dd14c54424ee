//! Measures how quickly an index follows its files: a saved file, a branch switch, a start with nothing new.
//!
//! ```sh
//! cargo run --release -p sextant-benches --bin freshness -- FOLDER [N_FILES]
//! ```
//!
//! The first `N_FILES` files (25,000 unless said otherwise) of FOLDER are copied to a temporary folder, because they are
//! changed. Each figure stands beside a reference of the same run: a start beside a process that does nothing and one
//! that only asks for all stats, a branch switch beside a fresh index of the same files.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is its purpose")]

mod edit;
mod start;
mod switch;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sextant::config::{Config, WalkConfig};
use sextant::task::CancelToken;
use sextant::walk::{FileEntry, walk};
use sextant_benches::workspace::open;

/// Files of the measured workspace unless said otherwise.
const N_FILES: usize = 25_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, step, root, storage] = arguments.as_slice()
        && flag == "--child"
    {
        start::child(step, Path::new(root), Path::new(storage));
        return;
    }
    let Some(folder) = arguments.first() else { panic!("name a folder to copy files from") };
    let n_files = arguments.get(1).map_or(N_FILES, |n| n.parse().expect("a number of files"));
    let place = tempfile::tempdir().expect("a temporary folder");
    let top = fs::canonicalize(place.path()).expect("it is there");
    let (root, storage) = (top.join("tree"), top.join("storage"));
    copy(Path::new(folder), &root, n_files);
    let files = files(&root);
    let n_bytes: u64 = files.iter().map(|file| file.size).sum();
    println!("{} files, {:.1} MB", files.len(), n_bytes as f64 / 1e6);

    let started = Instant::now();
    let engine = open(&root, &storage, Config::standard());
    println!("indexed in {:.1} s", started.elapsed().as_secs_f64());
    engine.close();
    let n_stored = fs::metadata(storage.join("index.db")).map_or(0, |metadata| metadata.len());
    println!("database / text: {:.3}", n_stored as f64 / n_bytes as f64);

    start::measure(&root, &storage);
    edit::measure(&root, &storage);
    switch::measure(&top, &root, &storage);
    let n_stored = fs::metadata(storage.join("index.db")).map_or(0, |metadata| metadata.len());
    println!("database / text at the end: {:.3}", n_stored as f64 / n_bytes as f64);
}

/// The files that Sextant would index.
fn files(root: &Path) -> Vec<FileEntry> {
    walk(&CancelToken::new(), root, &WalkConfig::STANDARD).expect("the folder can be walked").files
}

/// Copies the first `n_files` files of `from` in the order of their paths.
fn copy(from: &Path, to: &Path, n_files: usize) {
    for file in files(from).into_iter().take(n_files) {
        let target: PathBuf = to.join(&file.path);
        fs::create_dir_all(target.parent().expect("it has a folder")).expect("a folder");
        fs::copy(from.join(&file.path), target).expect("a file can be copied");
    }
}

/// The middle and the 95th percentile.
fn spread(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    format!("{:.1} / {:.1} ms", at(0.5), at(0.95))
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
