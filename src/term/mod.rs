//! Texts to terms: the words that documents and queries are matched by.
//!
//! In: a text. Out: its terms in text order. One run of `[A-Za-z0-9_$]` and non-ASCII characters gives the terms of its
//! parts (split at `_`, `$`, `camelCase`, `ACRONYMWord` and `digits`), stemmed as English, and, where it has more than
//! one part, the whole of it without separators. Letter case and accents are folded, CJK text gives overlapping pairs
//! of characters. The terms of a run do not depend on what stands around it, so callers may cache them by run.
//! Documents and queries go through the same functions: what is written the same is found. Pure.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A term longer than this is cut, in documents and in queries alike.
const MAX_TERM_BYTES: usize = 64;
/// A run longer than this is encoded data; only its beginning is looked at.
const MAX_RUN_BYTES: usize = 512;

/// Calls `visit` with each run of `text` that can hold terms, and where it starts.
pub fn runs<'t>(text: &'t str, mut visit: impl FnMut(usize, &'t str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !IN_RUN[bytes[at] as usize] {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && IN_RUN[bytes[at] as usize] {
            at += 1;
        }
        // Run borders are ASCII bytes or text ends, hence character borders.
        visit(start, &text[start..at]);
    }
}

/// Bytes of runs: ASCII letters, digits, `_`, `$`, and all bytes of non-ASCII characters.
static IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80;
        byte += 1;
    }
    table
};

/// Takes runs apart. Holds buffers and the stemmer's tables; cheap to make, cheaper to keep.
pub struct TermSplitter {
    stemmer: Stemmer,
    stems: bool,
    folded: String,
    word: String,
    whole: String,
}

impl Default for TermSplitter {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Cjk,
    Other,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        _ if c.is_ascii() => Class::Other,
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2fa1f}' => Class::Cjk,
        _ if c.is_uppercase() => Class::Upper,
        _ if c.is_numeric() => Class::Digit,
        _ if c.is_alphabetic() => Class::Lower,
        _ => Class::Other,
    }
}

impl TermSplitter {
    /// A splitter.
    #[must_use]
    pub fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            stems: true,
            folded: String::new(),
            word: String::new(),
            whole: String::new(),
        }
    }

    /// As [`TermSplitter::split`], for a name that is defined or asked for: a name of one letter is a term as well.
    pub fn split_name(&mut self, run: &str, mut emit: impl FnMut(&str)) {
        let trimmed = run.trim_matches(['_', '$']);
        if trimmed.len() == 1 && trimmed.is_ascii() {
            emit(&trimmed.to_ascii_lowercase());
        } else {
            self.split(run, emit);
        }
    }

    /// Calls `emit` for each part of `run` as it stands, folded but not stemmed.
    pub fn split_unstemmed(&mut self, run: &str, emit: impl FnMut(&str)) {
        self.stems = false;
        self.split(run, emit);
        self.stems = true;
    }

    /// The stem of a folded word.
    #[must_use]
    pub fn stem<'w>(&self, word: &'w str) -> std::borrow::Cow<'w, str> {
        self.stemmer.stem(word)
    }

    /// Calls `emit` for each term of `run`, which [`runs`] found. A term may come more than once.
    pub fn split(&mut self, run: &str, mut emit: impl FnMut(&str)) {
        let mut end = run.len().min(MAX_RUN_BYTES);
        while !run.is_char_boundary(end) {
            end -= 1;
        }
        let run = &run[..end];
        self.whole.clear();
        let mut n_parts = 0;
        if run.is_ascii() {
            self.split_words(run, &mut n_parts, &mut emit);
        } else {
            let mut folded = std::mem::take(&mut self.folded);
            fold(run, &mut folded);
            for piece in folded.split(|c| class(c) == Class::Other && c != '_' && c != '$') {
                self.split_piece(piece, &mut n_parts, &mut emit);
            }
            self.folded = folded;
        }
        if n_parts > 1 && self.stems && self.whole.len() <= MAX_TERM_BYTES {
            emit(&self.whole);
        }
    }

    fn split_piece(&mut self, piece: &str, n_parts: &mut usize, emit: &mut impl FnMut(&str)) {
        let mut rest = piece;
        while !rest.is_empty() {
            let is_cjk = rest.chars().next().is_some_and(|c| class(c) == Class::Cjk);
            let end = rest
                .char_indices()
                .find(|&(_, c)| (class(c) == Class::Cjk) != is_cjk)
                .map_or(rest.len(), |(at, _)| at);
            let (head, tail) = rest.split_at(end);
            if is_cjk {
                self.split_cjk(head, emit);
            } else {
                self.split_words(head, n_parts, emit);
            }
            rest = tail;
        }
    }

    fn split_cjk(&mut self, text: &str, emit: &mut impl FnMut(&str)) {
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        if starts.len() == 1 {
            emit(text);
            return;
        }
        for (i, &start) in starts[..starts.len() - 1].iter().enumerate() {
            let end = starts.get(i + 2).copied().unwrap_or(text.len());
            emit(&text[start..end]);
        }
    }

    /// `text` has no CJK and, besides `_` and `$`, only letters and digits.
    fn split_words(&mut self, text: &str, n_parts: &mut usize, emit: &mut impl FnMut(&str)) {
        let mut start = 0;
        let mut previous = Class::Other;
        let mut before_previous = Class::Other;
        let mut last_at = 0;
        for (at, c) in text.char_indices() {
            let class = class(c);
            let cut = match (previous, class) {
                (_, Class::Other) => Some((at, at + c.len_utf8())),
                (Class::Lower | Class::Digit, Class::Upper) | (Class::Digit, Class::Lower) => {
                    Some((at, at))
                }
                (Class::Upper, Class::Lower) if before_previous == Class::Upper => {
                    Some((last_at, last_at))
                }
                _ => None,
            };
            if let Some((end, next)) = cut {
                self.part(&text[start..end], n_parts, emit);
                start = next;
            }
            before_previous = previous;
            previous = class;
            last_at = at;
        }
        self.part(&text[start..], n_parts, emit);
    }

    /// One part: letters, then perhaps digits.
    fn part(&mut self, part: &str, n_parts: &mut usize, emit: &mut impl FnMut(&str)) {
        if part.is_empty() {
            return;
        }
        self.word.clear();
        if part.is_ascii() {
            self.word.push_str(part);
            self.word.make_ascii_lowercase();
        } else {
            self.word.extend(part.chars().flat_map(char::to_lowercase));
        }
        *n_parts += 1;
        if self.whole.len() <= MAX_TERM_BYTES {
            self.whole.push_str(&self.word);
        }
        let letters = self.word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if letters < self.word.len() {
            emit_cut(&self.word, emit);
            let digits = &self.word[letters..];
            if letters > 0 && digits.len() > 1 {
                emit_cut(digits, emit);
            }
        }
        if letters > 1 && self.stems {
            emit_cut(&self.stemmer.stem(&self.word[..letters]), emit);
        } else if letters > 1 {
            emit_cut(&self.word[..letters], emit);
        }
    }
}

fn emit_cut(term: &str, emit: &mut impl FnMut(&str)) {
    let mut end = term.len().min(MAX_TERM_BYTES);
    while !term.is_char_boundary(end) {
        end -= 1;
    }
    emit(&term[..end]);
}

/// Compatibility decomposition without marks, letter case kept (it shows word borders): `É` is `E`, `ﬁ` is `fi`.
fn fold(text: &str, folded: &mut String) {
    folded.clear();
    // The sound marks of kana are letters' parts, not accents.
    let is_accent = |c| is_combining_mark(c) && !matches!(c, '\u{3099}' | '\u{309a}');
    for c in text.nfkd().filter(|&c| !is_accent(c)) {
        match c {
            'ß' => folded.push_str("ss"),
            'ẞ' => folded.push_str("SS"),
            'æ' => folded.push_str("ae"),
            'Æ' => folded.push_str("AE"),
            'œ' => folded.push_str("oe"),
            'Œ' => folded.push_str("OE"),
            'ø' => folded.push('o'),
            'Ø' => folded.push('O'),
            'đ' | 'ð' => folded.push('d'),
            'Đ' | 'Ð' => folded.push('D'),
            'ł' => folded.push('l'),
            'Ł' => folded.push('L'),
            'ı' => folded.push('i'),
            'þ' => folded.push_str("th"),
            _ => folded.push(c),
        }
    }
    // Hangul and kana decompose; compose them again so that they pair like other CJK text.
    if folded.chars().any(|c| matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3099}' | '\u{309a}')) {
        *folded = folded.nfc().collect();
    }
}

/// All terms of `text`, in order, with repeats.
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let mut splitter = TermSplitter::new();
    let mut found = Vec::new();
    runs(text, |_, run| splitter.split(run, |term| found.push(term.to_owned())));
    found
}

/// `text` with letter case, accents and separators folded away: `get_user`, `getUser` and `GetUser` are all `getuser`.
#[must_use]
pub fn fold_identifier(text: &str) -> String {
    let mut folded = String::new();
    fold(text, &mut folded);
    folded.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text:?}");
    }

    #[test]
    fn identifiers_give_their_parts_and_the_whole() {
        check("getUserName", &["get", "user", "name", "getusername"]);
        check("get_user_name", &["get", "user", "name", "getusername"]);
        check("HTTPServer", &["http", "server", "httpserver"]);
        check("sha256Hash", &["sha256", "256", "sha", "hash", "sha256hash"]);
        check("__init__", &["init"]);
        check("$scope", &["scope"]);
        check("x", &[]);
        check("a + b2", &["b2"]);
    }

    #[test]
    fn words_are_stemmed() {
        check("tokens parsing", &["token", "pars"]);
    }

    #[test]
    fn accents_case_and_composition_are_folded() {
        let expected = terms("Größenänderung");
        assert_eq!(terms("gro\u{308}ßena\u{308}nderung"), expected);
        assert_eq!(terms("GRÖẞENÄNDERUNG"), terms("GRÖSSENÄNDERUNG"));
        assert_eq!(terms("GRÖSSENÄNDERUNG"), expected);
        check("İstanbul", &["istanbul"]);
        check("Tiếng Việt", &["tieng", "viet"]);
        check("DÉJÀ", &["deja"]);
    }

    #[test]
    fn cjk_gives_pairs() {
        check("検索エンジン", &["検索", "索エ", "エン", "ンジ", "ジン"]);
        check("検", &["検"]);
        check("검색기", &["검색", "색기"]);
        check("load設定", &["load", "設定"]);
    }

    #[test]
    fn spellings_of_one_identifier_fold_to_one() {
        for spelling in ["get_user", "getUser", "GetUser", "GET-USER"] {
            assert_eq!(fold_identifier(spelling), "getuser");
        }
    }

    proptest! {
        #[test]
        fn terms_of_any_text_are_short_and_folded(text in "\\PC*") {
            for term in terms(&text) {
                prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
                prop_assert!(!term.chars().any(|c| c.is_ascii_uppercase()));
            }
        }
    }
}
