//! Which chunks may be hits at all: filters on path, language and kind.

use std::borrow::Cow;
use std::collections::HashSet;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::chunk::ChunkKind;
use crate::source::Language;

/// A filter that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFilter {
    /// Which filter.
    pub name: &'static str,
    /// What was given.
    pub value: String,
    /// What would have been right.
    pub expected: String,
}

/// Most paths with wildcards in a filter: each is tried on each file.
const MAX_GLOBS: usize = 500;
/// Longest path with wildcards, in bytes: what it costs grows faster than its length. No system has longer paths that an
/// editor opens.
const MAX_GLOB_BYTES: usize = 8192;

/// Paths and globs of one kind. A path is looked up, however many there are; only globs are tried one by one.
#[derive(Debug, Default)]
struct Paths {
    all: bool,
    /// Files, and folders with all below them.
    exact: HashSet<String>,
    /// Names of files and folders, wherever they are.
    names: HashSet<String>,
    globs: GlobSet,
}

impl Paths {
    fn matches(&self, path: &str) -> bool {
        let ends = || path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        self.all
            || !self.exact.is_empty() && ends().any(|end| self.exact.contains(&path[..end]))
            || !self.names.is_empty() && path.split('/').any(|name| self.names.contains(name))
            || !self.globs.is_empty() && self.globs.is_match(path)
    }
}

/// Some are of paths within a root, the others of whole paths.
#[derive(Debug)]
struct PathGlobs {
    within: Paths,
    whole: Option<Paths>,
}

/// Filters; an empty one lets everything pass.
#[derive(Debug)]
pub struct Filter {
    paths: Option<PathGlobs>,
    languages: Vec<&'static str>,
    kinds: u16,
}

impl Filter {
    /// `paths` are globs, relative to the roots or absolute; one without a wildcard names a file or a folder with all
    /// below it. `languages` and `kinds` are names.
    ///
    /// # Errors
    /// [`BadFilter`] for a glob, language or kind that does not exist.
    pub fn new(
        paths: &[String],
        languages: &[String],
        kinds: &[String],
    ) -> Result<Self, BadFilter> {
        let bad = |name, value: &str, expected: String| BadFilter {
            name,
            value: format!("{value:?}"),
            expected,
        };
        let mut mask = 0u16;
        for kind in kinds {
            let known = ChunkKind::from_name(kind).ok_or_else(|| {
                bad(
                    "kind",
                    kind,
                    format!("one of {}", ChunkKind::ALL.map(ChunkKind::name).join(", ")),
                )
            })?;
            mask |= 1 << known as u16;
        }
        let languages = languages
            .iter()
            .map(|name| {
                Language::from_name(name).map(Language::name).ok_or_else(|| {
                    bad(
                        "language",
                        name,
                        "the name of a language, such as rust or typescript".into(),
                    )
                })
            })
            .collect::<Result<_, _>>()?;
        let globs = (!paths.is_empty()).then(|| path_globs(paths)).transpose().map_err(
            |(path, message)| bad("path", &path, format!("a glob such as src/** ({message})")),
        )?;
        Ok(Self { paths: globs, languages, kinds: mask })
    }

    /// Whether chunks of the file at `path` in `root` may be hits.
    #[must_use]
    pub fn allows_file(&self, root: &str, path: &str, language: &str) -> bool {
        let path_fits = self.paths.as_ref().is_none_or(|globs| {
            globs.within.matches(&composed(path))
                || globs.whole.as_ref().is_some_and(|paths| paths.matches(&whole(root, path)))
        });
        path_fits && (self.languages.is_empty() || self.languages.contains(&language))
    }

    /// Whether chunks of this kind (as a number) may be hits.
    #[must_use]
    pub fn allows_kind(&self, kind: u8) -> bool {
        self.kinds == 0 || self.kinds & (1 << kind) != 0
    }

    /// Whether chunks of some kinds may be no hits.
    #[must_use]
    pub fn has_kinds(&self) -> bool {
        self.kinds != 0
    }

    /// Whether every file and every chunk may be a hit.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.paths.is_none() && self.languages.is_empty() && self.kinds == 0
    }
}

/// Composed and decomposed spellings are one.
fn composed(path: &str) -> Cow<'_, str> {
    if path.is_ascii() { path.into() } else { path.nfc().collect::<String>().into() }
}

fn whole(root: &str, path: &str) -> String {
    let root = composed(root);
    let root = if cfg!(windows) { root.replace('\\', "/") } else { root.into_owned() };
    format!("{}/{}", root.trim_end_matches('/'), composed(path))
}

/// Whether a glob is one of whole paths.
#[must_use]
pub fn is_absolute(glob: &str) -> bool {
    let has_drive =
        matches!(glob.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    glob.starts_with('/') || cfg!(windows) && has_drive
}

fn path_globs(paths: &[String]) -> Result<PathGlobs, (String, String)> {
    let of_kind = |wanted: bool| move |path: &&String| is_absolute(path.trim()) == wanted;
    let (within, whole): (Vec<_>, Vec<_>) = (
        paths.iter().filter(of_kind(false)).collect(),
        paths.iter().filter(of_kind(true)).collect(),
    );
    let whole = (!whole.is_empty()).then(|| read(&whole)).transpose()?;
    Ok(PathGlobs { within: read(&within)?, whole })
}

fn read(paths: &[&String]) -> Result<Paths, (String, String)> {
    let mut read = Paths::default();
    let (mut globs, mut n_globs) = (GlobSetBuilder::new(), 0);
    for path in paths {
        let failed = |error: globset::Error| ((*path).clone(), error.kind().to_string());
        let composed: String = path.nfc().collect();
        let trimmed = composed.trim();
        let slashed = if cfg!(windows) { trimmed.replace('\\', "/") } else { trimmed.to_owned() };
        let relative = slashed.strip_prefix("./").unwrap_or(&slashed).trim_end_matches('/');
        if relative.split('/').any(|part| part == "..") || composed.contains('\0') {
            // Nothing outside the roots is indexed, so nothing matches.
            continue;
        }
        if relative.is_empty() || relative == "." {
            read.all = true;
            continue;
        }
        // The signs of globs stand in real names too: `app/[id]/page.tsx`.
        read.exact.insert(relative.to_owned());
        if relative.contains(['*', '?', '[', '{']) {
            if path.len() > MAX_GLOB_BYTES {
                let start: String = path.chars().take(40).collect();
                return Err((format!("{start}…"), format!("at most {MAX_GLOB_BYTES} bytes")));
            }
            n_globs += 1;
            if n_globs > MAX_GLOBS {
                let n = paths.len();
                return Err((format!("{n} paths"), format!("at most {MAX_GLOBS} with wildcards")));
            }
            let build = |glob: &str| GlobBuilder::new(glob).literal_separator(true).build();
            // A glob without a slash means a name in any folder, as in an ignore file.
            let anywhere =
                if relative.contains('/') { relative.to_owned() } else { format!("**/{relative}") };
            globs.add(build(&anywhere).map_err(failed)?);
            globs.add(build(&format!("{anywhere}/**")).map_err(failed)?);
        } else if !relative.contains('/') {
            read.names.insert(relative.to_owned());
        }
    }
    read.globs = globs
        .build()
        .map_err(|error| (format!("{} globs", paths.len()), error.kind().to_string()))?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(glob: &str, matching: &[&str], other: &[&str]) {
        let filter = Filter::new(&[glob.to_owned()], &[], &[]).unwrap();
        for path in matching {
            assert!(filter.allows_file("/home/me/app", path, "rust"), "{glob} should match {path}");
        }
        for path in other {
            assert!(
                !filter.allows_file("/home/me/app", path, "rust"),
                "{glob} should not match {path}"
            );
        }
    }

    #[test]
    fn paths_name_files_folders_and_globs() {
        for folder in ["src/app", "src/app/", "./src/app"] {
            check(
                folder,
                &["src/app/m.py", "src/app/in/m.py"],
                &["src/app_x/m.py", "x/src/app/m.py"],
            );
        }
        check("src/100%", &["src/100%/m.py"], &["src/100/m.py"]);
        check("src/a&b", &["src/a&b/m.py"], &[]);
        check("src/o'neil", &["src/o'neil/m.py"], &[]);
        check("*.rs", &["a.rs", "src/a.rs"], &["a.rsx"]);
        check("app/[id]", &["app/[id]/page.tsx", "app/i/a.ts"], &["app/x/a.ts"]);
        check("app/[id]/page.tsx", &["app/[id]/page.tsx"], &["app/[id]/other.tsx"]);
        check("src/*.rs", &["src/a.rs"], &["src/b/a.rs"]);
        check("src/**", &["src/a.rs", "src/b/a.rs"], &["a.rs"]);
        check("a.rs", &["a.rs", "src/a.rs"], &["src/aa.rs"]);
        check(".", &["a.rs"], &[]);
        for nothing in
            ["../", "/etc", "a/../..", "src/nothere", "/home/me/ap", "/home/me/app/etc/../a.rs"]
        {
            check(nothing, &[], &["a.rs", "etc/passwd"]);
        }
    }

    #[test]
    fn absolute_paths_name_the_root_too() {
        for all in ["/", "/home/me/app", "/home/me/app/", "/home", "/home/me/app/**", "/home/*/app"]
        {
            check(all, &["a.rs", "src/a.rs"], &[]);
        }
        check("/home/me/app/src", &["src/a.rs"], &["a.rs", "srcs/a.rs", "x/src/a.rs"]);
        check("/home/me/app/*.rs", &["a.rs"], &["src/a.rs"]);
        check("/home/me/app/a.rs", &["a.rs"], &["src/a.rs"]);
        check("/home/me/app/[id]", &["[id]/a.rs"], &["src/a.rs"]);
        check("/home/me/other/a.rs", &[], &["a.rs", "home/me/other/a.rs"]);
    }

    /// A filter of a person has a few; one of a program may have thousands, and any text.
    #[test]
    fn many_and_long_paths_cost_little() {
        let many: Vec<String> = (0..20_000).map(|at| format!("src/part{at}/[id]")).collect();
        let plain: Vec<String> = (0..100_000).map(|at| format!("src/part{at}.rs")).collect();
        let filter = Filter::new(&plain, &[], &[]).unwrap();
        assert!(filter.allows_file("/r", "src/part99999.rs", "rust"));
        assert!(!filter.allows_file("/r", "src/part100000.rs", "rust"));
        let error = Filter::new(&many, &[], &[]).unwrap_err();
        assert!(error.value.len() < 100, "{}", error.value);
        let filter = Filter::new(&["x".repeat(1_000_000)], &[], &[]).unwrap();
        assert!(!filter.allows_file("/r", "x", "rust"));
        let error = Filter::new(&["*".repeat(8193)], &[], &[]).unwrap_err();
        assert!(error.expected.contains("at most 8192 bytes"), "{}", error.expected);
        check("a\\b.rs", &["a\\b.rs", "src/a\\b.rs"], &["ab.rs"]);
    }

    #[test]
    fn composed_and_decomposed_spellings_are_one() {
        check("gr\u{f6}\u{df}e.py", &["gro\u{308}\u{df}e.py", "gr\u{f6}\u{df}e.py"], &[]);
        check("gro\u{308}\u{df}e.py", &["gro\u{308}\u{df}e.py", "gr\u{f6}\u{df}e.py"], &[]);
    }

    #[test]
    fn unknown_names_say_what_was_expected() {
        let error = Filter::new(&[], &[], &["methods".into()]).unwrap_err();
        assert_eq!(error.name, "kind");
        assert!(error.expected.contains("function"));
        assert_eq!(Filter::new(&["a[".into()], &[], &[]).unwrap_err().name, "path");
    }
}
