//! From a syntax tree to an outline.
//!
//! Goes down only into containers and into what does not fit into one chunk, and never deeper than [`MAX_DEPTH`]; what
//! lies below is cut at lines.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::define::{Definer, Definition, Meaning, Scope};
use crate::chunk::lines::Lines;
use crate::chunk::outline::{Item, ItemKind, Outline, Symbol};

/// Nesting that is followed. Deeper code is cut at lines.
const MAX_DEPTH: usize = 60;

/// A head is a hint for ranking, not a text.
const MAX_HEAD_BYTES: usize = 1000;

/// The outline of `tree`.
pub(super) fn outline(definer: Definer, lines: &Lines, tree: &Tree) -> Outline {
    let mut extractor = Extractor { definer, lines, symbols: Vec::new() };
    let items = extractor.collect(tree.root_node(), Scope::Top, 0);
    let mut symbols = extractor.symbols;
    symbols.sort_by_key(|symbol| symbol.offset);
    Outline { items, symbols }
}

struct Extractor<'a> {
    definer: Definer<'a>,
    lines: &'a Lines<'a>,
    symbols: Vec<Symbol>,
}

/// Comments and attributes waiting for the node they belong to.
#[derive(Default)]
struct Waiting {
    start: Option<usize>,
    end: usize,
    /// Attributes belong to the next node whatever stands between.
    is_bound: bool,
}

impl Extractor<'_> {
    /// The items among the children of `node`, transparent ones opened.
    fn collect(&mut self, node: Node, scope: Scope, depth: usize) -> Vec<Item> {
        let mut items = Vec::new();
        let mut waiting = Waiting::default();
        self.collect_into(node, scope, depth, &mut items, &mut waiting);
        self.release(&mut waiting, &mut items);
        if self.definer.grammar.merges_same_name {
            merge_same_name(&mut items);
        }
        items
    }

    fn collect_into(
        &mut self,
        node: Node,
        scope: Scope,
        depth: usize,
        items: &mut Vec<Item>,
        waiting: &mut Waiting,
    ) {
        let mut cursor = node.walk();
        if !cursor.goto_first_child() {
            return;
        }
        loop {
            let child = cursor.node();
            if child.is_named() && child.start_byte() < child.end_byte() {
                match self.definer.meaning(child, scope) {
                    Meaning::Body if depth < MAX_DEPTH => {
                        self.collect_into(child, scope, depth + 1, items, waiting);
                    }
                    Meaning::Comment => self.wait(child, false, items, waiting),
                    Meaning::Attribute => self.wait(child, true, items, waiting),
                    Meaning::Definition(definition) => {
                        let start = self.start_of(child, items, waiting);
                        let item = self.definition(child, start, definition, scope, depth);
                        items.push(item);
                    }
                    Meaning::Body | Meaning::Plain => {
                        let start = self.start_of(child, items, waiting);
                        let item = self.plain(child, start, depth);
                        items.push(item);
                    }
                }
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }

    /// Notes a comment or attribute; one behind code on the same line belongs to that code.
    fn wait(&self, node: Node, is_bound: bool, items: &mut Vec<Item>, waiting: &mut Waiting) {
        let line = self.lines.line_of(node.start_byte());
        if !is_bound
            && items.last().is_some_and(|last| last.lines.end > line)
            && waiting.start.is_none()
        {
            return;
        }
        if waiting.start.is_some() && !waiting.is_bound && !self.is_adjacent(waiting, line) {
            self.release(waiting, items);
        }
        waiting.start.get_or_insert(node.start_byte());
        waiting.end = node.end_byte();
        waiting.is_bound |= is_bound;
    }

    /// Whether no blank line lies between what waits and line `line`.
    fn is_adjacent(&self, waiting: &Waiting, line: usize) -> bool {
        let start = waiting.start.unwrap_or(waiting.end);
        let after = self.lines.touched(start..waiting.end).end;
        (after..line).all(|between| !self.lines.is_blank(between))
    }

    /// Turns what waits into an item of its own.
    fn release(&self, waiting: &mut Waiting, items: &mut Vec<Item>) {
        if let Some(start) = waiting.start.take() {
            items.push(Item::plain(self.lines.touched(start..waiting.end)));
        }
        *waiting = Waiting::default();
    }

    /// Where `node` starts with what belongs to it.
    fn start_of(&self, node: Node, items: &mut Vec<Item>, waiting: &mut Waiting) -> usize {
        let line = self.lines.line_of(node.start_byte());
        if waiting.start.is_some() && !waiting.is_bound && !self.is_adjacent(waiting, line) {
            self.release(waiting, items);
        }
        let start = waiting.start.unwrap_or(node.start_byte());
        *waiting = Waiting::default();
        start
    }

    fn definition(
        &mut self,
        node: Node,
        start: usize,
        definition: Definition,
        scope: Scope,
        depth: usize,
    ) -> Item {
        let lines = self.lines.touched(start..node.end_byte());
        let Definition { mut kind, name, symbols, inner, may_be_class } = definition;
        if kind == ItemKind::Namespace && !self.has_body(inner) {
            // `namespace a;`, `package a`, `mod a;` say where things are and define nothing.
            return Item::plain(lines);
        }
        let is_named_kind = kind.is_definition() || scope != Scope::Local;
        if is_named_kind {
            self.symbols.extend(symbols);
        }
        let (first_body, head_end) = self.head_end(node, inner, kind);
        let head = self.clipped(start..head_end);
        let inner_scope = match kind {
            ItemKind::Class | ItemKind::Type => Scope::Class,
            ItemKind::Namespace => scope,
            _ => Scope::Local,
        };
        let opens = matches!(kind, ItemKind::Class | ItemKind::Type | ItemKind::Namespace);
        let mut children = Vec::new();
        if depth < MAX_DEPTH && (opens || !self.lines.fit(&lines)) {
            let n_symbols = self.symbols.len();
            if first_body {
                children = self.members(inner, inner_scope, depth + 1);
            }
            if children.is_empty() && !opens {
                self.symbols.truncate(n_symbols);
                children = self.collect(inner, inner_scope, depth + 1);
                self.splice(&mut children, &lines);
            }
        }
        if may_be_class && children.iter().any(|child| child.kind == ItemKind::Function) {
            kind = ItemKind::Class;
        }
        Item { lines, kind, name, head, children }
    }

    /// Children of a definition: what stands in its bodies, and definitions that stand outside of one.
    fn members(&mut self, node: Node, scope: Scope, depth: usize) -> Vec<Item> {
        if matches!(self.definer.meaning(node, scope), Meaning::Body) {
            return self.collect(node, scope, depth);
        }
        let mut items = Vec::new();
        let mut waiting = Waiting::default();
        let mut cursor = node.walk();
        let children: Vec<Node> = node.named_children(&mut cursor).collect();
        for child in children {
            match self.definer.meaning(child, scope) {
                Meaning::Body => {
                    self.collect_into(child, scope, depth, &mut items, &mut waiting);
                    self.release(&mut waiting, &mut items);
                }
                Meaning::Definition(definition) if scope != Scope::Local => {
                    let start = child.start_byte();
                    let item = self.definition(child, start, definition, scope, depth);
                    items.push(item);
                }
                _ => {}
            }
        }
        if self.definer.grammar.merges_same_name {
            merge_same_name(&mut items);
        }
        items
    }

    fn has_body(&self, node: Node) -> bool {
        let is_body = |node| matches!(self.definer.meaning(node, Scope::Class), Meaning::Body);
        let mut cursor = node.walk();
        is_body(node) || node.named_children(&mut cursor).any(is_body)
    }

    /// Whether `inner` has a body, and where the signature ends.
    fn head_end(&self, node: Node, inner: Node, kind: ItemKind) -> (bool, usize) {
        let scope = Scope::Class;
        if matches!(self.definer.meaning(inner, scope), Meaning::Body) {
            return (true, inner.start_byte());
        }
        let mut cursor = inner.walk();
        let body = inner
            .named_children(&mut cursor)
            .find(|child| matches!(self.definer.meaning(*child, scope), Meaning::Body));
        if let Some(body) = body {
            let docstring = body.named_child(0).filter(|first| {
                first.kind() == "expression_statement"
                    && first.named_child(0).is_some_and(|inner| inner.kind() == "string")
                    && self.definer.grammar.special == super::grammar::Special::Python
            });
            return (true, docstring.map_or(body.start_byte(), |docstring| docstring.end_byte()));
        }
        let has_members = matches!(kind, ItemKind::Class | ItemKind::Type | ItemKind::Namespace);
        let end = match inner.child_by_field_name("body") {
            Some(body) => body.start_byte(),
            None => {
                // The line of the name is all the signature there is.
                let line = self.lines.line_of(inner.start_byte());
                node.end_byte().min(self.lines.bytes(&(line..line + 1)).end)
            }
        };
        (has_members, end)
    }

    /// A range without white space at its end and of bounded length.
    fn clipped(&self, bytes: Range<usize>) -> Range<usize> {
        let start = bytes.start;
        let mut end = bytes.end.max(start).min(start + MAX_HEAD_BYTES);
        let text = self.lines.text();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        start..start + text[start..end].trim_end().len()
    }

    fn plain(&mut self, node: Node, start: usize, depth: usize) -> Item {
        let mut item = Item::plain(self.lines.touched(start..node.end_byte()));
        if depth < MAX_DEPTH && !self.lines.fit(&item.lines) {
            item.children = self.collect(node, Scope::Local, depth + 1);
            self.splice(&mut item.children, &item.lines);
        }
        item
    }

    /// Replaces an over-long child that starts on the first line of what holds it by its own children: the levels
    /// between (call, arguments, object) say nothing about where to cut.
    fn splice(&self, children: &mut Vec<Item>, lines: &Range<usize>) {
        let first_line = self.header_line(lines, children);
        let Some(at) = children.iter().position(|child| {
            child.kind == ItemKind::Other
                && child.lines.start <= first_line
                && !child.children.is_empty()
                && !self.lines.fit(&child.lines)
        }) else {
            return;
        };
        let inner = std::mem::take(&mut children[at].children);
        let inner_start = inner.first().map_or(usize::MAX, |item| item.lines.start);
        children.splice(at..=at, inner);
        children.retain(|child| {
            child.kind != ItemKind::Other
                || child.lines.end > first_line + 1
                || child.lines.start >= inner_start
        });
    }

    /// The line on which the code of `lines` starts, comments before it left out.
    fn header_line(&self, lines: &Range<usize>, children: &[Item]) -> usize {
        children.first().map_or(lines.start, |child| child.lines.start)
    }
}

/// Joins neighbouring functions of one name: the clauses or equations of one function.
fn merge_same_name(items: &mut Vec<Item>) {
    let mut merged: Vec<Item> = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        match merged.last_mut() {
            Some(last)
                if item.kind == ItemKind::Function
                    && last.kind == ItemKind::Function
                    && item.name.is_some()
                    && item.name == last.name =>
            {
                if last.children.is_empty() || last.lines.end < item.lines.end {
                    let first = Item { children: Vec::new(), ..last.clone() };
                    if last.children.is_empty() {
                        last.children.push(Item { kind: ItemKind::Other, name: None, ..first });
                    }
                    last.lines.end = last.lines.end.max(item.lines.end);
                    last.children.push(Item { kind: ItemKind::Other, name: None, ..item });
                }
            }
            _ => merged.push(item),
        }
    }
    *items = merged;
}
