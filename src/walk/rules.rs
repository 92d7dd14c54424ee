//! What does a set of ignore files say about a path?
//!
//! In: the bytes of ignore files (gitignore(5) syntax), and a path. Out: the rule that decides, if any.
//! Within a file the last matching line decides; among files the first in the chain (the deepest) that has a
//! matching line. Pure.
//!
//! Paths are counted from one fixed place for a whole walk, the top of the outermost repository or else the
//! root; a file of rules knows how many of the path's bytes name its own folder.

use std::rc::Rc;

use super::glob::Glob;

/// The rules of one ignore file.
#[derive(Debug)]
pub(super) struct RuleFile {
    /// How a person would find the file.
    label: String,
    /// Bytes of a path that name the folder of this file, with its final slash.
    base_bytes: usize,
    rules: Vec<Rule>,
}

/// One line of an ignore file.
#[derive(Debug)]
pub(super) struct Rule {
    line_number: usize,
    line: String,
    negated: bool,
    folders_only: bool,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// No slash and no wildcard: equals the last part of the path.
    Name(Vec<u8>),
    /// No slash, one star and then no wildcard: ends the last part of the path.
    Suffix(Vec<u8>),
    /// No slash.
    NameGlob(Glob),
    /// A slash: literal start, then a pattern, matched against the path from the folder of the file.
    Path { start: Vec<u8>, rest: Option<Glob> },
}

/// Ignore files, the one that is asked first at the head.
pub(super) type Chain = Option<Rc<Link>>;

/// One ignore file of a chain.
#[derive(Debug)]
pub(super) struct Link {
    file: RuleFile,
    fold_case: bool,
    next: Chain,
}

/// A path as rules see it.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    /// Bytes of the path, from the place where the walk counts from, without a final slash.
    pub(super) path: &'a [u8],
    /// Where the last part of `path` starts.
    pub(super) name_at: usize,
    pub(super) is_folder: bool,
}

/// The rule that decides about a path.
#[derive(Clone, Copy)]
pub(super) struct Decision<'a> {
    file: &'a RuleFile,
    rule: &'a Rule,
}

impl Decision<'_> {
    /// Whether the rule leaves the path out; else it takes it in.
    pub(super) fn excludes(&self) -> bool {
        !self.rule.negated
    }

    /// In words, for the skip report.
    pub(super) fn reason(&self) -> String {
        let Rule { line_number, line, .. } = self.rule;
        format!("ignored by {} (line {line_number}: {line})", self.file.label)
    }

    /// Whether the last part of the rule has a literal letter or digit: `!*/` and `!*` do not mean any
    /// particular thing, `!build/` and `!*.lock` do.
    pub(super) fn names_something(&self) -> bool {
        self.last_part().chars().any(char::is_alphanumeric)
    }

    /// The rule from its last slash on, without what makes it a negation.
    pub(super) fn last_part(&self) -> &str {
        let line = self.rule.line.trim_start_matches('!').trim_end_matches('/');
        &line[line.rfind('/').map_or(0, |slash| slash + 1)..]
    }
}

impl RuleFile {
    /// Parses the bytes of an ignore file. `label`: how a person would find the file; `base_bytes`: how many
    /// bytes of a path name its folder, with the final slash.
    pub(super) fn parse(label: String, base_bytes: usize, content: &[u8], fold_case: bool) -> Self {
        let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
        let rules = content
            .split(|&byte| byte == b'\n')
            .enumerate()
            .filter_map(|(line_idx, line)| Rule::parse(line_idx + 1, line, fold_case))
            .collect();
        Self { label, base_bytes, rules }
    }

    /// Puts the file in front of `next`.
    pub(super) fn before(self, next: Chain, fold_case: bool) -> Chain {
        if self.rules.is_empty() {
            return next;
        }
        Some(Rc::new(Link { file: self, fold_case, next }))
    }

    fn decide(&self, subject: Subject<'_>, fold_case: bool) -> Option<&Rule> {
        if subject.path.len() <= self.base_bytes {
            // A parent of the root, and rules that count from the root.
            return None;
        }
        self.rules.iter().rev().find(|rule| rule.matches(subject, self.base_bytes, fold_case))
    }
}

/// The rule of the chain that decides about `subject`, if any does.
pub(super) fn decide<'a>(chain: &'a Chain, subject: Subject<'_>) -> Option<Decision<'a>> {
    let mut link = chain.as_deref();
    while let Some(Link { file, fold_case, next }) = link {
        if let Some(rule) = file.decide(subject, *fold_case) {
            return Some(Decision { file, rule });
        }
        link = next.as_deref();
    }
    None
}

impl Rule {
    fn parse(line_number: usize, line: &[u8], fold_case: bool) -> Option<Self> {
        if line.starts_with(b"#") {
            return None;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // git reads lines as C strings.
        let line = &line[..memchr::memchr(0, line).unwrap_or(line.len())];
        let line = trim_trailing_spaces(line);
        let (negated, pattern) = match line.strip_prefix(b"!") {
            Some(pattern) => (true, pattern),
            None => (false, line),
        };
        let (folders_only, pattern) = match pattern.strip_suffix(b"/") {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        if pattern.is_empty() {
            return None;
        }
        let form = Form::new(pattern, fold_case);
        let line = String::from_utf8_lossy(line).chars().take(100).collect();
        Some(Self { line_number, line, negated, folders_only, form })
    }

    fn matches(&self, subject: Subject<'_>, base_bytes: usize, fold_case: bool) -> bool {
        if self.folders_only && !subject.is_folder {
            return false;
        }
        let name = &subject.path[subject.name_at..];
        match &self.form {
            Form::Name(expected) => equal(name, expected, fold_case),
            Form::Suffix(suffix) => {
                name.len() >= suffix.len()
                    && equal(&name[name.len() - suffix.len()..], suffix, fold_case)
            }
            Form::NameGlob(glob) => glob.matches(name),
            Form::Path { start, rest } => {
                let path = &subject.path[base_bytes..];
                let Some((head, tail)) = path.split_at_checked(start.len()) else {
                    return false;
                };
                equal(head, start, fold_case)
                    && match rest {
                        None => tail.is_empty(),
                        Some(glob) => glob.matches(tail),
                    }
            }
        }
    }
}

impl Form {
    fn new(pattern: &[u8], fold_case: bool) -> Self {
        let is_special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\');
        let literal_bytes = pattern.iter().position(is_special).unwrap_or(pattern.len());
        if !pattern.contains(&b'/') {
            if literal_bytes == pattern.len() {
                return Self::Name(pattern.to_vec());
            }
            return match pattern.strip_prefix(b"*") {
                Some(suffix) if !suffix.iter().any(is_special) => Self::Suffix(suffix.to_vec()),
                _ => Self::NameGlob(Glob::new(pattern, fold_case)),
            };
        }
        // The literal start is taken off before the pattern is compiled, as git does: it is why `a**/b` matches
        // `a/x/b`, the two stars then being at the start.
        let (start, rest) = pattern.split_at(literal_bytes);
        let start = start.strip_prefix(b"/").unwrap_or(start).to_vec();
        let rest = (!rest.is_empty()).then(|| Glob::new(rest, fold_case));
        Self::Path { start, rest }
    }
}

fn equal(left: &[u8], right: &[u8], fold_case: bool) -> bool {
    if fold_case { left.eq_ignore_ascii_case(right) } else { left == right }
}

/// Spaces at the end do not count, unless the first of them is escaped.
fn trim_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = None;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b' ' => {
                end.get_or_insert(at);
            }
            b'\\' => {
                if at + 1 == line.len() {
                    return line;
                }
                end = None;
                at += 1;
            }
            _ => end = None,
        }
        at += 1;
    }
    &line[..end.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, path: &str, expected: Option<&str>) {
        let (path, is_folder) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        let chain = RuleFile::parse("F".into(), 0, content.as_bytes(), false).before(None, false);
        let name_at = path.rfind('/').map_or(0, |slash| slash + 1);
        let decision = decide(&chain, Subject { path: path.as_bytes(), name_at, is_folder });
        let found = decision.map(|decision| decision.reason());
        assert_eq!(found.as_deref(), expected, "{content:?} on {path}");
    }

    #[test]
    fn the_last_matching_line_decides_and_is_named() {
        check("*.py\n!a.py\n", "a.py", Some("ignored by F (line 2: !a.py)"));
        check("*.py\n!a.py\n", "x/b.py", Some("ignored by F (line 1: *.py)"));
        check("*.py\n!a.py\n", "b.rs", None);
        check("# *.py\n\n  \n", "b.py", None);
    }

    #[test]
    fn a_slash_ties_a_rule_to_its_folder() {
        check("/a\n", "a", Some("ignored by F (line 1: /a)"));
        check("/a\n", "b/a", None);
        check("a/b\n", "a/b", Some("ignored by F (line 1: a/b)"));
        check("a/b\n", "x/a/b", None);
        check("a/\n", "x/a/", Some("ignored by F (line 1: a/)"));
        check("a/\n", "x/a", None);
        check("a**/b", "a/x/b", Some("ignored by F (line 1: a**/b)"));
    }

    #[test]
    fn windows_lines_and_trailing_spaces() {
        check("\u{feff}first.py\r\nb9/\r\n", "first.py", Some("ignored by F (line 1: first.py)"));
        check("\u{feff}first.py\r\nb9/\r\n", "b9/", Some("ignored by F (line 2: b9/)"));
        check("a  \n", "a", Some("ignored by F (line 1: a)"));
        check("a\\ \n", "a ", Some("ignored by F (line 1: a\\ )"));
        check("\\#a\n", "#a", Some("ignored by F (line 1: \\#a)"));
    }
}
