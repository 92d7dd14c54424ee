//! The outline of a Markdown text: one section per heading, sub-sections inside.

use std::ops::Range;

use super::lines::Lines;
use super::outline::{Item, ItemKind, Outline};

/// Deepest heading.
const MAX_LEVEL: usize = 6;

/// A heading: its line, the first line of what follows, its level and its text.
struct Heading {
    line: usize,
    level: usize,
    name: String,
}

/// Sections, paragraphs and code blocks of the text.
pub(super) fn outline(lines: &Lines) -> Outline {
    let scan = Scan::new(lines);
    let mut items = Vec::new();
    let first = scan.headings.first().map_or(lines.n_lines(), |heading| heading.line);
    if first > 0 {
        let mut preamble = Item::plain(0..first);
        preamble.kind = ItemKind::Section;
        preamble.children = scan.blocks(0..first);
        items.push(preamble);
    }
    let mut at = 0;
    while at < scan.headings.len() {
        let (section, next) = scan.section(at, lines);
        items.push(section);
        at = next;
    }
    items.retain(|item| lines.n_filled(&item.lines) > 0);
    Outline { items, symbols: Vec::new() }
}

struct Scan {
    headings: Vec<Heading>,
    /// Per line, whether a block starts there: the line after a blank one, outside code and front matter.
    starts_block: Vec<bool>,
}

impl Scan {
    fn new(lines: &Lines) -> Self {
        let n_lines = lines.n_lines();
        let mut scan = Self { headings: Vec::new(), starts_block: vec![false; n_lines] };
        let mut fence: Option<(u8, usize)> = None;
        let mut line = front_matter(lines);
        let mut after_blank = true;
        while line < n_lines {
            let content = lines.line(line).trim_end();
            if let Some((mark, length)) = fence {
                if fence_of(content)
                    .is_some_and(|(m, n, rest)| m == mark && n >= length && rest.is_empty())
                {
                    fence = None;
                }
            } else if let Some((mark, length, _)) = fence_of(content) {
                fence = Some((mark, length));
                scan.starts_block[line] = true;
            } else if let Some((level, name)) = atx(content) {
                scan.headings.push(Heading { line, level, name });
            } else if let Some(level) = (!after_blank).then(|| setext(lines, line)).flatten() {
                let name = lines.line(line - 1).trim().to_owned();
                scan.headings.push(Heading { line: line - 1, level, name });
            } else {
                scan.starts_block[line] = after_blank && !content.is_empty();
            }
            after_blank = content.is_empty();
            line += 1;
        }
        scan
    }

    /// The section of heading `at` with all its sub-sections, and the heading after it.
    fn section(&self, at: usize, lines: &Lines) -> (Item, usize) {
        let heading = &self.headings[at];
        let end_of = |index: usize| self.headings.get(index).map_or(lines.n_lines(), |h| h.line);
        let mut children = self.blocks(heading.line + 1..end_of(at + 1));
        let mut next = at + 1;
        // Levels only rise on the way down, so this goes at most MAX_LEVEL deep.
        while next < self.headings.len() && self.headings[next].level > heading.level {
            debug_assert!(heading.level < MAX_LEVEL);
            let (child, after) = self.section(next, lines);
            children.push(child);
            next = after;
        }
        let item = Item {
            lines: heading.line..end_of(next),
            kind: ItemKind::Section,
            name: (!heading.name.is_empty()).then(|| heading.name.clone()),
            head: lines.bytes(&(heading.line..heading.line + 1)),
            children,
        };
        (item, next)
    }

    /// Paragraphs, lists and code blocks in `span`.
    fn blocks(&self, span: Range<usize>) -> Vec<Item> {
        let mut starts: Vec<usize> = span.clone().filter(|&line| self.starts_block[line]).collect();
        starts.push(span.end);
        starts.windows(2).map(|pair| Item::plain(pair[0]..pair[1])).collect()
    }
}

/// Number of lines of front matter at the top.
fn front_matter(lines: &Lines) -> usize {
    let mark = if lines.n_lines() == 0 { "" } else { lines.line(0).trim_end() };
    if mark != "---" && mark != "+++" {
        return 0;
    }
    (1..lines.n_lines())
        .find(|&line| {
            let content = lines.line(line).trim_end();
            content == mark || (mark == "---" && content == "...")
        })
        .map_or(0, |line| line + 1)
}

/// Mark, length and the rest of a line that opens or closes fenced code.
fn fence_of(content: &str) -> Option<(u8, usize, &str)> {
    let trimmed = content.trim_start_matches(' ');
    if content.len() - trimmed.len() > 12 {
        return None;
    }
    let mark = *trimmed.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = trimmed.bytes().take_while(|&byte| byte == mark).count();
    let rest = trimmed[length..].trim();
    (length >= 3 && !(mark == b'`' && rest.contains('`'))).then_some((mark, length, rest))
}

/// Level and text of `## Heading ##`.
fn atx(content: &str) -> Option<(usize, String)> {
    let trimmed = content.trim_start_matches(' ');
    if content.len() - trimmed.len() > 3 {
        return None;
    }
    let level = trimmed.bytes().take_while(|&byte| byte == b'#').count();
    let rest = &trimmed[level..];
    if !(1..=MAX_LEVEL).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let text = rest.trim();
    let closed = text.trim_end_matches('#');
    let text =
        if closed.is_empty() || closed.ends_with([' ', '\t']) { closed.trim_end() } else { text };
    Some((level, text.to_owned()))
}

/// Level of the heading whose underline is line `line`.
fn setext(lines: &Lines, line: usize) -> Option<usize> {
    let content = lines.line(line).trim_end();
    let mark = *content.as_bytes().first().filter(|mark| matches!(mark, b'=' | b'-'))?;
    if !content.bytes().all(|byte| byte == mark) || (mark == b'-' && content.len() < 2) {
        return None;
    }
    let above = lines.line(line - 1);
    let is_text = !above.trim_start().starts_with(['#', '>', '-', '*', '+', '|', '`', '~'])
        && !above.starts_with("    ")
        && !lines.is_blank(line - 1);
    is_text.then_some(if mark == b'=' { 1 } else { 2 })
}
