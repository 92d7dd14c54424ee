//! Which files say what a project is, whatever the question?
//!
//! In: paths. Out: positions of the few that describe the whole: shallowest first, and in one depth in this order: read-me
//! files, manifests of packages, guides for contributors, the docs' first page, descriptions of the architecture, entry
//! points of programs. They are the answer of last resort, and an addition to one about the whole. Pure; never fails.
//!
//! Source: CodeBuddy's common files, which lack all manifests but `package.json` and are searched in the top folder alone.

use crate::source::{Language, LanguageClass};

/// Folders that only hold what belongs to the folder above them.
const TRANSPARENT: &[&str] = &["src", "docs", "doc", "documentation", ".github"];
/// Below more folders than this nothing describes the whole.
const MAX_DEPTH: usize = 3;
/// Code this deep belongs to a part; a `main` there starts no program that a stranger asks about.
const MAX_ENTRY_DEPTH: usize = 2;
/// Folders whose files describe something else.
const FOREIGN: &[&str] = &[
    "test",
    "tests",
    "__tests__",
    "fixtures",
    "testdata",
    "examples",
    "example",
    "samples",
    "vendor",
    "third_party",
    "node_modules",
    "templates",
];
const MANIFESTS: &[&str] = &[
    "package.json",
    "cargo.toml",
    "pyproject.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "gemfile",
    "mix.exs",
    "package.swift",
    "pubspec.yaml",
    "setup.py",
    "cmakelists.txt",
    "deno.json",
];
/// Names of files where a program or a library begins, without their extensions.
const ENTRIES: &[&str] = &["main", "index", "app", "lib", "mod", "__main__", "program", "server"];
/// Languages that no program begins in.
const STYLES: &[&str] = &["css", "less", "sass", "scss", "stylus"];

/// What a common file is, in the order of its worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Readme,
    Manifest,
    Contributing,
    DocsPage,
    Architecture,
    Entry,
}

/// Positions of at most `max` common files in `paths` (relative, `/` between parts; any order), best first. The answer
/// does not depend on the order of the paths. A folder gives one read-me at most, that of the shortest name: the others
/// are translations of it.
#[must_use]
pub fn common_files<P: AsRef<str>>(paths: &[P], max: usize) -> Vec<usize> {
    let mut found: Vec<(usize, Kind, usize, &str, usize)> = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let path = path.as_ref();
        if let Some((depth, kind)) = judge(path) {
            found.push((depth, kind, path.len(), path, at));
        }
    }
    found.sort_unstable();
    let mut with_readme: Vec<&str> = Vec::new();
    let mut best = Vec::with_capacity(max.min(found.len()));
    for (_, kind, _, path, at) in found {
        if best.len() == max {
            break;
        }
        if kind == Kind::Readme {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if with_readme.contains(&folder) {
                continue;
            }
            with_readme.push(folder);
        }
        best.push(at);
    }
    best
}

/// The depth, without folders that do not count, and the kind.
fn judge(path: &str) -> Option<(usize, Kind)> {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let folders: Vec<&str> = folders.split('/').filter(|folder| !folder.is_empty()).collect();
    if folders.iter().any(|folder| FOREIGN.contains(folder)) {
        return None;
    }
    let depth = folders.iter().filter(|folder| !TRANSPARENT.contains(folder)).count();
    let in_docs = folders.last().is_some_and(|folder| folder.starts_with("doc"));
    let kind = kind(name, in_docs, path)?;
    let max_depth = if kind == Kind::Entry { MAX_ENTRY_DEPTH } else { MAX_DEPTH };
    (depth <= max_depth).then_some((depth, kind))
}

/// `name` in lower case.
fn kind(name: &str, in_docs: bool, path: &str) -> Option<Kind> {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let is_prose = || Language::detect(path, "").class() == LanguageClass::Prose;
    let begins = |word: &str| {
        stem.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
    };
    if begins("readme") && is_prose() {
        Some(if in_docs { Kind::DocsPage } else { Kind::Readme })
    } else if MANIFESTS.contains(&name) {
        Some(Kind::Manifest)
    } else if begins("contributing") && is_prose() {
        Some(Kind::Contributing)
    } else if in_docs && stem == "index" && is_prose() {
        Some(Kind::DocsPage)
    } else if begins("architecture") && is_prose() {
        Some(Kind::Architecture)
    } else if ENTRIES.contains(&stem) && !extension.contains('.') {
        let language = Language::detect(path, "");
        let begins_program =
            language.class() == LanguageClass::Code && !STYLES.contains(&language.name());
        begins_program.then_some(Kind::Entry)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    #[track_caller]
    fn check(paths: &[&str], max: usize, expect: &[&str]) {
        let names = |paths: &[&str]| -> Vec<String> {
            common_files(paths, max).into_iter().map(|at| paths[at].to_owned()).collect()
        };
        assert_eq!(names(paths), expect);
        let mut turned = paths.to_vec();
        turned.sort_by_key(|path| Reverse(*path));
        assert_eq!(names(&turned), expect, "the order of the paths does not matter");
    }

    #[test]
    fn what_describes_the_whole_comes_in_its_order() {
        check(
            &[
                "src/main.rs",
                "docs/architecture.md",
                "ARCHITECTURE.md",
                "docs/README.md",
                "CONTRIBUTING.md",
                "Cargo.toml",
                "README.zh.md",
                "README.md",
                "README",
                "src/parse.rs",
                "crates/x/Cargo.toml",
                "crates/x/README.md",
                "crates/x/src/lib.rs",
            ],
            20,
            &[
                "README",
                "Cargo.toml",
                "CONTRIBUTING.md",
                "docs/README.md",
                "ARCHITECTURE.md",
                "docs/architecture.md",
                "src/main.rs",
                "crates/x/README.md",
                "crates/x/Cargo.toml",
                "crates/x/src/lib.rs",
            ],
        );
    }

    #[test]
    fn only_the_first_are_taken() {
        let paths = ["app/readme.rst", "readme.md", "package.json", "go.mod"];
        check(&paths, 2, &["readme.md", "go.mod"]);
        check(&paths, 0, &[]);
    }

    #[test]
    fn what_only_looks_like_one_is_left_out() {
        for path in [
            "index.css",
            "app.json",
            "index.d.ts",
            "main.test.ts",
            "readme.py",
            "readmes.md",
            "tests/main.rs",
            "examples/demo/README.md",
            "a/b/c/d/README.md",
            "a/b/c/main.go",
            "architecture.rs",
            "mainframe.c",
            "",
        ] {
            check(&[path], 9, &[]);
        }
        for path in ["index.html", "App.tsx", "cmd/main.go", "README.adoc", "a/__main__.py"] {
            check(&[path], 9, &[path]);
        }
    }
}
