//! Outlines of data files by their looks: indentation for JSON, YAML and markup, table headers for TOML and INI.
//!
//! What stands deeper belongs to the shallower line before it. This asks nothing of the syntax, so it holds for JSON
//! with comments, templated YAML and broken files alike; files that put everything on a few lines are cut by tokens.

use std::ops::Range;

use super::lines::Lines;
use super::outline::{Item, ItemKind, Outline};

/// Levels of indentation that are followed.
const MAX_DEPTH: usize = 24;

/// A longer key is no key.
const MAX_KEY_BYTES: usize = 120;

/// Keys of a JSON or YAML text, nested where a value does not fit into one chunk.
pub(super) fn by_indentation(lines: &Lines) -> Outline {
    let all = lines.trimmed(&(0..lines.n_lines()));
    Outline { items: indented(lines, all, 0), symbols: Vec::new() }
}

/// Elements of an HTML or XML text: as [`by_indentation`], without names.
pub(super) fn markup(lines: &Lines, span: Range<usize>) -> Vec<Item> {
    let mut items = indented(lines, lines.trimmed(&span), 0);
    unname(&mut items);
    items
}

fn unname(items: &mut [Item]) {
    for item in items {
        item.kind = ItemKind::Other;
        item.name = None;
        unname(&mut item.children);
    }
}

/// Items of `span`: each starts at a line of least indentation and holds the deeper lines after it. Brackets alone on
/// the outermost level are stepped over.
fn indented(lines: &Lines, span: Range<usize>, depth: usize) -> Vec<Item> {
    if depth > MAX_DEPTH || span.is_empty() {
        return Vec::new();
    }
    let filled = || span.clone().filter(|&line| !lines.is_blank(line));
    let Some(least) = filled().map(|line| lines.indent(line)).min() else { return Vec::new() };
    let is_closer = |line: usize| lines.line(line).trim_start().starts_with(['}', ']', ')']);
    let starts: Vec<usize> = filled()
        .filter(|&line| lines.indent(line) == least && !(is_closer(line) && line > span.start))
        .collect();
    if let [only] = starts.as_slice() {
        // One outermost line: what it holds are the items.
        return indented_inside(lines, *only..span.end, depth);
    }
    let mut bounds = starts;
    bounds.push(span.end);
    bounds
        .windows(2)
        .map(|pair| {
            let item_lines = lines.trimmed(&(pair[0]..pair[1]));
            let name = key(lines.line(pair[0]));
            let kind = if name.is_some() { ItemKind::Value } else { ItemKind::Other };
            let children = if lines.fit(&item_lines) {
                Vec::new()
            } else {
                indented_inside(lines, item_lines.clone(), depth + 1)
            };
            Item { kind, name, children, ..Item::plain(item_lines) }
        })
        .collect()
}

/// Items below the first line of `span`.
fn indented_inside(lines: &Lines, span: Range<usize>, depth: usize) -> Vec<Item> {
    let own = lines.indent(span.start);
    let mut end = span.end;
    while end > span.start + 1 && (lines.is_blank(end - 1) || lines.indent(end - 1) <= own) {
        end -= 1;
    }
    indented(lines, span.start + 1..end, depth + 1)
}

/// The key of `"key": …`, `key: …`, `- key: …` or `key = …`.
fn key(line: &str) -> Option<String> {
    let content = line.trim_start().trim_start_matches("- ").trim_start();
    let (key, _) = if let Some(quoted) = content.strip_prefix('"') {
        let (key, rest) = quoted.split_once('"')?;
        (key, rest.trim_start().strip_prefix(':')?)
    } else {
        content.split_once([':', '='])?
    };
    let key = key.trim().trim_matches(['"', '\'']);
    let is_key = !key.is_empty()
        && key.len() <= MAX_KEY_BYTES
        && !key.starts_with(['#', '{', '[', '<'])
        && key.bytes().filter(|byte| byte.is_ascii_whitespace()).count() < 4;
    is_key.then(|| key.to_owned())
}

/// Tables of a TOML or INI text, keys within them.
pub(super) fn tables(lines: &Lines) -> Outline {
    let mut items: Vec<Item> = Vec::new();
    let mut in_string = false;
    let mut start = 0;
    for line in 0..lines.n_lines() {
        let content = lines.line(line).trim();
        let n_quotes = content.matches("\"\"\"").count() + content.matches("'''").count();
        let opens_table = !in_string
            && content.starts_with('[')
            && content.contains(']')
            && !lines.line(line).starts_with([' ', '\t']);
        in_string ^= n_quotes % 2 == 1;
        if opens_table {
            // Comments directly above belong to the table.
            let mut first = line;
            while first > start && lines.line(first - 1).trim_start().starts_with(['#', ';']) {
                first -= 1;
            }
            close_table(lines, start..first, &mut items);
            start = first;
        }
    }
    close_table(lines, start..lines.n_lines(), &mut items);
    Outline { items, symbols: Vec::new() }
}

fn close_table(lines: &Lines, span: Range<usize>, items: &mut Vec<Item>) {
    let span = lines.trimmed(&span);
    if span.is_empty() {
        return;
    }
    let header = span
        .clone()
        .map(|line| lines.line(line).trim())
        .find(|line| !line.starts_with(['#', ';']) && !line.is_empty());
    let name = header
        .filter(|header| header.starts_with('['))
        .and_then(|header| header.split(']').next())
        .map(|header| header.trim_start_matches('[').trim().to_owned())
        .filter(|name| !name.is_empty() && name.len() <= MAX_KEY_BYTES);
    let mut item = Item::plain(span.clone());
    if name.is_some() {
        item.kind = ItemKind::Value;
    }
    item.name = name;
    if !lines.fit(&span) {
        item.children = indented(lines, span, 0);
    }
    items.push(item);
}
