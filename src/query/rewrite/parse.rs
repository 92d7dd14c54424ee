//! What did the model say?
//!
//! In: an answer with the headings Question and Keywords, more or less. Out: what of it makes sense. The form is read
//! leniently: any level of heading or none, bold, bullets, numbers, code ticks, lists on the line of the heading, and an
//! answer that was cut off gives what is complete. The sense is read strictly: a refusal, an answer in the place of a
//! question, a repeated prompt, absurd keywords are nonsense. Keywords keep their order, the most relevant first. Pure.

use super::local::{is_only_stop_words, same};
use super::prompt;
use crate::query::Keyword;
use crate::token::TokenCounter;

/// A longer keyword is a sentence.
const MAX_KEYWORD_CHARS: usize = 60;
/// A keyword of more words is one too.
const MAX_KEYWORD_WORDS: usize = 5;
/// A model that lists more than this has lost its way.
const MAX_LISTED: usize = 50;
/// No answer within the limit of tokens is nearly as long.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Variations of one keyword that are kept.
const MAX_VARIATIONS: usize = 6;

/// What makes sense of an answer; at least one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// The question in other words.
    pub question: Option<String>,
    /// At most as many as asked for.
    pub keywords: Vec<Keyword>,
}

/// Reads an answer to `asked`, which may have ended at its limit of `max_tokens`. The error is a reason for a person.
pub(super) fn parse_reply(
    answer: &str,
    asked: &str,
    max_keywords: usize,
    max_tokens: usize,
) -> Result<Reply, &'static str> {
    if answer.len() > MAX_ANSWER_BYTES {
        return Err("it is far too long");
    }
    let is_cut = may_be_cut(answer, max_tokens);
    let answer = answer.replace("\r\n", "\n");
    let is_cut = is_cut && !answer.ends_with('\n');
    let answer = without_outer_fence(answer.trim());
    if answer.is_empty() {
        return Err("it is empty");
    }
    if is_refusal(answer) {
        return Err("it is a refusal");
    }
    let sections = Sections::of(answer);
    if !sections.has_any {
        return Err("it has neither of the two headings");
    }
    let has_fence = |lines: &[&str]| lines.iter().any(|line| line.trim_start().starts_with("```"));
    if has_fence(&sections.question) {
        return Err("it answers the question");
    }
    if is_cut && sections.last == Section::Question {
        return Err("it ends within the question");
    }
    let question = question_of(&sections.question);
    let is_told = |line: &&str| !asked.contains(line.trim()) && prompt::is_told(line);
    if sections.question.iter().any(is_told)
        || (question == prompt::EXAMPLE_QUESTION && !asked.contains(prompt::EXAMPLE_QUESTION))
    {
        return Err("it repeats what the model was told");
    }
    let question = match question {
        question if !question.contains(char::is_alphanumeric) => None,
        question if is_refusal(&question) => return Err("it is a refusal"),
        question if asks_back(&question) && !asks_back(asked) => {
            return Err("it asks for something in return");
        }
        question if is_far_longer(&question, asked) => return Err("it is no question"),
        question => Some(question),
    };
    let keywords =
        keywords_of(&sections, max_keywords, is_cut && sections.last == Section::Keywords);
    if question.is_none() && keywords.is_empty() {
        return Err("there is nothing below its headings");
    }
    Ok(Reply { question, keywords })
}

/// Whether an answer may have ended at its limit. The model counts by tokens of its own, so near is near enough; an answer
/// that was complete then loses the last of its keywords.
fn may_be_cut(answer: &str, max_tokens: usize) -> bool {
    TokenCounter::new().count(answer) >= max_tokens - max_tokens / 8
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Question,
    Keywords,
    Other,
}

struct Sections<'a> {
    question: Vec<&'a str>,
    keywords: Vec<&'a str>,
    /// What stands on the line of the heading.
    inline_keywords: Option<&'a str>,
    has_any: bool,
    last: Section,
}

impl<'a> Sections<'a> {
    fn of(answer: &'a str) -> Self {
        let mut sections = Self {
            question: Vec::new(),
            keywords: Vec::new(),
            inline_keywords: None,
            has_any: false,
            last: Section::Other,
        };
        for line in answer.lines() {
            let text = match heading(line) {
                Some((section, rest)) => {
                    sections.last = section;
                    sections.has_any |= section != Section::Other;
                    if section == Section::Keywords && !rest.is_empty() {
                        sections.inline_keywords = Some(rest);
                        continue;
                    }
                    rest
                }
                None => line,
            };
            match sections.last {
                _ if text.trim().is_empty() => {}
                Section::Question => sections.question.push(text),
                Section::Keywords => sections.keywords.push(text),
                Section::Other => {}
            }
        }
        sections
    }
}

/// The section that a line opens, and what else stands on it.
fn heading(line: &str) -> Option<(Section, &str)> {
    let line = line.trim();
    let bare = line.trim_start_matches(['#', '*', '_', ' ']);
    let is_marked = line.starts_with('#') || line.starts_with("**") || line.starts_with("__");
    let names = [
        ("rewritten question", Section::Question),
        ("rephrased question", Section::Question),
        ("question", Section::Question),
        ("keywords", Section::Keywords),
        ("keyword", Section::Keywords),
    ];
    for (name, section) in names {
        let Some(start) = bare.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name))
        else {
            continue;
        };
        let rest = bare[start.len()..].trim_start_matches(['*', '_', '#', ' ']);
        if let Some(rest) = rest.strip_prefix(':') {
            return Some((section, rest.trim_start_matches(['*', '_', ' ']).trim_end()));
        }
        // `## Keywords (most relevant first)`
        if rest.is_empty() || (is_marked && rest.starts_with('(')) {
            return Some((section, ""));
        }
    }
    line.starts_with('#').then_some((Section::Other, ""))
}

fn without_outer_fence(answer: &str) -> &str {
    let Some(inner) = answer.strip_prefix("```") else { return answer };
    let Some((info, inner)) = inner.split_once('\n') else { return answer };
    let is_text = matches!(info.trim(), "" | "markdown" | "md" | "text");
    match inner.strip_suffix("```") {
        Some(inner) if is_text && !inner.contains("```") => inner.trim(),
        _ => answer,
    }
}

fn question_of(lines: &[&str]) -> String {
    let joined = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let mut text = without_bullet(joined.trim());
    for (open, close) in [("**", "**"), ("\"", "\""), ("“", "”"), ("`", "`")] {
        let inner = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
        text = inner.filter(|inner| !inner.contains(open)).unwrap_or(text);
    }
    text.trim().to_owned()
}

fn is_refusal(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "i'm sorry",
        "i am sorry",
        "sorry",
        "i can't",
        "i cannot",
        "i can not",
        "i'm unable",
        "i am unable",
        "i'm not able",
        "as an ai",
        "unfortunately",
        "i apologize",
        "i won't",
        "i do not have",
        "i don't have",
    ];
    let start: String = text.trim_start().chars().take(20).collect();
    let start = start.to_lowercase().replace('’', "'");
    STARTS.iter().any(|refusal| start.starts_with(refusal))
}

fn asks_back(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "could you please",
        "could you clarify",
        "can you clarify",
        "could you provide",
        "can you provide",
        "please provide",
        "please clarify",
        "please specify",
        "what do you mean",
        "can you please",
        "could you specify",
    ];
    let start: String = text.trim_start().chars().take(30).collect();
    let start = start.to_lowercase();
    STARTS.iter().any(|asking| start.starts_with(asking))
}

/// What the conversation adds to a question takes some words, not a page.
fn is_far_longer(question: &str, asked: &str) -> bool {
    const FREE_CHARS: usize = 400;
    question.chars().count() > 3 * asked.chars().count() + FREE_CHARS
}

fn keywords_of(sections: &Sections<'_>, max_keywords: usize, is_cut: bool) -> Vec<Keyword> {
    let mut listed: Vec<Vec<&str>> = Vec::new();
    let flat = match sections.keywords[..] {
        // One line without a bullet is a list of keywords, not one with its variations.
        [only] if without_bullet(only.trim()) == only.trim() => Some(only),
        _ => None,
    };
    for line in sections.inline_keywords.into_iter().chain(flat) {
        let line = line.trim().trim_matches(['[', ']']);
        listed.extend(line.split([',', ';']).map(|word| vec![word]));
    }
    if flat.is_none() {
        listed.extend(sections.keywords.iter().map(|line| pieces(without_bullet(line.trim()))));
    }
    if is_cut && let Some(last) = listed.last_mut() {
        // What was being written is no word yet.
        last.pop();
    }
    if listed.len() > MAX_LISTED {
        return Vec::new();
    }
    let mut keywords: Vec<Keyword> = Vec::new();
    for pieces in listed {
        if keywords.len() == max_keywords {
            break;
        }
        let mut words = pieces.into_iter().map(clean);
        // A line whose keyword is no word is no line.
        let Some(word) = words.next().filter(|word| is_keyword(word)) else { continue };
        if is_listed(&keywords, word) {
            continue;
        }
        let mut keyword = Keyword { word: word.to_owned(), variations: Vec::new() };
        for word in words.filter(|word| is_keyword(word)) {
            let is_known =
                is_listed(&keywords, word) || is_listed(std::slice::from_ref(&keyword), word);
            if !is_known && keyword.variations.len() < MAX_VARIATIONS {
                keyword.variations.push(word.to_owned());
            }
        }
        keywords.push(keyword);
    }
    keywords
}

fn is_listed(keywords: &[Keyword], word: &str) -> bool {
    keywords
        .iter()
        .any(|known| same(&known.word, word) || known.variations.iter().any(|v| same(v, word)))
}

/// A line of the list, without its mark.
fn without_bullet(line: &str) -> &str {
    for bullet in ["- [ ] ", "- ", "* ", "+ ", "• ", "– "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return without_bullet(rest.trim_start());
        }
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = &line[digits..];
    let rest = after.strip_prefix(". ").or_else(|| after.strip_prefix(") "));
    match rest {
        Some(rest) if (1..=3).contains(&digits) => rest.trim_start(),
        _ => line,
    }
}

/// A keyword and its variations: `a, b`, `a: b, c` or `a (b, c)`.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces: Vec<&str> = Vec::new();
    let mut rest = line;
    let inner =
        line.split_once(" (").and_then(|(word, inner)| Some((word, inner.strip_suffix(')')?)));
    if let Some((word, inner)) = inner.or_else(|| line.split_once(": ")) {
        pieces.push(word);
        rest = inner;
    }
    pieces.extend(rest.split([',', ';']));
    pieces
}

/// A word without what is written around it.
fn clean(word: &str) -> &str {
    let around = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '"' | '\'' | '“' | '”');
    let word = word.trim_matches(around);
    let word = word.trim_end_matches(['.', ':', '?', '!']).trim_matches(around);
    if let Some(inner) = word.strip_prefix('(') {
        inner.strip_suffix(')').unwrap_or(word)
    } else {
        word
    }
}

fn is_keyword(word: &str) -> bool {
    word.contains(char::is_alphanumeric)
        && !word.contains(char::is_control)
        && word.chars().count() <= MAX_KEYWORD_CHARS
        && word.split_whitespace().count() <= MAX_KEYWORD_WORDS
        && !is_only_stop_words(word)
        && !is_refusal(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ASKED: &str = "and where is that tested?";

    fn show(reply: Result<Reply, &'static str>) -> String {
        match reply {
            Err(reason) => format!("! {reason}"),
            Ok(Reply { question, keywords }) => {
                let keywords: Vec<String> = keywords
                    .into_iter()
                    .map(|k| [vec![k.word], k.variations].concat().join(","))
                    .collect();
                format!("{} | {}", question.unwrap_or_default(), keywords.join(" "))
            }
        }
    }

    #[track_caller]
    fn check(answer: &str, expect: &str) {
        assert_eq!(show(parse_reply(answer, ASKED, 8, usize::MAX)), expect, "{answer:?}");
        let crlf = answer.replace('\n', "\r\n");
        assert_eq!(
            show(parse_reply(&crlf, ASKED, 8, usize::MAX)),
            expect,
            "with CR LF: {answer:?}"
        );
    }

    #[test]
    fn the_form_of_an_answer_may_vary() {
        let expect = "Where is login tested? | login,sign in test,tests";
        for answer in [
            "## Question\nWhere is login tested?\n\n## Keywords\n- login, sign in\n- test, tests",
            "# Question\n\nWhere is login\ntested?\n# Keywords\n* login, sign in\n* test, tests\n",
            "**Question:** Where is login tested?\n**Keywords:**\n1. login, sign in\n2. test, tests",
            "**Question**\n\"Where is login tested?\"\n**Keywords**\n1) `login`, `sign in`\n2) `test`, `tests`",
            "Question: Where is login tested?\nKeywords:\n+ **login**, sign in.\n+ test; tests",
            "Sure!\n### Rephrased Question\n**Where is login tested?**\n### KEYWORDS (most relevant first):\n- login: sign in\n- test (tests)",
            "```markdown\n## Question\nWhere is login tested?\n## Keywords\n- login, sign in\n- test, tests\n```",
            "## Question\n- Where is login tested?\n## Keywords\n- login, sign in\n- test, tests\n## Notes\n- none",
        ] {
            check(answer, expect);
        }
        let flat = "Where is login tested? | login sign_in test";
        check("Question: Where is login tested?\nKeywords: login, sign_in, test", flat);
        check("# Question\nWhere is login tested?\n# Keywords\nlogin, sign_in; test", flat);
        check(
            "# Question\nWhere is login tested?\n# Keywords\n[\"login\", \"sign_in\", \"test\"]",
            flat,
        );
    }

    #[test]
    fn what_is_half_there_is_used() {
        check("## Keywords\n- std::vec, a/b.ts\n- foo()", " | std::vec,a/b.ts foo()");
        check("## Question\nWhere is login tested?", "Where is login tested? | ");
        check("## Question\n\n## Keywords\n", "! there is nothing below its headings");
        check(
            "## Question\nWhy?\n## Keywords\n- the\n- it, of\n- \n- ...\n- login",
            "Why? | login",
        );
        check(
            "## Question\nWhy?\n## Keywords\n- Login, LOGIN, sign in\n- login\n- sign in",
            "Why? | Login,sign in",
        );
    }

    #[test]
    fn the_order_is_kept_and_the_number_bounded() {
        let list: String = (0..12).map(|n| format!("- word{n}\n")).collect();
        let answer = format!("## Question\nWhy?\n## Keywords\n{list}");
        check(&answer, "Why? | word0 word1 word2 word3 word4 word5 word6 word7");
        let list: String = (0..51).map(|n| format!("- word{n}\n")).collect();
        check(&format!("## Question\nWhy?\n## Keywords\n{list}"), "Why? | ");
        let long = format!("- {}\n- one two three four five six\n- fine", "x".repeat(61));
        check(&format!("## Question\nWhy?\n## Keywords\n{long}"), "Why? | fine");
    }

    #[test]
    fn nonsense_is_nothing() {
        check("", "! it is empty");
        check(" \n ", "! it is empty");
        check("I'm sorry, I can't help with that.", "! it is a refusal");
        check("## Question\nI’m sorry, I can't.\n## Keywords\n- a1", "! it is a refusal");
        check("It is tested in tests/login.rs.", "! it has neither of the two headings");
        check("## Question\n```rust\nfn a() {}\n```", "! it answers the question");
        check(
            "## Question\nPlease provide the file.\n## Keywords\n",
            "! it asks for something in return",
        );
        let long =
            format!("## Question\n{}\n## Keywords\n- a1", "The login is tested. ".repeat(30));
        check(&long, "! it is no question");
        let told = "! it repeats what the model was told";
        check(&format!("## Question\n{}", prompt::EXAMPLE_QUESTION), told);
        check("## Question\nThe message as one question or request, in its own language", told);
        check(prompt::SYSTEM, "! it has neither of the two headings");
        check(&format!("## Question\n{} Go.", prompt::SYSTEM), told);
    }

    #[test]
    fn of_an_answer_that_was_cut_off_the_complete_part_counts() {
        let cases = [
            ("## Question\nWhere is log", "! it ends within the question"),
            ("## Question\nWhy?\n## Keywords\n- login, sign\n- passw", "Why? | login,sign"),
            ("## Question\nWhy?\n## Keywords\n- login, sign", "Why? | login"),
            ("## Question\nWhy?\n## Keywords\n- login, sign\n", "Why? | login,sign"),
            ("## Question\nWhy?\n## Keywords\n", "Why? | "),
            ("Question: Why?\nKeywords: login, pass", "Why? | login"),
            ("## Question\nWhy?\n## Keyw", "Why? | "),
        ];
        for (answer, expect) in cases {
            assert_eq!(show(parse_reply(answer, ASKED, 8, 0)), expect, "{answer:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_said_gives_sound_keywords(
            lines in prop::collection::vec(
                "(## |\\*\\*|- |1\\. |)(Question|Keywords|wörd|a_b|```)?[:,;*`#(\"' é\r.a-c]{0,12}",
                0..12,
            ),
            is_cut in any::<bool>(),
        ) {
            let answer = lines.join("\n");
            let max_tokens = if is_cut { 0 } else { usize::MAX };
            if let Ok(reply) = parse_reply(&answer, ASKED, 8, max_tokens) {
                prop_assert!(reply.question.is_some() || !reply.keywords.is_empty());
                prop_assert!(reply.keywords.len() <= 8);
                let mut seen: Vec<&str> = Vec::new();
                for keyword in &reply.keywords {
                    for word in std::iter::once(&keyword.word).chain(&keyword.variations) {
                        prop_assert!(word.contains(char::is_alphanumeric) && word.trim() == word);
                        prop_assert!(!seen.iter().any(|known| same(known, word)), "{} twice", word);
                        seen.push(word);
                    }
                }
            }
        }
    }
}
