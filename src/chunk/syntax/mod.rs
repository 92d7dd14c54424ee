//! Outlines of source code, by tree-sitter grammars and a table per language.
//!
//! Parsing is bounded: only texts up to [`MAX_PARSE_BYTES`] are parsed, a long one only after its first part has
//! turned out to be mostly of its language, and every parse stops at a deadline. What cannot be parsed has no outline.

mod clock;
mod define;
mod extract;
mod grammar;
pub(super) mod languages;
mod special;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Duration;

use tree_sitter::{Node, ParseOptions, Parser, Point, Range as SyntaxRange, Tree};

use self::clock::Deadline;
use self::define::Definer;
pub(super) use self::grammar::Grammar;
use super::lines::Lines;
use super::outline::Outline;

/// Longer texts are generated, and parsing them costs a third of a second.
const MAX_PARSE_BYTES: usize = 1_200_000;

/// Texts longer than this are probed by their first part: in a text that is not of its language, recovery takes ten
/// times as long as parsing.
const PROBE_ABOVE_BYTES: usize = 128 * 1024;
const PROBE_BYTES: usize = 16 * 1024;

/// Work of the thread for any parse, and more for each kilobyte: fifteen times what real code takes.
const PARSE_TIME: Duration = Duration::from_secs(1);
const PARSE_TIME_PER_KB: Duration = Duration::from_millis(1);

/// Bytes handed to the parser at a time, so that the deadline is looked at in recovery too.
const READ_BYTES: usize = 4096;

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// The outline of `ranges` of the text, or of all of it; none if it cannot be parsed in time or is not of that
/// language.
pub(super) fn outline(
    grammar: &'static Grammar,
    stem: &str,
    lines: &Lines,
    ranges: &[std::ops::Range<usize>],
) -> Option<Outline> {
    let text = lines.text();
    if text.len() > MAX_PARSE_BYTES {
        return None;
    }
    let ready = grammar.ready();
    let tree = PARSER.with_borrow_mut(|parser| {
        parser.set_language(&ready.language).ok()?;
        let included: Vec<SyntaxRange> =
            ranges.iter().map(|range| syntax_range(lines, range)).collect();
        parser.set_included_ranges(&included).ok()?;
        if text.len() > PROBE_ABOVE_BYTES && ranges.is_empty() {
            let end = lines.bytes(&(0..lines.line_of(PROBE_BYTES).max(1))).end;
            let probe = &text[..end.min(2 * PROBE_BYTES)];
            let tree = parse(parser, probe.as_bytes())?;
            if is_foreign(tree.root_node()) {
                return None;
            }
        }
        parse(parser, text.as_bytes())
    })?;
    if is_foreign(tree.root_node()) {
        return None;
    }
    let definer = Definer { text, grammar, ready, stem };
    Some(extract::outline(definer, lines, &tree))
}

/// Nodes of the tree of `text`; 0 if it cannot be parsed in time.
pub(super) fn count_nodes(grammar: &'static Grammar, text: &str) -> usize {
    if text.len() > MAX_PARSE_BYTES {
        return 0;
    }
    PARSER.with_borrow_mut(|parser| {
        let is_set = parser.set_language(&grammar.ready().language).is_ok();
        let tree = is_set.then(|| parse(parser, text.as_bytes())).flatten();
        tree.map_or(0, |tree| tree.root_node().descendant_count())
    })
}

/// Parses until the deadline. After it the reader reports the end of the text, which ends recovery as well; the tree is
/// then worthless.
fn parse(parser: &mut Parser, text: &[u8]) -> Option<Tree> {
    let budget = PARSE_TIME + PARSE_TIME_PER_KB * u32::try_from(text.len() / 1024).unwrap_or(0);
    let deadline = Deadline::new(budget);
    let mut is_late = false;
    let mut read = |offset: usize, _: Point| -> &[u8] {
        is_late = is_late || deadline.is_over();
        if is_late {
            &[]
        } else {
            &text[offset.min(text.len())..(offset + READ_BYTES).min(text.len())]
        }
    };
    let mut progress = |_: &tree_sitter::ParseState| {
        if deadline.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    if tree.is_none() {
        parser.reset();
    }
    tree.filter(|_| !is_late)
}

fn syntax_range(lines: &Lines, range: &std::ops::Range<usize>) -> SyntaxRange {
    let point = |at: usize| {
        let row = lines.line_of(at);
        Point { row, column: at - lines.bytes(&(row..row + 1)).start }
    };
    SyntaxRange {
        start_byte: range.start,
        end_byte: range.end,
        start_point: point(range.start),
        end_point: point(range.end),
    }
}

/// Whether hardly anything in the tree is code: the root is an error, or errors among its children cover most of it
/// and hold nothing but errors.
fn is_foreign(root: Node) -> bool {
    if !root.has_error() {
        return false;
    }
    let mut bad = 0;
    let mut cursor = root.walk();
    let children = root.children(&mut cursor).take(100_000);
    for child in children {
        if child.is_error()
            && child.named_child_count() * 200 < child.end_byte() - child.start_byte()
        {
            bad += child.end_byte() - child.start_byte();
        }
    }
    let all = root.end_byte() - root.start_byte();
    all > 1000 && 2 * bad > all
}
