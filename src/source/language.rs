//! Which language is a file written in?
//!
//! In: a relative path and the text, or its first line. Out: a [`Language`]. Pure. Whatever is not told by name,
//! extension or first line is [`Language::PLAIN`].

use std::borrow::Cow;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::language_table::ROWS;

/// A language, as an index into the table of languages. Equal languages are equal numbers within one build;
/// what is stored is the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(u8);

/// What a language is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LanguageClass {
    /// Programs, queries, style sheets, templates.
    Code,
    /// Text for people: documentation and plain text.
    Prose,
    /// Records for programs: JSON, CSV, XML.
    Data,
    /// Settings of programs and builds.
    Config,
}

/// How much of a text is looked at to tell languages apart that share an extension.
const SIGN_BYTES: usize = 32 * 1024;

const ALL: [Language; ROWS.len()] = {
    assert!(ROWS.len() <= 256);
    let mut all = [Language(0); ROWS.len()];
    let mut at = 0;
    while at < all.len() {
        #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
        let number = at as u8;
        all[at] = Language(number);
        at += 1;
    }
    all
};

type Names = HashMap<&'static str, Language, foldhash::fast::RandomState>;

fn names_of(of_row: impl Fn(Language) -> Vec<&'static str>) -> Names {
    let mut names = Names::default();
    for language in ALL {
        for name in of_row(language) {
            names.entry(name).or_insert(language);
        }
    }
    names
}

static BY_FILE_NAME: LazyLock<Names> = LazyLock::new(|| names_of(|l| l.row().file_names.to_vec()));
static BY_EXTENSION: LazyLock<Names> = LazyLock::new(|| names_of(|l| l.row().extensions.to_vec()));
static BY_INTERPRETER: LazyLock<Names> =
    LazyLock::new(|| names_of(|l| l.row().interpreters.to_vec()));
static BY_NAME: LazyLock<Names> = LazyLock::new(|| {
    let mut names = names_of(|l| vec![l.name()]);
    for (name, language) in names_of(|l| l.row().aliases.to_vec()) {
        names.entry(name).or_insert(language);
    }
    for (name, language) in BY_EXTENSION.iter() {
        names.entry(name).or_insert(*language);
    }
    names
});

impl Language {
    /// Text of no known language.
    pub const PLAIN: Self = Self(0);

    /// Every language, in the order of their numbers.
    pub const ALL: &'static [Self] = &ALL;

    fn row(self) -> &'static super::language_table::Row {
        &ROWS[usize::from(self.0)]
    }

    /// Lower-case name, as VS Code spells language ids where it has one (`typescriptreact`, `csharp`, `shellscript`).
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What the language is for.
    #[must_use]
    pub fn class(self) -> LanguageClass {
        self.row().class
    }

    /// Whether the language is text for people.
    #[must_use]
    pub fn is_prose(self) -> bool {
        self.class() == LanguageClass::Prose
    }

    /// Whether the language holds records for programs.
    #[must_use]
    pub fn is_data(self) -> bool {
        self.class() == LanguageClass::Data
    }

    /// The language of that name (any case; common aliases such as `ts`, `c#`, `bash`, `tsx` are understood).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        BY_NAME.get(&*lower_case(name.trim())).copied()
    }

    /// By file name, then extension, then the first line (`#!`, `<?php`, `<?xml`).
    #[must_use]
    pub fn detect(relative_path: &str, first_line: &str) -> Self {
        let file_name = relative_path.rsplit('/').next().unwrap_or(relative_path);
        let lower = lower_case(file_name);
        let by_path = by_file_name(&lower).or_else(|| by_extension(file_name, &lower));
        match by_path {
            // Translations of Qt share the extension of TypeScript.
            Some(language) if language.name() == "typescript" && is_xml(first_line) => named("xml"),
            Some(language) if language != Self::PLAIN => language,
            Some(_) | None => by_first_line(first_line).or(by_path).unwrap_or(Self::PLAIN),
        }
    }

    /// As [`Language::detect`], and languages that share an extension (`.h`, `.m`, `.pl`) are told apart by signs in the
    /// text.
    #[must_use]
    pub fn detect_with_text(relative_path: &str, text: &str) -> Self {
        let language = Self::detect(relative_path, first_line(text));
        let extension = relative_path.rsplit('.').next().unwrap_or_default();
        let head = super::head(text, SIGN_BYTES);
        let mut lines = head.lines().map(str::trim_start);
        match (language.name(), extension) {
            ("c", "h" | "H") => header_language(lines),
            ("objective-c", "m") if lines.any(is_matlab_line) => named("matlab"),
            ("perl", "pl") if lines.any(is_prolog_line) => named("prolog"),
            _ => language,
        }
    }
}

fn named(name: &'static str) -> Language {
    BY_NAME.get(name).copied().unwrap_or(Language::PLAIN)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn by_file_name(lower: &str) -> Option<Language> {
    let found = BY_FILE_NAME.get(lower).copied();
    found.or_else(|| {
        // Dockerfile.dev, Makefile.linux, Jenkinsfile.release; but main.go is not a file named "main".
        let (stem, _) = lower.split_once('.')?;
        let is_family = matches!(stem, "dockerfile" | "containerfile" | "makefile" | "jenkinsfile");
        is_family.then(|| BY_FILE_NAME.get(stem).copied()).flatten()
    })
}

fn by_extension(file_name: &str, lower: &str) -> Option<Language> {
    // In capitals these are C++ by convention.
    if let Some((_, "C" | "H")) = file_name.rsplit_once('.') {
        return Some(named("cpp"));
    }
    let mut rest = lower;
    while let Some((_, extension)) = rest.split_once('.') {
        if let Some(language) = BY_EXTENSION.get(extension) {
            return Some(*language);
        }
        rest = extension;
    }
    None
}

fn by_first_line(line: &str) -> Option<Language> {
    if let Some(command) = line.strip_prefix("#!") {
        return interpreter(command);
    }
    let lower = line.trim_start().to_ascii_lowercase();
    [("<?php", "php"), ("<?xml", "xml"), ("<!doctype html", "html"), ("<html", "html")]
        .iter()
        .find(|(start, _)| lower.starts_with(start))
        .map(|(_, name)| named(name))
}

/// `#!/usr/bin/env -S python3.12 -u` names python.
fn interpreter(command: &str) -> Option<Language> {
    let mut words = command.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut program = words.next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let lower = program.to_ascii_lowercase();
    let unversioned =
        lower.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    BY_INTERPRETER.get(&*lower).or_else(|| BY_INTERPRETER.get(unversioned)).copied()
}

fn is_xml(first_line: &str) -> bool {
    let start = first_line.trim_start();
    ["<?xml", "<!DOCTYPE TS", "<TS "].iter().any(|sign| start.starts_with(sign))
}

/// C unless the text shows otherwise. `extern "C"` under `#ifdef __cplusplus` is C's own way of being usable from C++.
fn header_language<'a>(lines: impl Iterator<Item = &'a str>) -> Language {
    const OBJECTIVE_C: &[&str] =
        &["@interface", "@protocol", "@property", "@class ", "#import ", "@import "];
    const CPP: &[&str] = &[
        "namespace ",
        "class ",
        "template <",
        "template<",
        "public:",
        "private:",
        "protected:",
        "using ",
        "constexpr ",
        "virtual ",
        "enum class ",
        "inline namespace ",
    ];
    const CPP_INCLUDES: &[&str] = &[
        "<string>",
        "<vector>",
        "<memory>",
        "<map>",
        "<iostream>",
        "<cstdint>",
        "<cstddef>",
        "<utility>",
        "<optional>",
        "<functional>",
        "<algorithm>",
        "<type_traits>",
        "<string_view>",
        "<unordered_map>",
        "<cstring>",
    ];
    for line in lines {
        let starts_with = |signs: &[&str]| signs.iter().any(|sign| line.starts_with(sign));
        if starts_with(OBJECTIVE_C) {
            return named("objective-c");
        }
        let includes_cpp = line.starts_with("#include")
            && CPP_INCLUDES.iter().any(|include| line.ends_with(include));
        if starts_with(CPP) || includes_cpp || line.contains("std::") {
            return named("cpp");
        }
    }
    named("c")
}

fn is_matlab_line(line: &str) -> bool {
    line.starts_with('%') || line.starts_with("function ") || line.starts_with("classdef ")
}

fn is_prolog_line(line: &str) -> bool {
    line.starts_with(":- ") || line.ends_with(":-")
}

fn lower_case(name: &str) -> Cow<'_, str> {
    if name.chars().any(char::is_uppercase) {
        Cow::Owned(name.to_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &str) {
        assert_eq!(Language::detect_with_text(path, text).name(), expected, "{path}: {text}");
    }

    #[test]
    fn by_extension_and_name() {
        for (path, expected) in [
            ("src/a.rs", "rust"),
            ("a.TS", "typescript"),
            ("a.d.ts", "typescript"),
            ("a.tsx", "typescriptreact"),
            ("a.jsx", "javascriptreact"),
            ("Main.cs", "csharp"),
            ("a.sh", "shellscript"),
            ("x/Dockerfile", "dockerfile"),
            ("x/Dockerfile.dev", "dockerfile"),
            ("prod.dockerfile", "dockerfile"),
            ("Makefile", "makefile"),
            ("GNUmakefile", "makefile"),
            ("CMakeLists.txt", "cmake"),
            ("notes.txt", "plaintext"),
            ("Jenkinsfile", "groovy"),
            (".bashrc", "shellscript"),
            ("pkg/BUILD", "bazel"),
            ("WORKSPACE", "bazel"),
            ("Gemfile", "ruby"),
            ("go.mod", "go.mod"),
            ("tsconfig.json", "jsonc"),
            ("package.json", "json"),
            ("a.ipynb", "jupyter"),
            (".gitignore", "ignore"),
            (".env.example", "dotenv"),
            ("README", "plaintext"),
            ("a.unknown", "plaintext"),
            ("main", "plaintext"),
            ("a.C", "cpp"),
            ("index.html.erb", "erb"),
            ("a.blade.php", "php"),
            ("queries/a.sql", "sql"),
        ] {
            check(path, "", expected);
        }
    }

    #[test]
    fn by_first_line() {
        for (line, expected) in [
            ("#!/bin/sh", "shellscript"),
            ("#!/usr/bin/env python3.12", "python"),
            ("#!/usr/bin/env -S FOO=1 node --flag", "javascript"),
            ("#! /usr/bin/perl -w", "perl"),
            ("<?php", "php"),
            ("<?xml version=\"1.0\"?>", "xml"),
            ("<!DOCTYPE html>", "html"),
            ("#!", "plaintext"),
            ("# text", "plaintext"),
        ] {
            check("bin/tool", line, expected);
        }
        check("tool.py", "#!/bin/sh", "python");
    }

    #[test]
    fn shared_extensions() {
        check("app_de.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n", "xml");
        check("app_de.ts", "<!DOCTYPE TS>\n", "xml");
        check("a.h", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n", "c");
        check("a.h", "#pragma once\n#include <vector>\n", "cpp");
        check("a.h", "namespace a {\nclass B {\n};\n}\n", "cpp");
        check("a.h", "#import <UIKit/UIKit.h>\n@interface A\n", "objective-c");
        check("a.m", "#import \"A.h\"\n", "objective-c");
        check("a.m", "% adds\nfunction x = f(y)\n", "matlab");
        check("a.pl", "use strict;\n", "perl");
        check("a.pl", ":- module(a, []).\n", "prolog");
    }

    #[test]
    fn names_and_aliases() {
        for (name, expected) in [
            ("ts", "typescript"),
            ("TSX", "typescriptreact"),
            ("c#", "csharp"),
            ("C++", "cpp"),
            ("bash", "shellscript"),
            ("shell", "shellscript"),
            ("golang", "go"),
            ("py", "python"),
            ("md", "markdown"),
            ("yml", "yaml"),
            ("hcl", "terraform"),
            ("objc", "objective-c"),
            ("proto", "proto3"),
            ("v", "v"),
        ] {
            assert_eq!(Language::from_name(name).map(Language::name), Some(expected), "{name}");
        }
        assert_eq!(Language::from_name("klingon"), None);
    }

    #[test]
    fn the_table_is_sound() {
        assert!(Language::ALL.len() >= 70);
        for (nth, &language) in Language::ALL.iter().enumerate() {
            let row = language.row();
            assert_eq!(usize::from(language.0), nth);
            assert_eq!(Language::from_name(row.name), Some(language));
            let all = [row.extensions, row.file_names, row.interpreters, row.aliases].concat();
            assert!(all.iter().all(|name| *name == name.to_lowercase()), "{}", row.name);
            for alias in row.aliases {
                assert_eq!(Language::from_name(alias), Some(language), "{alias}");
            }
            for extension in row.extensions {
                assert_eq!(BY_EXTENSION[extension], language, "{extension} is in two rows");
            }
            for file_name in row.file_names {
                assert_eq!(BY_FILE_NAME[file_name], language, "{file_name} is in two rows");
            }
        }
        assert_eq!(Language::PLAIN.name(), "plaintext");
    }
}
