//! Does a path match one pattern of an ignore file?
//!
//! In: the bytes of a pattern, compiled once, and the bytes of a path. Out: yes or no, by git's rules
//! (gitignore(5)): `*` and `?` stay within one folder, `**` between slashes crosses folders, `[...]` is one byte,
//! a backslash takes the next byte literally. A pattern that git cannot use (unclosed bracket, trailing
//! backslash) compiles to one that matches nothing. Pure. Matching takes at most
//! O(pattern x path) steps, whatever the pattern.

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    /// None: matches nothing.
    tokens: Option<Vec<Token>>,
    fold_case: bool,
}

#[derive(Clone, Debug)]
enum Token {
    Byte(u8),
    AnyByte,
    OneOf(Box<[bool; 256]>),
    /// `*`: any bytes but a slash.
    Star,
    /// `**` after a slash or at the start, at the end or before an escaped slash: any bytes.
    StarStar,
    /// `**/` after a slash or at the start: nothing, or any bytes that end with a slash.
    Folders,
}

impl Glob {
    /// Compiles `pattern`. `fold_case`: letters of ASCII match in either case.
    pub(super) fn new(pattern: &[u8], fold_case: bool) -> Self {
        Self { tokens: compile(pattern, fold_case), fold_case }
    }

    /// Whether the whole of `text` matches.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        self.tokens.as_deref().is_some_and(|tokens| matches(tokens, text, self.fold_case))
    }
}

fn compile(pattern: &[u8], fold_case: bool) -> Option<Vec<Token>> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            b'*' => {
                let first = at;
                while pattern.get(at) == Some(&b'*') {
                    at += 1;
                }
                let opens = first == 0 || pattern[first - 1] == b'/';
                let rest = &pattern[at..];
                if at - first == 1 || !opens {
                    tokens.push(Token::Star);
                } else if rest.first() == Some(&b'/') {
                    tokens.push(Token::Folders);
                    at += 1;
                } else if rest.is_empty() || rest.starts_with(b"\\/") {
                    tokens.push(Token::StarStar);
                } else {
                    tokens.push(Token::Star);
                }
            }
            b'?' => {
                tokens.push(Token::AnyByte);
                at += 1;
            }
            b'[' => {
                let (set, length) = compile_set(&pattern[at..], fold_case)?;
                tokens.push(Token::OneOf(set));
                at += length;
            }
            b'\\' => {
                // Not folded, as in git: an escaped capital matches nothing when case is ignored.
                tokens.push(Token::Byte(*pattern.get(at + 1)?));
                at += 2;
            }
            byte => {
                tokens.push(Token::Byte(if fold_case { byte.to_ascii_lowercase() } else { byte }));
                at += 1;
            }
        }
    }
    Some(tokens)
}

/// Compiles the bracket expression at the start of `pattern`; returns the set and its length in bytes.
fn compile_set(pattern: &[u8], fold_case: bool) -> Option<(Box<[bool; 256]>, usize)> {
    let mut set = Box::new([false; 256]);
    let mut at = 1;
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    if negated {
        at += 1;
    }
    let mut range_start = None;
    let mut is_first = true;
    loop {
        let byte = *pattern.get(at)?;
        if byte == b']' && !is_first {
            break;
        }
        is_first = false;
        if byte == b'-'
            && let Some(start) = range_start
            && pattern.get(at + 1).is_some_and(|&next| next != b']')
        {
            at += 1;
            if pattern[at] == b'\\' {
                at += 1;
            }
            let end = *pattern.get(at)?;
            add_range(&mut set, start, end, fold_case);
            range_start = None;
            at += 1;
        } else if byte == b'[' && pattern.get(at + 1) == Some(&b':') {
            let name = &pattern[at + 2..];
            let close = name.iter().position(|&byte| byte == b']')?;
            if close == 0 || name[close - 1] != b':' {
                set[usize::from(b'[')] = true;
                range_start = Some(b'[');
                at += 1;
            } else {
                add_class(&mut set, &name[..close - 1], fold_case)?;
                range_start = None;
                at += 2 + close + 1;
            }
        } else {
            if byte == b'\\' {
                at += 1;
            }
            let literal = *pattern.get(at)?;
            set[usize::from(literal)] = true;
            range_start = Some(literal);
            at += 1;
        }
    }
    if negated {
        for member in set.iter_mut() {
            *member = !*member;
        }
    }
    set[usize::from(b'/')] = false;
    Some((set, at + 1))
}

fn add_range(set: &mut [bool; 256], start: u8, end: u8, fold_case: bool) {
    for byte in 0..=255_u8 {
        let upper = if fold_case { byte.to_ascii_uppercase() } else { byte };
        if (start..=end).contains(&byte) || (start..=end).contains(&upper) {
            set[usize::from(byte)] = true;
        }
    }
}

fn add_class(set: &mut [bool; 256], name: &[u8], fold_case: bool) -> Option<()> {
    let is_member: fn(&u8) -> bool = match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | 0x09..=0x0d),
        b"upper" if fold_case => u8::is_ascii_alphabetic,
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    };
    for byte in 0..=255_u8 {
        if is_member(&byte) {
            set[usize::from(byte)] = true;
        }
    }
    Some(())
}

/// Where to go on when the tokens after a wildcard do not match at the place tried last.
#[derive(Clone, Copy)]
struct Retry {
    /// The token after the wildcard.
    token: usize,
    /// The end of what the wildcard has taken so far.
    end: usize,
}

/// Only the last `*` and the last `**` need to be reconsidered: whatever an earlier one could take more, the
/// later one can take too, since the text before it was matched as short as possible.
fn matches(tokens: &[Token], text: &[u8], fold_case: bool) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut star: Option<Retry> = None;
    let mut deep: Option<(Retry, bool)> = None;
    loop {
        let goes_on = match tokens.get(token) {
            None => at == text.len(),
            Some(Token::Star) => {
                token += 1;
                star = Some(Retry { token, end: at });
                continue;
            }
            Some(kind @ (Token::StarStar | Token::Folders)) => {
                token += 1;
                star = None;
                deep = Some((Retry { token, end: at }, matches!(kind, Token::Folders)));
                continue;
            }
            Some(single) => text.get(at).is_some_and(|&byte| matches_byte(single, byte, fold_case)),
        };
        if goes_on {
            if token == tokens.len() {
                return true;
            }
            token += 1;
            at += 1;
        } else if let Some(retry) = &mut star
            && text.get(retry.end).is_some_and(|&byte| byte != b'/')
        {
            retry.end += 1;
            (token, at) = (retry.token, retry.end);
        } else if let Some((retry, to_slash)) = &mut deep {
            let step = match text.get(retry.end..) {
                None | Some([]) => return false,
                Some(_) if !*to_slash => 1,
                Some(rest) => match memchr::memchr(b'/', rest) {
                    None => return false,
                    Some(slash) => slash + 1,
                },
            };
            retry.end += step;
            star = None;
            (token, at) = (retry.token, retry.end);
        } else {
            return false;
        }
    }
}

fn matches_byte(token: &Token, byte: u8, fold_case: bool) -> bool {
    let byte = if fold_case { byte.to_ascii_lowercase() } else { byte };
    match token {
        Token::Byte(expected) => byte == *expected,
        Token::AnyByte => byte != b'/',
        Token::OneOf(set) => set[usize::from(byte)],
        Token::Star | Token::StarStar | Token::Folders => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let glob = Glob::new(pattern.as_bytes(), false);
        for text in yes {
            assert!(glob.matches(text.as_bytes()), "{pattern} should match {text}");
        }
        for text in no {
            assert!(!glob.matches(text.as_bytes()), "{pattern} should not match {text}");
        }
    }

    #[test]
    fn wildcards_of_one_folder_stop_at_slashes() {
        check("a*c", &["ac", "abc", "abcbc"], &["a/c", "abd", "ab"]);
        check("*.py", &["a.py", ".py"], &["a/b.py", "a.pyc"]);
        check("a?c", &["abc"], &["ac", "a/c"]);
        check("*/x", &["a/x"], &["x", "a/b/x"]);
        check("a**b", &["ab", "axb"], &["a/b"]);
        check("*a*a*a*a*b", &["aaaab"], &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"]);
    }

    #[test]
    fn two_stars_cross_folders() {
        check("**/x", &["x", "a/x", "a/b/x"], &["ax", "a/bx"]);
        check("a/**", &["a/b", "a/b/c"], &["b/a", "a"]);
        check("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["a/xb", "ab"]);
        check("**/a/**/b*c", &["a/bc", "z/a/y/bxc", "a/a/bc"], &["a/b/c", "bc"]);
    }

    #[test]
    fn brackets_are_one_byte() {
        check("[a-c]x", &["ax", "cx"], &["dx", "x", "-x"]);
        check("[!a-c]x", &["dx"], &["ax", "/x"]);
        check("[]]x", &["]x"], &["x"]);
        check("[a-]x", &["-x", "ax"], &["bx"]);
        check("[[:digit:][:upper:]]", &["1", "Q"], &["q", "["]);
        check("[[:nonsense:]]", &[], &["n", "1"]);
        check("[\\]]", &["]"], &["\\"]);
    }

    #[test]
    fn broken_patterns_match_nothing() {
        check("[abc", &[], &["[abc", "a", ""]);
        check("foo\\", &[], &["foo", "foo\\"]);
    }

    #[test]
    fn case_is_folded_on_request() {
        let glob = Glob::new(b"A[B-C]*.TXT", true);
        assert!(glob.matches(b"abx.txt"));
        assert!(glob.matches(b"ACX.TXT"));
        assert!(!glob.matches(b"adx.txt"));
    }
}
