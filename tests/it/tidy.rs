//! Rules about the sources themselves.

use std::fs;
use std::path::{Path, PathBuf};

use sextant::error::ALL_CODES;

/// Longest file, in lines before its tests.
const MAX_LINES: usize = 600;
/// Tables may be longer.
const TABLES: &[&str] = &["languages.rs", "language_table.rs", "exclusion_tables.rs"];

/// The rooms that touch the disk, the file that reads the certificates of a company, and the two files beside them that
/// ask it about a path: the facade for the real path of a root and of a file whose chunks are asked for, the index for
/// whether a root is still the folder that it was.
const ON_DISK: &[&str] = &[
    "src/walk/",
    "src/source/",
    "src/store/",
    "src/watch/",
    "src/engine/storage.rs",
    "src/http/authorities.rs",
];
const ASK_DISK: &[&str] = &["src/engine/mod.rs", "src/index/sync.rs", "src/index/walked.rs"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files with this ending below `folder`, relative to the project.
fn files_below(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<String> {
    let folders = ["src", "tests", "benches/src"];
    let mut all: Vec<String> = folders.iter().flat_map(|f| files_below(f, ".rs")).collect();
    all.push("build.rs".into());
    all
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// A source up to its tests.
fn before_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {").map_or(text, |at| &text[..at])
}

fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[track_caller]
fn check_none(rule: &str, offenders: &[String]) {
    assert!(offenders.is_empty(), "{rule}:\n{}", offenders.join("\n"));
}

fn offending(paths: Vec<String>, offends: impl Fn(&str, &str) -> bool) -> Vec<String> {
    paths.into_iter().filter(|path| offends(path, &read(path))).collect()
}

#[test]
fn every_source_says_what_it_is_about() {
    let offenders = offending(sources(), |_, text| !text.starts_with("//!"));
    check_none("starts with //!", &offenders);
}

#[test]
fn no_source_is_long() {
    let offenders = offending(sources(), |path, text| {
        let name = path.rsplit('/').next().unwrap_or(path);
        !TABLES.contains(&name) && before_tests(text).lines().count() > MAX_LINES
    });
    check_none("at most 600 lines before the tests", &offenders);
}

#[test]
fn only_the_binding_knows_node() {
    let mut paths = sources();
    paths.extend(["Cargo.toml".to_owned(), "benches/Cargo.toml".to_owned()]);
    let offenders = offending(paths, |path, text| {
        let may = path.starts_with("src/binding/")
            || ["build.rs", "Cargo.toml", "tests/it/tidy.rs"].contains(&path);
        !may && text.contains("napi")
    });
    check_none("napi only in src/binding, build.rs and Cargo.toml", &offenders);
}

#[test]
fn only_some_rooms_touch_the_disk() {
    let touches = |line: &str| {
        let line = line.split("//").next().unwrap_or_default();
        [
            "std::fs",
            "fs::",
            "File::open",
            "OpenOptions",
            ".canonicalize()",
            "metadata()",
            ".is_dir()",
            ".is_file()",
            ".exists()",
            ".read_dir(",
        ]
        .iter()
        .any(|call| line.contains(call))
    };
    let offenders = offending(files_below("src", ".rs"), |path, text| {
        let may = is_test(path)
            || ON_DISK.iter().any(|start| path.starts_with(start))
            || ASK_DISK.contains(&path);
        !may && before_tests(text).lines().any(touches)
    });
    // A build option of the facade has the name of one of the standard library.
    let offenders: Vec<String> = offenders
        .into_iter()
        .filter(|path| {
            let text = read(path).replace("engine::{", "").replace("OpenOptions", "");
            before_tests(&text).lines().any(touches)
        })
        .collect();
    check_none(
        "std::fs only in walk, source, store, watch, engine/storage and http/authorities",
        &offenders,
    );
    for path in ASK_DISK {
        assert!(before_tests(&read(path)).lines().any(touches), "{path} is no exception any more");
        assert!(!read(path).contains("fs::read") && !read(path).contains("fs::write"), "{path}");
    }
}

/// The codes of a table: the first cell of each row, if it is code.
fn codes_of(section: &str) -> Vec<&str> {
    section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[test]
fn every_code_is_documented() {
    let text = read("docs/errors.md");
    let (_, engine) = text.split_once("## From the engine").unwrap();
    let (engine, _) = engine.split_once("\n## ").unwrap();
    assert_eq!(codes_of(engine), ALL_CODES, "the rows of docs/errors.md and ALL_CODES");
    let all = codes_of(&text);
    let mut in_sources: Vec<String> = Vec::new();
    for path in files_below("src", ".rs").iter().filter(|path| !is_test(path)) {
        let text = read(path);
        in_sources.extend(
            before_tests(&text)
                .split("code: \"")
                .skip(1)
                .filter_map(|rest| rest.split('"').next())
                .map(str::to_owned),
        );
    }
    assert!(in_sources.len() >= 3, "{in_sources:?}");
    let missing: Vec<String> =
        in_sources.into_iter().filter(|code| !all.contains(&code.as_str())).collect();
    check_none("every code of a degradation is a row of docs/errors.md", &missing);
}
