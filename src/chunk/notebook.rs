//! The outline of a Jupyter notebook: one item per cell.
//!
//! Chunks are slices of the file, so their text is the JSON of the cell, outputs included; lines are those of the file.
//! An image in an output is one line of base64, of which only the first piece becomes a chunk
//! ([`super::lines::Lines::pieces`]).

use super::lines::Lines;
use super::outline::{Item, ItemKind, Outline, Symbol};

/// Cells, each with the names it defines; none if the text is not laid out as Jupyter writes it.
pub(super) fn outline(lines: &Lines) -> Option<Outline> {
    let cells = (0..lines.n_lines()).find(|&line| {
        let content = lines.line(line).trim();
        content.starts_with("\"cells\"") && content.ends_with('[')
    })?;
    let own = lines.indent(cells);
    let is_cell = |line: usize| lines.line(line).trim() == "{" && lines.indent(line) > own;
    let first = cells + 1;
    let depth = (first < lines.n_lines() && is_cell(first)).then(|| lines.indent(first))?;
    let mut items = Vec::new();
    let mut symbols = Vec::new();
    let mut start = None;
    for line in first..lines.n_lines() {
        if lines.is_blank(line) || lines.indent(line) > depth {
            continue;
        }
        let content = lines.line(line).trim();
        if lines.indent(line) < depth {
            break;
        }
        if content == "{" {
            start = Some(line);
        } else if let Some(start) = start.take() {
            items.push(cell(lines, start..line + 1, &mut symbols));
        }
    }
    Some(Outline { items, symbols })
}

fn cell(lines: &Lines, span: std::ops::Range<usize>, symbols: &mut Vec<Symbol>) -> Item {
    let mut item = Item::plain(span.clone());
    let mut is_markdown = false;
    for line in span.clone() {
        let content = lines.line(line).trim_start();
        is_markdown |= content.starts_with("\"cell_type\": \"markdown\"");
        // A source line: `"def name(…):\n",`, also right after `"source": [`.
        let Some(source) = content.strip_prefix('"') else { continue };
        if is_markdown && item.name.is_none() && source.starts_with('#') {
            let heading = source.trim_start_matches('#').split(['"', '\\']).next().unwrap_or("");
            item.name = Some(heading.trim().to_owned()).filter(|name| !name.is_empty());
        }
        let definition = ["def ", "async def ", "class "]
            .iter()
            .find_map(|keyword| source.strip_prefix(keyword));
        if let Some(rest) = definition.filter(|_| !is_markdown) {
            let is_letter = |c: char| c.is_alphanumeric() || c == '_';
            let name: String = rest.chars().take_while(|&c| is_letter(c)).collect();
            if !name.is_empty() {
                symbols.push(Symbol { offset: lines.bytes(&(line..line + 1)).start, name });
            }
        }
    }
    item.kind = if is_markdown { ItemKind::Section } else { ItemKind::Value };
    item
}
