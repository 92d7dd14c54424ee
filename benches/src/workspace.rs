//! An up-to-date index of a folder, kept between runs of the benchmarks.

use std::path::{Path, PathBuf};

use sextant::config::Config;
use sextant::engine::{Engine, OpenOptions, Parts, SearchRequest, Strategy};
use sextant::task::{CancelToken, NoProgress};

/// Opens `root` with its index below `storage` and brings it up to date.
#[must_use]
pub fn open(root: &Path, storage: &Path, config: Config) -> Engine {
    let engine = open_only(root, storage, config);
    engine
        .sync(&CancelToken::new(), &NoProgress)
        .unwrap_or_else(|error| panic!("cannot index {}: {error}", root.display()));
    engine
}

/// Opens without bringing up to date.
#[must_use]
pub fn open_only(root: &Path, storage: &Path, config: Config) -> Engine {
    let options = OpenOptions {
        roots: vec![root.to_path_buf()],
        storage: Some(storage.to_path_buf()),
        // Beside the index, so that the first run of a measurement finds nothing.
        cache: Some(storage.join("cache")),
        config,
        parts: Parts::default(),
    };
    Engine::open(options).unwrap_or_else(|error| panic!("cannot open {}: {error}", root.display()))
}

/// A question for `limit` hits.
#[must_use]
pub fn request(query: &str, limit: usize, strategy: Strategy) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        keywords: Vec::new(),
        limit: Some(limit),
        token_budget: None,
        strategy,
        paths: Vec::new(),
        languages: Vec::new(),
        kinds: Vec::new(),
        explain: false,
        rewrite: true,
        history: Vec::new(),
        attached: Vec::new(),
    }
}

/// Where the benchmarks keep their indexes.
#[must_use]
pub fn storage(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/benches").join(name.replace('/', "+"))
}
