//! The outline of a single-file component (Vue, Svelte, Astro): scripts by their grammar, the rest by indentation.

use std::ops::Range;

use super::data;
use super::lines::Lines;
use super::outline::{Item, ItemKind, Outline};
use super::syntax::{self, languages};

/// A top-level part of the file.
struct Part {
    tag: Tag,
    /// Lines with the opening and the closing tag.
    lines: Range<usize>,
    /// Bytes between the tags.
    inner: Range<usize>,
    is_typescript: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Script,
    Style,
    Template,
}

/// Script definitions at their lines in the file, template and style as items of their own.
pub(super) fn outline(lines: &Lines, stem: &str) -> Outline {
    let parts = parts(lines);
    let mut outline = scripts(lines, &parts, stem);
    let all = 0..lines.n_lines();
    if lines.fit(&all) {
        outline.items = vec![template(lines, all, stem)];
        return outline;
    }
    let mut items = std::mem::take(&mut outline.items);
    let mut covered = 0;
    let mut rest = Vec::new();
    for part in &parts {
        rest.push(covered..part.lines.start.max(covered));
        covered = part.lines.end;
        match part.tag {
            Tag::Script => script_frame(lines, part, &mut items),
            Tag::Style => items.push(Item {
                children: data::markup(lines, part.lines.clone()),
                ..Item::plain(part.lines.clone())
            }),
            Tag::Template => items.push(template(lines, part.lines.clone(), stem)),
        }
    }
    rest.push(covered..lines.n_lines());
    // In Svelte and Astro the markup stands between the parts.
    for span in rest {
        let span = lines.trimmed(&span);
        let is_comment = lines.slice(&span).trim_start().starts_with("<!--") && span.len() < 4;
        if is_comment {
            items.push(Item::plain(span));
        } else if !span.is_empty() {
            items.push(template(lines, span, stem));
        }
    }
    items.sort_by_key(|item| (item.lines.start, item.lines.end));
    outline.items = items;
    outline
}

fn template(lines: &Lines, span: Range<usize>, stem: &str) -> Item {
    let children = if lines.fit(&span) { Vec::new() } else { data::markup(lines, span.clone()) };
    Item { kind: ItemKind::Component, name: Some(stem.to_owned()), children, ..Item::plain(span) }
}

/// The lines of the tags around a script.
fn script_frame(lines: &Lines, part: &Part, items: &mut Vec<Item>) {
    let first = lines.line_of(part.inner.start);
    items.push(Item::plain(part.lines.start..first.max(part.lines.start) + 1));
    let last = lines.line_of(part.inner.end);
    if last > first {
        items.push(Item::plain(last..part.lines.end.max(last)));
    }
}

/// One parse over all scripts; TypeScript if any of them says so (its grammar reads JavaScript too).
fn scripts(lines: &Lines, parts: &[Part], stem: &str) -> Outline {
    let scripts = || parts.iter().filter(|part| part.tag == Tag::Script);
    let ranges: Vec<Range<usize>> =
        scripts().map(|part| part.inner.clone()).filter(|inner| !inner.is_empty()).collect();
    let is_typescript = scripts().any(|part| part.is_typescript);
    let name = if is_typescript { "typescript" } else { "javascript" };
    if ranges.is_empty() {
        return Outline::default();
    }
    languages::grammar("", name)
        .and_then(|grammar| syntax::outline(grammar, stem, lines, &ranges))
        .unwrap_or_default()
}

/// Top-level `<script>`, `<style>` and `<template>`, and Astro's fenced script at the top.
fn parts(lines: &Lines) -> Vec<Part> {
    let text = lines.text();
    let mut parts = Vec::new();
    let mut line = 0;
    if lines.n_lines() > 0 && lines.line(0).trim_end() == "---" {
        let end = (1..lines.n_lines()).find(|&line| lines.line(line).trim_end() == "---");
        if let Some(end) = end {
            let inner = lines.bytes(&(1..end));
            parts.push(Part { tag: Tag::Script, lines: 0..end + 1, inner, is_typescript: true });
            line = end + 1;
        }
    }
    while line < lines.n_lines() {
        match part_at(lines, text, line) {
            Some(part) => {
                line = part.lines.end;
                parts.push(part);
            }
            None => line += 1,
        }
    }
    parts
}

/// The part whose opening tag starts line `line`.
fn part_at(lines: &Lines, text: &str, line: usize) -> Option<Part> {
    let content = lines.line(line);
    let (tag, name) = [(Tag::Script, "script"), (Tag::Style, "style"), (Tag::Template, "template")]
        .into_iter()
        .find(|(_, name)| {
            content
                .strip_prefix('<')
                .and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with(['>', ' ', '\t', '\r', '\n', '/']))
        })?;
    let start = lines.bytes(&(line..line + 1)).start;
    let open_end = start + tag_end(&text[start..])?;
    let opening = &text[start..open_end];
    let is_typescript = opening.contains("\"ts\"")
        || opening.contains("'ts'")
        || opening.contains("\"tsx\"")
        || opening.contains("typescript");
    if opening.ends_with("/>") {
        let part_lines = lines.touched(start..open_end);
        return Some(Part { tag, lines: part_lines, inner: open_end..open_end, is_typescript });
    }
    let close = closing(&text[open_end..], name, tag == Tag::Template)? + open_end;
    let close_end = text[close..].find('>').map_or(text.len(), |at| close + at + 1);
    let part_lines = lines.touched(start..close_end);
    Some(Part { tag, lines: part_lines, inner: open_end..close, is_typescript })
}

/// One past the `>` that ends an opening tag; a `>` in quotes does not.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().take(4096) {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            None if byte == b'>' => return Some(at + 1),
            None => {}
        }
    }
    None
}

/// Where the closing tag starts. That of a template stands at the start of a line, as templates nest.
fn closing(text: &str, name: &str, at_line_start: bool) -> Option<usize> {
    let mut from = 0;
    let mut last = None;
    while let Some(at) = text[from..].find("</") {
        let at = from + at;
        if text[at + 2..].starts_with(name) {
            last = Some(at);
            if !at_line_start || at == 0 || text.as_bytes()[at - 1] == b'\n' {
                return last;
            }
        }
        from = at + 2;
    }
    last
}
