//! What is being asked for?
//!
//! In: the asker's words, and keywords if the caller has any. Out: a [`Query`]: the terms to look up, the names that look
//! like identifiers, and what kind of files the asker means. [`filter`] holds the filters on path, language and kind,
//! [`rewrite`] asks a language model for better words, where there is one.
//! Pure. Anything is a valid query except nothing; a query of only punctuation has no terms.

pub mod filter;
pub mod rewrite;
mod stop_words;

use crate::term::{TermSplitter, fold_identifier, runs};

/// A longer query is cut here; what a person asks is far shorter, and time stays bounded.
pub const MAX_QUERY_BYTES: usize = 8 * 1024;
/// More terms than this add time, not sense. The rarest would be the best to keep, but the first name the matter.
const MAX_TERMS: usize = 64;
/// What a variation of a keyword counts for beside the keyword: nobody wrote it. Unmeasured.
const VARIATION_WEIGHT: f32 = 0.5;

/// A question, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The words as asked, cut to [`MAX_QUERY_BYTES`].
    pub text: String,
    /// Distinct terms in order of appearance, without stop words.
    pub terms: Vec<QueryTerm>,
    /// Names that look like identifiers (`parseUrl`, `HTTP_PORT`, the last part of `std::vec`), or the only word.
    pub identifiers: Vec<Identifier>,
    /// Whether the query is a name rather than a question: no white space between its parts.
    pub is_symbol: bool,
    /// Kinds of files that the words ask for.
    pub intent: Intent,
    /// Whether words beyond a limit were left out.
    pub is_cut: bool,
}

/// A term and how much it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// As in the index.
    pub term: String,
    /// 1 for a word of the question or a keyword, less for a variation of a keyword.
    pub weight: f32,
    /// Whether it is the whole of a compound identifier whose parts are terms too.
    pub is_compound: bool,
}

/// A name that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Identifier {
    /// As written, without what qualifies it.
    pub name: String,
    /// Without letter case, accents and separators.
    pub folded: String,
}

/// Files that are ranked lower, unless the words ask for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Intent {
    /// Tests and fixtures.
    pub tests: bool,
    /// Examples, demos, samples.
    pub examples: bool,
    /// Prose: manuals, change logs.
    pub docs: bool,
    /// Configuration and data.
    pub config: bool,
    /// Type declarations.
    pub types: bool,
    /// Benchmarks.
    pub benchmarks: bool,
}

/// A word to look for, and other forms of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyword {
    /// A word, a name, or a few words.
    pub word: String,
    /// Other forms or synonyms.
    pub variations: Vec<String>,
}

/// Understands `text`. `keywords` count like words of the question that it does not have.
#[must_use]
pub fn parse(text: &str, keywords: &[String]) -> Query {
    let words: Vec<&str> = keywords.iter().map(String::as_str).collect();
    parse_words(text, &words, &[])
}

/// As [`parse`], with keywords that have variations. All keywords come before the first variation. A variation counts for
/// less, and it is no name that is asked for.
#[must_use]
pub fn parse_keywords(text: &str, keywords: &[Keyword]) -> Query {
    let words: Vec<&str> = keywords.iter().map(|keyword| keyword.word.as_str()).collect();
    let variations = keywords.iter().flat_map(|keyword| &keyword.variations);
    parse_words(text, &words, &variations.map(String::as_str).collect::<Vec<_>>())
}

fn parse_words(text: &str, keywords: &[&str], variations: &[&str]) -> Query {
    let is_cut = text.trim().len() > MAX_QUERY_BYTES;
    let text = cut(text.trim_start(), MAX_QUERY_BYTES).trim().to_owned();
    let is_symbol = !text.contains(char::is_whitespace);
    let mut query = Query {
        terms: Vec::new(),
        identifiers: Vec::new(),
        is_symbol,
        intent: intent(&text),
        is_cut,
        text: String::new(),
    };
    let mut splitter = TermSplitter::new();
    query.add_identifiers(&text);
    query.add_terms(&text, &mut splitter, true, 1.0);
    if query.terms.is_empty() {
        query.add_terms(&text, &mut splitter, false, 1.0);
    }
    let mut bytes_left = MAX_QUERY_BYTES;
    for keyword in keywords {
        let part = cut(keyword, bytes_left);
        query.is_cut |= part.len() < keyword.len();
        bytes_left -= part.len();
        query.add_identifiers(part);
        query.add_terms(part, &mut splitter, true, 1.0);
    }
    for variation in variations {
        let part = cut(variation, bytes_left);
        query.is_cut |= part.len() < variation.len();
        bytes_left -= part.len();
        query.add_terms(part, &mut splitter, true, VARIATION_WEIGHT);
    }
    query.text = text;
    query
}

impl Query {
    fn add_identifiers(&mut self, text: &str) {
        for word in text.split_whitespace() {
            self.add_identifier(word);
        }
    }

    fn add_terms(
        &mut self,
        text: &str,
        splitter: &mut TermSplitter,
        drop_stop_words: bool,
        weight: f32,
    ) {
        let is_symbol = self.is_symbol;
        runs(text, |_, run| {
            if drop_stop_words && !is_symbol && stop_words::is_stop_word(run) {
                return;
            }
            let mut found: Vec<String> = Vec::new();
            if is_symbol {
                splitter.split_name(run, |term| found.push(term.to_owned()));
            } else {
                splitter.split(run, |term| found.push(term.to_owned()));
            }
            let n = found.len();
            for (at, term) in found.into_iter().enumerate() {
                let is_compound = n > 1 && at == n - 1 && term.is_ascii();
                if self.terms.iter().any(|known| known.term == term) {
                    continue;
                }
                if self.terms.len() == MAX_TERMS {
                    self.is_cut = true;
                } else {
                    self.terms.push(QueryTerm { term, weight, is_compound });
                }
            }
        });
    }

    /// Takes the last part of a qualified name, any word that nobody writes in prose, and the only word.
    fn add_identifier(&mut self, word: &str) {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let word = word.trim_matches(|c: char| !is_name(c));
        let parts: Vec<&str> =
            word.split(|c: char| !is_name(c)).filter(|p| !p.is_empty()).collect();
        let joints = word.matches("::").count()
            + word.matches('.').count()
            + word.matches("->").count()
            + word.matches('#').count();
        let is_qualified = parts.len() > 1 && joints + 1 >= parts.len();
        let Some(&last) = parts.last() else { return };
        if !(self.is_symbol || is_qualified || (parts.len() == 1 && looks_like_identifier(last))) {
            return;
        }
        let folded = fold_identifier(last);
        let has_room = self.identifiers.len() < MAX_TERMS;
        if has_room
            && !folded.is_empty()
            && !self.identifiers.iter().any(|known| known.name == last)
        {
            self.identifiers.push(Identifier { name: last.to_owned(), folded });
        }
    }

    /// Whether the index has nothing to look up by, neither term nor vector.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text.is_empty()
    }
}

fn cut(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Inner capitals, underscores, `$` or digits within letters: nobody writes prose so.
fn looks_like_identifier(run: &str) -> bool {
    let trimmed = run.trim_matches('_');
    let has_separator = trimmed.contains('_') || run.contains('$') || run.len() > trimmed.len();
    let mut chars = trimmed.chars();
    let first_is_letter = chars.next().is_some_and(char::is_alphabetic);
    let rest: Vec<char> = chars.collect();
    let has_inner_capital =
        rest.iter().any(|c| c.is_uppercase()) && trimmed.chars().any(char::is_lowercase);
    let has_digit = first_is_letter && rest.iter().any(|c| c.is_numeric());
    (has_separator && trimmed.len() > 1) || has_inner_capital || has_digit
}

fn intent(text: &str) -> Intent {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| {
        lower.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
    };
    Intent {
        tests: has(&[
            "test", "tests", "tested", "testing", "spec", "specs", "fixture", "fixtures", "mock",
            "mocks",
        ]),
        examples: has(&["example", "examples", "demo", "demos", "sample", "samples", "tutorial"]),
        docs: has(&[
            "doc",
            "docs",
            "documentation",
            "readme",
            "changelog",
            "guide",
            "manual",
            "documented",
        ]),
        config: has(&[
            "config",
            "configuration",
            "configured",
            "setting",
            "settings",
            "ci",
            "workflow",
            "pipeline",
            "yaml",
            "json",
            "toml",
            "package",
            "dependencies",
            "dependency",
            "docker",
            "dockerfile",
            "makefile",
        ]),
        types: has(&[
            "type",
            "types",
            "typing",
            "typings",
            "interface",
            "declaration",
            "declarations",
        ]),
        benchmarks: has(&["benchmark", "benchmarks", "bench", "perf"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, terms: &[&str], identifiers: &[&str]) {
        let query = parse(text, &[]);
        let found: Vec<&str> = query.terms.iter().map(|t| t.term.as_str()).collect();
        assert_eq!(found, terms, "{text:?}");
        let names: Vec<&str> = query.identifiers.iter().map(|i| i.folded.as_str()).collect();
        assert_eq!(names, identifiers, "{text:?}");
    }

    #[test]
    fn questions_lose_their_stop_words_and_names_are_seen() {
        check("where do we check that a token has expired?", &["check", "token", "expir"], &[]);
        check("what does parseUrl do", &["pars", "url", "parseurl"], &["parseurl"]);
        check("Session", &["session"], &["session"]);
        check("std::vec<int>", &["std", "vec", "int"], &["int"]);
        check("how is std.fs.cwd opened", &["std", "fs", "cwd", "open"], &["cwd"]);
        check("Rack::Response", &["rack", "respons"], &["response"]);
        check("client/server and-so-on", &["client", "server"], &[]);
        check("g", &["g"], &["g"]);
        check("where is it", &["where", "is", "it"], &[]);
        check("()=> !", &[], &[]);
        check("", &[], &[]);
    }

    #[test]
    fn a_very_long_query_is_cut() {
        let query = parse(&"größe word ".repeat(100_000), &[]);
        assert!(query.text.len() <= MAX_QUERY_BYTES);
        assert!(query.terms.len() <= 3, "the last word may be cut");
    }

    #[test]
    fn keywords_add_terms() {
        let query = parse("log in", &["authenticate".into()]);
        assert!(query.terms.iter().any(|t| t.term == "authent"));
    }

    #[test]
    fn variations_weigh_less_and_name_nothing() {
        let keyword = |word: &str, variations: &[&str]| Keyword {
            word: word.into(),
            variations: variations.iter().map(|&variation| variation.into()).collect(),
        };
        let keywords = [
            keyword("authenticate", &["signIn", "login", "logs"]),
            keyword("sessionStore", &["login", "authentication"]),
        ];
        let query = parse_keywords("who may log in", &keywords);
        let found: Vec<(&str, f32)> =
            query.terms.iter().map(|term| (term.term.as_str(), term.weight)).collect();
        let expect = [
            ("log", 1.0),
            ("authent", 1.0),
            ("session", 1.0),
            ("store", 1.0),
            ("sessionstore", 1.0),
            ("sign", 0.5),
            ("in", 0.5),
            ("signin", 0.5),
            ("login", 0.5),
        ];
        assert_eq!(found, expect);
        let names: Vec<&str> = query.identifiers.iter().map(|name| name.name.as_str()).collect();
        assert_eq!(names, ["sessionStore"]);
    }

    #[test]
    fn calls_without_variations_are_as_ever() {
        for text in ["where is it", "parseUrl", "log in", "", "std::vec<int>"] {
            assert_eq!(parse_keywords(text, &[]), parse(text, &[]), "{text:?}");
            let keyword = Keyword { word: "fooBar".into(), variations: Vec::new() };
            assert_eq!(parse_keywords(text, &[keyword]), parse(text, &["fooBar".into()]));
        }
    }

    #[test]
    fn words_show_what_files_are_meant() {
        assert!(parse("where is the parser tested", &[]).intent.tests);
        assert!(!parse("where is the latest version", &[]).intent.tests);
    }
}
