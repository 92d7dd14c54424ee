//! Ten thousand files that change at once, as by a branch switch, and back.

use std::fs;
use std::path::Path;
use std::time::Instant;

use sextant::config::Config;
use sextant::task::{CancelToken, NoProgress};
use sextant_benches::workspace::{open, open_only};

use crate::files;

const N_FILES: usize = 10_000;

pub fn measure(top: &Path, root: &Path, storage: &Path) {
    let files = files(root);
    let every = (files.len() / N_FILES).max(1);
    let chosen: Vec<_> = files.iter().step_by(every).take(N_FILES).collect();
    let was: Vec<Vec<u8>> =
        chosen.iter().map(|file| fs::read(root.join(&file.path)).expect("a file")).collect();
    let changed = |content: &[u8]| [content, b"\nthe other branch\n".as_slice()].concat();

    let alone = top.join("alone");
    for (file, content) in chosen.iter().zip(&was) {
        let path = alone.join(&file.path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        fs::write(path, changed(content)).expect("it can be written");
    }
    let started = Instant::now();
    open(&alone, &top.join("fresh"), Config::standard()).close();
    let fresh = started.elapsed().as_secs_f64();

    let engine = open_only(root, storage, Config::standard());
    let timed = || {
        let started = Instant::now();
        let report = engine.sync(&CancelToken::new(), &NoProgress).expect("a run");
        // What is beyond the part of a long file that is read changes nothing.
        assert!(report.changed * 100 > chosen.len() as u64 * 99, "{} changed", report.changed);
        started.elapsed().as_secs_f64()
    };
    for (file, content) in chosen.iter().zip(&was) {
        fs::write(root.join(&file.path), changed(content)).expect("it can be written");
    }
    let there = timed();
    for (file, content) in chosen.iter().zip(&was) {
        fs::write(root.join(&file.path), content).expect("it can be written");
    }
    let back = timed();
    println!("{} changed files: a fresh index of them {fresh:.2} s", chosen.len());
    println!(
        "  switch {there:.2} s ({:.2} of it), back {back:.2} s ({:.2})",
        there / fresh,
        back / fresh
    );
    engine.close();
}
