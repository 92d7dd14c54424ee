//! One saved file, on a watched workspace.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use sextant::config::Config;
use sextant::engine::{Engine, Strategy, WatchEvent, WatchOptions};
use sextant::task::{CancelToken, NoProgress};
use sextant_benches::workspace::{open_only, request};

use crate::{files, milliseconds, spread};

const DEBOUNCE: Duration = Duration::from_millis(200);
const ROUNDS: usize = 40;

pub fn measure(root: &Path, storage: &Path) {
    let engine = Arc::new(open_only(root, storage, Config::standard()));
    let (sender, synced) = channel();
    let sender = std::sync::Mutex::new(sender);
    let sink = move |event: WatchEvent| {
        if let (WatchEvent::Synced(_), Ok(sender)) = (event, sender.lock()) {
            // Whoever waits may have gone.
            let _ = sender.send(());
        }
    };
    engine.watch(WatchOptions { debounce: Some(DEBOUNCE) }, Arc::new(sink)).expect("a watch");
    synced.recv().expect("the first run");
    let files: Vec<_> = files(root).into_iter().filter(|file| is_source(&file.path)).collect();
    let every = files.len() / ROUNDS;
    let path_of = |round: usize| root.join(&files[round * every].path);

    let mut by_itself = Vec::new();
    let mut at_once = Vec::new();
    let mut unchanged = Vec::new();
    for round in 0..ROUNDS {
        let word = word("fresh", round);
        append(&path_of(round), storage, &word);
        let started = Instant::now();
        synced.recv().expect("a run");
        by_itself.push(milliseconds(started) - DEBOUNCE.as_secs_f64() * 1000.0);
        assert!(finds(&engine, &word, false), "{word}");
    }
    for round in 0..ROUNDS {
        let word = word("prompt", round);
        append(&path_of(round), storage, &word);
        let started = Instant::now();
        assert!(finds(&engine, &word, true), "{word}");
        at_once.push(milliseconds(started));
        let started = Instant::now();
        finds(&engine, &word, true);
        unchanged.push(milliseconds(started));
    }
    println!("one saved source file, p50 / p95:");
    println!("  indexed by the watch, less the debounce: {}", spread(by_itself));
    println!("  saved to answer, when a search asks at once: {}", spread(at_once));
    println!("  a search with nothing changed: {}", spread(unchanged));
    engine.close();
}

/// A word of letters alone, so that it is one term, and that no file has.
fn word(stem: &str, round: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
    format!("zq{stem}{}{}xv", letter(round / 26), letter(round))
}

/// Whether it is what people edit, and no test: those stand lower among the hits.
fn is_source(path: &str) -> bool {
    !path.to_lowercase().contains("test")
        && [".rs", ".go", ".java", ".rb", ".ts"].iter().any(|ending| path.ends_with(ending))
}

/// Saves as editors do: the new file is put in the place of the old one.
fn append(path: &Path, storage: &Path, word: &str) {
    let text = String::from_utf8_lossy(&fs::read(path).expect("it can be read")).into_owned();
    let beside = storage.with_extension("saved");
    fs::write(&beside, format!("{text}\n{word}\n")).expect("it can be written");
    fs::rename(beside, path).expect("it can be moved");
}

fn finds(engine: &Engine, word: &str, sync: bool) -> bool {
    let request = request(word, 100, Strategy::Auto);
    let cancel = CancelToken::new();
    let response = if sync {
        engine.sync_and_search(&cancel, &NoProgress, &request)
    } else {
        engine.search(&cancel, &request)
    };
    response.expect("an answer").hits.iter().any(|hit| hit.text.contains(word))
}
