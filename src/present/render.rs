//! Hits to the text of a prompt for a language model.
//!
//! In: hits, best first. Out: one text. Each hit is a sentence that names the file and its lines, and a fenced block whose
//! first line is a comment with the place; the fence is longer than any run of backticks inside. Lines are 1-based and
//! inclusive. Of one file, lines that lie within those of another hit are shown once.
//!
//! A budget bounds the o200k tokens of the whole text, sentences and fences included, exactly. It is kept by leaving out
//! the least relevant hits, whole. If the best alone is too long it is cut at a line end, and only if not even its first
//! line fits is the text empty. Pure; never fails.
//!
//! Source: the prompt of VS Code Copilot Chat 0.34, whose sentence has no last line and whose order is worst first.

use super::comment::comment_style;
use crate::source::Language;
use crate::token::TokenCounter;

/// A fence of Markdown is at least so many backticks.
const MIN_FENCE: usize = 3;

/// One hit, to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderHit<'a> {
    /// Relative to its root, with `/` between its parts.
    pub path: &'a str,
    /// Path of its root; hits of one path in two roots are of two files.
    pub root: &'a str,
    /// What is written of its root before the path ([`root_name`]); `None` where there is but one root.
    pub root_name: Option<&'a str>,
    /// 1-based.
    pub start_line: u32,
    /// 1-based, inclusive.
    pub end_line: u32,
    /// Language id of `source`.
    pub language: &'a str,
    /// The lines.
    pub text: &'a str,
    /// Whether the lines are the whole file.
    pub is_whole_file: bool,
    /// Higher is better.
    pub score: f64,
}

/// Which hit comes first in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderOrder {
    /// The best.
    BestFirst,
    /// The least relevant; the best stands last, next to what follows in the prompt.
    BestLast,
}

/// How to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Which hit comes first.
    pub order: RenderOrder,
    /// Whether each sentence says the score.
    pub with_scores: bool,
    /// Most o200k tokens of the whole text; `None` for no bound.
    pub token_budget: Option<usize>,
}

/// The text, and what is missing in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The text; empty without hits.
    pub text: String,
    /// Exact o200k tokens of the text.
    pub tokens: usize,
    /// Blocks in the text.
    pub n_rendered: usize,
    /// Hits that the budget left out. A hit whose lines are shown with another's is not left out.
    pub n_omitted: usize,
    /// Lines that the only block lost to the budget.
    pub n_cut_lines: usize,
}

/// The shortest ending of `root`, in whole names, that none of the other `roots` has; all of it if there is none.
#[must_use]
pub fn root_name<'a>(root: &'a str, roots: &[&str]) -> &'a str {
    const SEPARATORS: [char; 2] = ['/', '\\'];
    let bare = root.trim_end_matches(SEPARATORS);
    let has_ending = |other: &str, ending: &str| {
        let before = other.trim_end_matches(SEPARATORS).strip_suffix(ending);
        before.is_some_and(|before| before.is_empty() || before.ends_with(SEPARATORS))
    };
    let endings = bare.rmatch_indices(SEPARATORS).map(|(at, _)| &bare[at + 1..]);
    let is_of_this_alone =
        |ending: &&str| !roots.iter().any(|&other| other != root && has_ending(other, ending));
    endings.filter(|ending| !ending.is_empty()).find(is_of_this_alone).unwrap_or(root)
}

/// Renders `hits`, which are ordered best first.
#[must_use]
pub fn render(hits: &[RenderHit<'_>], options: &RenderOptions) -> Rendered {
    let counter = TokenCounter::new();
    let budget = options.token_budget.unwrap_or(usize::MAX);
    let text_of = |n_hits: usize| text(&without_contained(&hits[..n_hits]), options);
    let fits = |n_hits: usize| counter.fits(&text_of(n_hits), budget);
    let n_hits = if fits(hits.len()) {
        hits.len()
    } else {
        // The text of more hits is longer but for a hit that takes in several; then one that fits is found all the same.
        let (mut fitting, mut too_many) = (0, hits.len());
        while too_many - fitting > 1 {
            let middle = fitting.midpoint(too_many);
            if fits(middle) {
                fitting = middle;
            } else {
                too_many = middle;
            }
        }
        fitting
    };
    let mut shown = without_contained(&hits[..n_hits]);
    let mut n_cut_lines = 0;
    if shown.is_empty()
        && let Some(&best) = hits.first()
        && let Some((cut, n_lines)) = cut(best, options, budget, &counter)
    {
        shown.push(cut);
        n_cut_lines = n_lines;
    }
    let text = text(&shown, options);
    let is_left_out = |hit: &&RenderHit<'_>| !shown.iter().any(|other| contains(other, hit));
    // The best that was cut is shown, whether or not its lines lie in those that are left.
    let from = n_hits.max(usize::from(n_cut_lines > 0));
    let n_left_out = hits[from..].iter().filter(is_left_out).count();
    Rendered {
        tokens: counter.count(&text),
        text,
        n_rendered: shown.len(),
        n_omitted: n_left_out,
        n_cut_lines,
    }
}

/// Whether all lines of `inner` are lines of `outer`.
fn contains(outer: &RenderHit<'_>, inner: &RenderHit<'_>) -> bool {
    outer.path == inner.path
        && outer.root == inner.root
        && (outer.is_whole_file
            || (!inner.is_whole_file
                && outer.start_line <= inner.start_line
                && inner.end_line <= outer.end_line))
}

/// The hits without those that lie in others. The one that holds others stands where the best of them stood.
fn without_contained<'a>(hits: &[RenderHit<'a>]) -> Vec<RenderHit<'a>> {
    let mut shown: Vec<RenderHit<'a>> = Vec::with_capacity(hits.len());
    for hit in hits {
        if shown.iter().any(|known| contains(known, hit)) {
            continue;
        }
        let place = shown.iter().position(|known| contains(hit, known));
        shown.retain(|known| !contains(hit, known));
        shown.insert(place.unwrap_or(shown.len()), *hit);
    }
    shown
}

/// The first lines of the only hit, as many as fit, and how many it lost.
fn cut<'a>(
    hit: RenderHit<'a>,
    options: &RenderOptions,
    budget: usize,
    counter: &TokenCounter,
) -> Option<(RenderHit<'a>, usize)> {
    let body = body(hit.text);
    let ends: Vec<usize> = body.match_indices('\n').map(|(at, _)| at).collect();
    let first = |n_lines: usize| RenderHit {
        text: &body[..ends[n_lines - 1]],
        end_line: hit.start_line.saturating_add(n_lines as u32 - 1),
        is_whole_file: false,
        ..hit
    };
    let numbers: Vec<usize> = (1..=ends.len()).collect();
    let n_lines = numbers.partition_point(|&n| counter.fits(&text(&[first(n)], options), budget));
    (n_lines > 0).then(|| (first(n_lines), ends.len() + 1 - n_lines))
}

fn text(hits: &[RenderHit<'_>], options: &RenderOptions) -> String {
    let mut text = String::new();
    let mut add = |hit: &RenderHit<'_>| {
        if !text.is_empty() {
            text.push('\n');
        }
        add_block(&mut text, hit, options.with_scores);
    };
    match options.order {
        RenderOrder::BestFirst => hits.iter().for_each(&mut add),
        RenderOrder::BestLast => hits.iter().rev().for_each(&mut add),
    }
    text
}

fn add_block(text: &mut String, hit: &RenderHit<'_>, with_score: bool) {
    let label = label(hit);
    let (start, end) = (hit.start_line, hit.end_line);
    let of_file = code_span(&label);
    let what = match (hit.is_whole_file, start == end) {
        (true, _) => format!("The whole file {of_file}"),
        (false, true) => format!("Line {start} of {of_file}"),
        (false, false) => format!("Lines {start} to {end} of {of_file}"),
    };
    let score = if with_score { format!(" (score {:.3})", hit.score) } else { String::new() };
    let comment =
        comment_style(hit.language).comment(&format!("filepath: {label}#L{start}-L{end}"));
    let body = body(hit.text);
    let longest = longest_run(body).max(longest_run(&comment));
    let fence = "`".repeat(MIN_FENCE.max(longest + 1));
    let language = fence_language(hit.language);
    text.push_str(&format!(
        "{what}{score} may bear on the question:\n{fence}{language}\n{comment}\n{body}\n{fence}\n"
    ));
}

/// A text without the line ends at its end.
fn body(text: &str) -> &str {
    text.trim_end_matches(['\n', '\r'])
}

/// The path with its root. A file name may hold line ends; they would end the sentence and the comment.
fn label(hit: &RenderHit<'_>) -> String {
    let root = hit.root_name.map(|name| format!("{name}/")).unwrap_or_default();
    let mut label = String::new();
    for c in root.chars().chain(hit.path.chars()) {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            label.extend(c.escape_default());
        } else {
            label.push(c);
        }
    }
    label
}

/// `text` in backticks, more of them where it has backticks itself.
fn code_span(text: &str) -> String {
    match longest_run(text) {
        0 => format!("`{text}`"),
        longest => {
            let ticks = "`".repeat(longest + 1);
            format!("{ticks} {text} {ticks}")
        }
    }
}

/// What is written after a fence; an id with other characters than these would not be understood as one.
fn fence_language(language: &str) -> &str {
    let is_id = |c: char| c.is_ascii_alphanumeric() || "+-#._".contains(c);
    if language == Language::PLAIN.name() || !language.chars().all(is_id) { "" } else { language }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hit<'a>(path: &'a str, lines: (u32, u32), text: &'a str) -> RenderHit<'a> {
        RenderHit {
            path,
            root: "/work/app",
            root_name: None,
            start_line: lines.0,
            end_line: lines.1,
            language: "rust",
            text,
            is_whole_file: false,
            score: 0.5,
        }
    }

    const ALL: RenderOptions =
        RenderOptions { order: RenderOrder::BestFirst, with_scores: false, token_budget: None };

    fn within(budget: usize) -> RenderOptions {
        RenderOptions { token_budget: Some(budget), ..ALL }
    }

    #[test]
    fn a_block_says_where_its_lines_are_from() {
        let hits = [
            hit("src/a.rs", (3, 4), "fn a() {\n}\n"),
            RenderHit {
                is_whole_file: true,
                language: "markdown",
                root_name: Some("app"),
                ..hit("README.md", (1, 3), "```sh\nx ````\n```")
            },
        ];
        let rendered = render(&hits, &RenderOptions { with_scores: true, ..ALL });
        assert_eq!(
            rendered.text,
            "Lines 3 to 4 of `src/a.rs` (score 0.500) may bear on the question:\n\
             ```rust\n// filepath: src/a.rs#L3-L4\nfn a() {\n}\n```\n\
             \n\
             The whole file `app/README.md` (score 0.500) may bear on the question:\n\
             `````markdown\n<!-- filepath: app/README.md#L1-L3 -->\n```sh\nx ````\n```\n`````\n"
        );
        assert_eq!(rendered.tokens, TokenCounter::new().count(&rendered.text));
        assert_eq!((rendered.n_rendered, rendered.n_omitted), (2, 0));
    }

    #[test]
    fn a_block_of_more_lines_than_its_numbers_say_may_be_cut() {
        let hits = [hit("a.rs", (1, 1), "alpha\nbeta\ngamma"), hit("b.rs", (1, 1), "delta")];
        let whole = render(&hits[..1], &ALL).tokens;
        let rendered = render(&hits, &within(whole - 1));
        assert_eq!((rendered.n_rendered, rendered.n_omitted), (1, 1));
        assert!(rendered.n_cut_lines > 0);
    }

    #[test]
    fn one_path_in_two_roots_is_two_files() {
        let roots = ["/a/x/app", "/b/x/app", "C:\\work\\lib"];
        let names = roots.map(|root| root_name(root, &roots));
        assert_eq!(names, ["a/x/app", "b/x/app", "lib"]);
        let in_root = |at: usize| RenderHit {
            root: roots[at],
            root_name: Some(names[at]),
            ..hit("main.rs", (1, 1), "x")
        };
        let rendered = render(&[in_root(0), in_root(1)], &ALL);
        assert_eq!(rendered.n_rendered, 2);
        assert!(rendered.text.contains("`a/x/app/main.rs`"), "{}", rendered.text);
        assert_eq!(root_name("/app", &["/app", "/x/app"]), "/app");
        assert_eq!(root_name("/x/app", &["/app", "/x/app"]), "x/app");
    }

    #[test]
    fn names_of_files_cannot_leave_their_place() {
        let text = render(&[hit("a`b\n# x.rs", (1, 1), "x")], &ALL).text;
        assert!(text.starts_with("Line 1 of `` a`b\\n# x.rs `` may"), "{text}");
        assert_eq!(text.lines().count(), 5);
    }

    #[test]
    fn the_best_is_never_the_one_that_is_left_out() {
        let hits = [
            hit("a.rs", (1, 2), "alpha beta\ngamma"),
            hit("b.rs", (1, 1), "delta"),
            hit("c.rs", (1, 1), "epsilon"),
        ];
        let all = render(&hits, &ALL);
        for order in [RenderOrder::BestFirst, RenderOrder::BestLast] {
            let mut n_before = 0;
            for budget in 0..=all.tokens {
                let rendered = render(&hits, &RenderOptions { order, ..within(budget) });
                assert!(rendered.tokens <= budget);
                assert_eq!(rendered.tokens, TokenCounter::new().count(&rendered.text));
                assert_eq!(rendered.n_rendered + rendered.n_omitted, hits.len());
                assert_eq!(rendered.n_rendered > 0, rendered.text.contains("a.rs"));
                assert!(rendered.n_rendered >= n_before, "more room, fewer hits");
                n_before = rendered.n_rendered;
            }
            assert_eq!(n_before, 3);
        }
        let last = render(&hits, &RenderOptions { order: RenderOrder::BestLast, ..ALL }).text;
        let place = |name: &str| last.find(name).unwrap();
        assert!(place("c.rs") < place("b.rs") && place("b.rs") < place("a.rs"));
    }

    #[test]
    fn the_only_hit_that_has_room_is_cut_at_a_line_end() {
        let text = "let a = 1;\n".repeat(200);
        let whole = RenderHit { is_whole_file: true, ..hit("a.rs", (11, 210), &text) };
        let rendered = render(&[whole, hit("b.rs", (1, 1), "x")], &within(100));
        assert!(rendered.tokens <= 100 && rendered.tokens > 80, "{}", rendered.tokens);
        assert_eq!((rendered.n_rendered, rendered.n_omitted), (1, 1));
        let n_lines = 200 - rendered.n_cut_lines;
        let end = 10 + n_lines;
        assert!(rendered.text.starts_with(&format!("Lines 11 to {end} of `a.rs`")));
        assert_eq!(rendered.text.matches("let a").count(), n_lines);
        let nothing = render(&[whole], &within(10));
        assert_eq!(nothing, Rendered { n_omitted: 1, ..Rendered::default() });
        assert_eq!(render(&[], &within(10)), Rendered::default());
    }

    /// Path and first line of each block.
    type Places<'a> = &'a [(&'a str, u32)];

    #[test]
    fn lines_are_shown_once() {
        let file = |path| RenderHit { is_whole_file: true, ..hit(path, (1, 99), "all") };
        let cases: &[(&[RenderHit<'_>], Places<'_>)] = &[
            (&[hit("a", (1, 9), "x"), hit("a", (2, 3), "y")], &[("a", 1)]),
            (
                &[hit("a", (2, 3), "y"), hit("b", (1, 1), "z"), hit("a", (1, 9), "x")],
                &[("a", 1), ("b", 1)],
            ),
            (&[hit("a", (2, 3), "y"), hit("a", (3, 4), "y")], &[("a", 2), ("a", 3)]),
            (&[hit("a", (2, 3), "y"), hit("b", (2, 3), "y")], &[("a", 2), ("b", 2)]),
            (&[hit("a", (2, 3), "y"), hit("a", (5, 6), "y"), file("a")], &[("a", 1)]),
            (&[file("a"), file("a")], &[("a", 1)]),
        ];
        for (hits, expect) in cases {
            let shown: Vec<(&str, u32)> =
                without_contained(hits).iter().map(|hit| (hit.path, hit.start_line)).collect();
            assert_eq!(shown, *expect);
            assert_eq!(render(hits, &ALL).n_omitted, 0);
        }
    }

    proptest! {
        #[test]
        fn a_budget_is_kept_and_the_best_is_shown(
            hits in prop::collection::vec((0usize..3, 1u32..6, 0u32..6, "[a`\n é]{0,30}"), 1..6),
            budget in 0usize..300,
            best_last in any::<bool>(),
        ) {
            let names = ["a.rs", "b.rs", "c.rs"];
            let hits: Vec<RenderHit<'_>> = hits
                .iter()
                .map(|(name, start, n, text)| hit(names[*name], (*start, start + n), text))
                .collect();
            let order = if best_last { RenderOrder::BestLast } else { RenderOrder::BestFirst };
            let rendered = render(&hits, &RenderOptions { order, ..within(budget) });
            prop_assert!(rendered.tokens <= budget);
            prop_assert_eq!(rendered.tokens, TokenCounter::new().count(&rendered.text));
            prop_assert!(rendered.n_rendered + rendered.n_omitted <= hits.len());
            if rendered.n_rendered > 0 {
                prop_assert!(rendered.text.contains(hits[0].path));
            } else {
                prop_assert_eq!((rendered.text.as_str(), rendered.n_cut_lines), ("", 0));
                prop_assert!(rendered.n_omitted >= 1);
            }
        }
    }
}
