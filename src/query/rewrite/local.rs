//! Which words of a question are worth looking for, without a language model?
//!
//! In: a question. Out: its keywords: quoted texts and identifiers, whole and as written, then the other words that are no
//! stop words, with their plural or singular; both in order of appearance. No keyword is blank or has no letter or digit.
//! Pure; never fails.

use crate::query::stop_words::is_stop_word;
use crate::query::{Keyword, MAX_QUERY_BYTES, cut, looks_like_identifier};

/// More keywords than this are no choice any more; the first name the matter.
pub const MAX_LOCAL_KEYWORDS: usize = 16;
/// What is quoted is kept whole up to so many bytes; more is a text, whose words count one by one.
const MAX_EXACT_BYTES: usize = 100;
/// A longer word is encoded data, or a sentence in a script without spaces, which the question itself is looked up by.
const MAX_WORD_BYTES: usize = 60;
/// With all signs around it no word is longer than this.
const MAX_RUN_BYTES: usize = 4 * MAX_EXACT_BYTES;

/// The keywords of `question` (of its first [`MAX_QUERY_BYTES`]), the most relevant first.
#[must_use]
pub fn local_keywords(question: &str) -> Vec<Keyword> {
    let mut keywords: Vec<Keyword> = Vec::new();
    let words = words(question);
    let (exact, plain): (Vec<&Word<'_>>, Vec<&Word<'_>>) = words.iter().partition(|w| w.is_exact);
    for word in exact.into_iter().chain(plain) {
        if keywords.len() == MAX_LOCAL_KEYWORDS {
            break;
        }
        let is_known = |known: &Keyword| {
            same(&known.word, word.text) || known.variations.iter().any(|v| same(v, word.text))
        };
        if !keywords.iter().any(is_known) {
            let variations = if word.is_exact { Vec::new() } else { other_number(word.text) };
            keywords.push(Keyword { word: word.text.to_owned(), variations });
        }
    }
    keywords
}

/// What stands in `question` as it must stand in any other wording of it: identifiers, paths, quoted texts.
pub(super) fn exact_words(question: &str) -> Vec<&str> {
    let mut exact: Vec<&str> = Vec::new();
    for word in words(question).into_iter().filter(|word| word.is_exact) {
        if exact.len() < MAX_LOCAL_KEYWORDS && !exact.contains(&word.text) {
            exact.push(word.text);
        }
    }
    exact
}

/// Whether two words are one in any letter case.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || a.to_lowercase() == b.to_lowercase()
}

/// Whether all words of a text are stop words, or there are none.
pub(super) fn is_only_stop_words(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.split(|c| !is_word(c)).all(|word| word.is_empty() || is_stop_word(word))
}

struct Word<'q> {
    text: &'q str,
    is_exact: bool,
}

fn words(question: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = cut(question, MAX_QUERY_BYTES).trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some((inner, n_bytes)) = quoted(rest) {
            words.push(Word { text: inner, is_exact: true });
            rest = &rest[n_bytes..];
        } else if opens_quote(first) {
            rest = &rest[first.len_utf8()..];
        } else {
            let ends = |c: char| c.is_whitespace() || (opens_quote(c) && c != '\'');
            let end = rest.find(ends).unwrap_or(rest.len());
            words.extend(word(&rest[..end]));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    words.retain(|word| !is_only_stop_words(word.text));
    words
}

fn opens_quote(c: char) -> bool {
    matches!(c, '`' | '"' | '\'' | '“' | '‘' | '«' | '„')
}

/// What is quoted at the start of `text`, and how many bytes it takes with its quotes.
fn quoted(text: &str) -> Option<(&str, usize)> {
    let first = text.chars().next()?;
    let (n_open, close) = match first {
        '`' => {
            let n = text.len() - text.trim_start_matches('`').len();
            (n, &text[..n])
        }
        '"' => (1, "\""),
        '\'' => (1, "'"),
        '“' => (first.len_utf8(), "”"),
        '„' => (first.len_utf8(), "“"),
        '‘' => (first.len_utf8(), "’"),
        '«' => (first.len_utf8(), "»"),
        _ => return None,
    };
    let inner = &text[n_open..];
    // An apostrophe within a word closes nothing.
    let is_close = |&(at, found): &(usize, &str)| {
        let next = inner[at + found.len()..].chars().next();
        found != "'" && found != "’" || !next.is_some_and(char::is_alphanumeric)
    };
    let (end, _) = inner.match_indices(close).find(is_close)?;
    let content = inner[..end].trim();
    let is_kept = !content.is_empty()
        && content.len() <= MAX_EXACT_BYTES
        && !content.contains(['\n', '\r'])
        && content.contains(char::is_alphanumeric);
    is_kept.then_some((content, n_open + end + close.len()))
}

/// A run without white space, without what a sentence puts around it. `None` if nothing is left.
fn word(run: &str) -> Option<Word<'_>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    if run.len() > MAX_RUN_BYTES {
        return None;
    }
    let start = run.find(is_name)?;
    // `.env`, `@types/node`, `/etc/hosts`, `--flag`, `./a`: the signs before a name belong to it.
    let before = &run[..start];
    let lead = ["--", "../", "./", "~/", ".", "@", "/"].into_iter().find(|l| before.ends_with(l));
    let mut text = &run[start - lead.map_or(0, str::len)..];
    while let Some(last) = text.chars().next_back() {
        let opener = match last {
            ')' => Some('('),
            '>' => Some('<'),
            ']' => Some('['),
            _ => None,
        };
        let closes = |opener: char| text.matches(opener).count() >= text.matches(last).count();
        let belongs = is_name(last) || matches!(last, '+' | '#') || opener.is_some_and(closes);
        if belongs {
            break;
        }
        text = &text[..text.len() - last.len_utf8()];
    }
    let is_call = text.ends_with("()");
    text = text.strip_suffix("()").or_else(|| text.strip_suffix("(s)")).unwrap_or(text);
    if let Some((stem, ending)) = text.rsplit_once(['\'', '’']) {
        match ending {
            "s" | "re" | "ll" | "ve" | "d" | "m" => text = stem,
            "t" => return None,
            _ => {}
        }
    }
    if matches!(text, "e.g" | "i.e" | "a.k.a" | "w.r.t") {
        return None;
    }
    let is_exact = is_call || lead.is_some() || is_exact(text);
    let max_bytes = if is_exact { MAX_EXACT_BYTES } else { MAX_WORD_BYTES };
    // One letter or digit in a sentence is a label, which half of all code would match.
    let min_bytes = if is_exact { 1 } else { 2 };
    (min_bytes..=max_bytes).contains(&text.len()).then_some(Word { text, is_exact })
}

/// Whether a word is spelled as only code spells: an identifier, a qualified name, a path.
fn is_exact(word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut parts = word.split(|c| !is_name(c)).filter(|part| !part.is_empty());
    let joins = ["::", "->", ".", "/", "\\", "#", "(", "<", "[", "=", "@", ":"];
    let is_joined = parts.clone().count() > 1 && joins.iter().any(|join| word.contains(join));
    let has_sign = word.ends_with(['+', '#']);
    is_joined || has_sign || parts.any(looks_like_identifier)
}

/// The plural of a singular or the singular of a plural, as far as the ending tells; English.
fn other_number(word: &str) -> Vec<String> {
    let is_plain = (3..=30).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_alphabetic())
        && word[1..].bytes().all(|b| b.is_ascii_lowercase());
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if !is_plain || ends(&["ed", "ing", "ly"]) {
        return Vec::new();
    }
    let without = |n: usize| &word[..word.len() - n];
    let before_last = word.as_bytes()[word.len() - 2];
    let other = if word.len() > 4 && ends(&["ies"]) {
        format!("{}y", without(3))
    } else if ends(&["sses", "xes", "ches", "shes", "zes"]) {
        without(2).to_owned()
    } else if ends(&["ss", "us", "is", "x", "ch", "sh", "z"]) {
        format!("{word}es")
    } else if ends(&["s"]) {
        without(1).to_owned()
    } else if ends(&["y"]) && !b"aeiou".contains(&before_last) {
        format!("{}ies", without(1))
    } else {
        format!("{word}s")
    };
    vec![other]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(question: &str, expect: &[&str]) {
        let found: Vec<String> =
            local_keywords(question).into_iter().map(|keyword| keyword.word).collect();
        assert_eq!(found, expect, "{question:?}");
    }

    #[test]
    fn names_come_first_and_whole_then_the_words() {
        check("where do we check that a token has expired?", &["check", "token", "expired"]);
        check("who calls parseUrl, and foo_bar()?", &["parseUrl", "foo_bar", "calls"]);
        check("what is in src/a/b.ts and .env?", &["src/a/b.ts", ".env"]);
        check("why \"connection refused\" in the log", &["connection refused", "log"]);
        check("what does 'a b' or ‘c d’ or `fn main()` mean", &["a b", "c d", "fn main()", "mean"]);
        check("the user's password isn't hashed", &["user", "password", "hashed"]);
        check(
            "std::vec<int>, HashMap<K, V> (see main())",
            &["std::vec<int>", "HashMap<K", "main", "see"],
        );
        check(
            "pass --no-cache to @types/node in C++",
            &["--no-cache", "@types/node", "C++", "pass"],
        );
        check("and/or, e.g. tokens", &["tokens"]);
        check("Token token TOKEN tokens", &["Token"]);
        check("  \t\n  ", &[]);
        check("where is it", &[]);
        check("?? !! -- ``", &[]);
        check("an 'unclosed quote and it's fine", &["unclosed", "quote", "fine"]);
        check("größe der Liste", &["größe", "der", "Liste"]);
        check("```\nlet a_b = 1;\n```", &["let a_b = 1;"]);
        check("```\nlet a_b = 1;\nuse x_y;\n```", &["a_b", "x_y", "let", "use"]);
    }

    #[test]
    fn no_keyword_is_blank_and_there_are_not_too_many() {
        let long = "wordA wordB , ; ".repeat(3)
            + &(0..100).map(|n| format!("w{n} ")).collect::<String>()
            + &"x".repeat(500);
        let keywords = local_keywords(&long);
        assert_eq!(keywords.len(), MAX_LOCAL_KEYWORDS);
        assert!(keywords.iter().all(|keyword| !keyword.word.trim().is_empty()));
    }

    #[test]
    fn a_plural_has_its_singular() {
        for (word, expect) in [
            ("token", "tokens"),
            ("tokens", "token"),
            ("query", "queries"),
            ("queries", "query"),
            ("key", "keys"),
            ("class", "classes"),
            ("classes", "class"),
            ("status", "statuses"),
            ("index", "indexes"),
        ] {
            assert_eq!(other_number(word), [expect], "{word}");
        }
        for word in ["expired", "parsing", "only", "JSON", "größe", "io"] {
            assert!(other_number(word).is_empty(), "{word}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_asked_gives_sound_keywords(
            question in "[ab_.:/`'\"“”‘’(){}<>é# \n-]{0,40}",
        ) {
            for keyword in local_keywords(&question) {
                prop_assert!(question.contains(&keyword.word));
                prop_assert!(keyword.word.contains(|c: char| c.is_alphanumeric() || c == '_'));
                prop_assert_eq!(keyword.word.trim(), &keyword.word);
            }
        }
    }
}
