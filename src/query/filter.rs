//! Which chunks may be hits at all: filters on path, language and kind.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
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

/// Filters; an empty one lets everything pass.
#[derive(Debug)]
pub struct Filter {
    paths: Option<GlobSet>,
    languages: Vec<&'static str>,
    kinds: u16,
}

impl Filter {
    /// `paths` are globs relative to the roots; one without a wildcard names a file or a folder with all below it.
    /// `languages` and `kinds` are names.
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

    /// Whether chunks of this file may be hits.
    #[must_use]
    pub fn allows_file(&self, path: &str, language: &str) -> bool {
        let path_fits = self.paths.as_ref().is_none_or(|globs| {
            if path.is_ascii() {
                globs.is_match(path)
            } else {
                globs.is_match(path.nfc().collect::<String>())
            }
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

fn path_globs(paths: &[String]) -> Result<GlobSet, (String, String)> {
    let mut set = GlobSetBuilder::new();
    for path in paths {
        let failed = |error: globset::Error| (path.clone(), error.kind().to_string());
        let composed: String = path.nfc().collect();
        let trimmed = composed.trim();
        let relative = trimmed.strip_prefix("./").unwrap_or(trimmed);
        let leads_outside =
            relative.starts_with('/') || relative.split('/').any(|part| part == "..");
        let relative = relative.trim_end_matches('/');
        if leads_outside || composed.contains('\0') {
            // Nothing outside the roots is indexed, so nothing matches.
            continue;
        }
        let has_wildcard = relative.contains(['*', '?', '[', '{']);
        if has_wildcard {
            // Such characters stand in real names too: `app/[id]/page.tsx`.
            let literal = globset::escape(relative);
            set.add(Glob::new(&literal).map_err(failed)?);
            set.add(Glob::new(&format!("{literal}/**")).map_err(failed)?);
        }
        if relative.is_empty() || relative == "." {
            set.add(Glob::new("**").map_err(failed)?);
        } else if has_wildcard {
            let build = |glob: &str| GlobBuilder::new(glob).literal_separator(true).build();
            // A glob without a slash means a name in any folder, as in an ignore file.
            let anywhere =
                if relative.contains('/') { relative.to_owned() } else { format!("**/{relative}") };
            set.add(build(&anywhere).map_err(failed)?);
            set.add(build(&format!("{anywhere}/**")).map_err(failed)?);
        } else {
            let literal = globset::escape(relative);
            set.add(Glob::new(&literal).map_err(failed)?);
            set.add(Glob::new(&format!("{literal}/**")).map_err(failed)?);
            if !relative.contains('/') {
                set.add(Glob::new(&format!("**/{literal}")).map_err(failed)?);
                set.add(Glob::new(&format!("**/{literal}/**")).map_err(failed)?);
            }
        }
    }
    set.build().map_err(|error| (paths.join(", "), error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(glob: &str, matching: &[&str], other: &[&str]) {
        let filter = Filter::new(&[glob.to_owned()], &[], &[]).unwrap();
        for path in matching {
            assert!(filter.allows_file(path, "rust"), "{glob} should match {path}");
        }
        for path in other {
            assert!(!filter.allows_file(path, "rust"), "{glob} should not match {path}");
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
        for nothing in ["../", "/etc", "a/../..", "src/nothere"] {
            check(nothing, &[], &["a.rs", "etc/passwd"]);
        }
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
