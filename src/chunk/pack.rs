//! Packs an outline into chunks.
//!
//! An item that fits and has enough lines becomes a chunk; small neighbours are joined; an over-long class is cut at
//! its members' borders and an over-long function at its statements'. Units are whole lines: items that share a line
//! are one unit, and lines between items belong to the unit before them.

use std::ops::Range;

use super::cut::{self, Atom, Overlap};
use super::lines::Lines;
use super::outline::{Item, ItemKind, Outline, Symbol};
use super::{Chunk, ChunkKind};
use crate::span::{ByteRange, LineRange};

/// A definition with fewer lines is joined with its neighbours. Three, so that any function that is not written on one
/// line is found by itself (case CT05); unmeasured.
const OWN_LINES: usize = 3;

/// A member of an over-long class with fewer lines is joined with its neighbours. Unmeasured.
const OWN_MEMBER_LINES: usize = 12;

/// A constant or a key with fewer lines is joined with its neighbours. Unmeasured.
const OWN_VALUE_LINES: usize = 5;

/// An unnamed rest of so few lines joins its neighbour rather than being a chunk.
const CRUMB_LINES: usize = 2;

/// Packs `outline` over all of `lines`. `file_name` names what fits as a whole and has no name of its own.
pub(super) fn pack(lines: &Lines, outline: &Outline, file_name: &str) -> Vec<Chunk> {
    let mut packer = Packer { lines, symbols: &outline.symbols, chunks: Vec::new() };
    let items: Vec<&Item> = outline.items.iter().collect();
    packer.level(0..lines.n_lines(), &items, &Owner::NONE);
    packer.finish(file_name)
}

/// Packs text without structure. `symbols` may be empty.
pub(super) fn pack_lines(lines: &Lines, symbols: &[Symbol], file_name: &str) -> Vec<Chunk> {
    let mut packer = Packer { lines, symbols, chunks: Vec::new() };
    let all = lines.trimmed(&(0..lines.n_lines()));
    if !all.is_empty() && lines.fit(&all) && all.len() <= crate::config::FALLBACK_CHUNK_LINES {
        packer.emit(all, Identity::NONE);
    } else {
        packer.cut(&cut::line_atoms(lines, &all, 0), Identity::NONE, Overlap::Lines);
    }
    packer.finish(file_name)
}

/// Whose members are being packed.
#[derive(Clone)]
struct Owner<'a> {
    kind: ItemKind,
    name: Option<&'a str>,
    head: Range<usize>,
}

impl Owner<'_> {
    const NONE: Self = Owner { kind: ItemKind::Namespace, name: None, head: 0..0 };
}

/// Kind, name and head of a chunk to be.
#[derive(Clone)]
struct Identity<'a> {
    kind: ChunkKind,
    name: Option<&'a str>,
    head: Range<usize>,
}

impl Identity<'_> {
    const NONE: Self = Identity { kind: ChunkKind::Block, name: None, head: 0..0 };
}

/// Whole lines with the items on them; no items: lines before the first item of a level.
#[derive(Clone)]
struct Unit<'a> {
    lines: Range<usize>,
    items: Vec<&'a Item>,
}

impl<'a> Unit<'a> {
    /// The item that gives the unit its identity: the longest.
    fn main(&self) -> Option<&'a Item> {
        self.items.iter().copied().max_by_key(|item| {
            (item.kind != ItemKind::Other, item.lines.len(), usize::MAX - item.lines.start)
        })
    }
}

struct Packer<'a> {
    lines: &'a Lines<'a>,
    symbols: &'a [Symbol],
    chunks: Vec<Chunk>,
}

impl<'a> Packer<'a> {
    /// Packs the items of one level, `span` being all lines of it.
    fn level(&mut self, span: Range<usize>, items: &[&'a Item], owner: &Owner<'a>) {
        let mut group: Vec<Unit<'a>> = Vec::new();
        let n_before = self.chunks.len();
        for unit in units(self.lines, span, items) {
            if !self.lines.fit(&unit.lines) || self.is_transparent(&unit) {
                let mut unit = unit;
                // The head of a class is not part of its first method.
                let is_member = matches!(owner.kind, ItemKind::Class | ItemKind::Type);
                if self.is_crumb(&group) && !is_member {
                    unit.lines.start = group.first().map_or(unit.lines.start, |u| u.lines.start);
                    group.clear();
                }
                self.flush(&mut group, owner, n_before);
                self.split(&unit, owner);
                continue;
            }
            let joined = group.first().map_or(unit.lines.start, |first| first.lines.start);
            let fits_group = self.lines.fit(&(joined..unit.lines.end));
            let after_own = group.last().is_some_and(|last| self.is_own(last, owner));
            let joins = if after_own {
                false
            } else if self.is_own(&unit, owner) {
                self.is_crumb(&group)
            } else {
                true
            };
            if !(joins && fits_group) {
                self.flush(&mut group, owner, n_before);
            }
            group.push(unit);
        }
        self.flush(&mut group, owner, n_before);
    }

    /// Whether `unit` is a namespace around several definitions that deserve chunks of their own.
    fn is_transparent(&self, unit: &Unit) -> bool {
        let [item] = unit.items.as_slice() else { return false };
        let is_own = |child: &&Item| {
            child.kind.is_definition() && self.lines.n_filled(&child.lines) >= OWN_LINES
        };
        item.kind == ItemKind::Namespace && item.children.iter().filter(is_own).count() > 1
    }

    /// Whether `unit` deserves a chunk of its own.
    fn is_own(&self, unit: &Unit, owner: &Owner) -> bool {
        let Some(main) = unit.main() else { return false };
        let n_lines = self.lines.n_filled(&unit.lines);
        match main.kind {
            ItemKind::Section => true,
            ItemKind::Class | ItemKind::Namespace | ItemKind::Type => n_lines >= OWN_LINES,
            kind if kind.is_definition() && owner.kind != ItemKind::Class => n_lines >= OWN_LINES,
            kind if kind.is_definition() => n_lines >= OWN_MEMBER_LINES,
            ItemKind::Export => n_lines >= OWN_LINES,
            ItemKind::Value => n_lines >= OWN_VALUE_LINES,
            _ => false,
        }
    }

    /// Whether `group` is so little that it is better joined with what follows.
    fn is_crumb(&self, group: &[Unit]) -> bool {
        let Some(last) = group.last() else { return true };
        self.lines.n_filled(&(group[0].lines.start..last.lines.end)) <= CRUMB_LINES
            && group.iter().all(|unit| unit.main().is_none_or(|item| item.name.is_none()))
            && !group.iter().any(|unit| unit.main().is_some_and(|i| i.kind == ItemKind::Section))
    }

    /// Emits `group` as one chunk and empties it. A crumb joins the chunk before, but only one of the same level, which are
    /// those after the first `n_before`: the head of a class is no part of what stands before the class.
    fn flush(&mut self, group: &mut Vec<Unit<'a>>, owner: &Owner<'a>, n_before: usize) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let lines = first.lines.start..last.lines.end;
        if self.chunks.len() > n_before && self.is_crumb(group) && self.extend_last(&lines) {
            group.clear();
            return;
        }
        let identity = self.identify(group, owner);
        self.emit(lines, identity);
        group.clear();
    }

    /// Adds `lines` to the last chunk if that ends right before them and stays within the limit.
    fn extend_last(&mut self, lines: &Range<usize>) -> bool {
        let lines = self.lines.trimmed(lines);
        let Some(last) = self.chunks.last() else { return false };
        let gap = last.lines.end as usize..lines.start.max(last.lines.end as usize);
        let all = last.lines.start as usize..lines.end;
        let may = last.kind != ChunkKind::Section
            && last.lines.end as usize <= lines.start
            && lines.start < lines.end
            && self.lines.n_filled(&gap) == 0
            && last.bytes.start as usize == self.lines.bytes(&all).start
            && self.lines.fit(&all);
        if may {
            let bytes = self.lines.bytes(&all);
            let symbols = self.symbols_in(&bytes);
            if let Some(last) = self.chunks.last_mut() {
                last.bytes = ByteRange::new(bytes.start, bytes.end);
                last.lines = Lines::range(&all);
                last.symbols = symbols;
            }
        }
        may
    }

    /// Kind, name and head of a chunk made of `group`.
    fn identify(&self, group: &[Unit<'a>], owner: &Owner<'a>) -> Identity<'a> {
        let items = || group.iter().flat_map(|unit| unit.items.iter().copied());
        let head =
            items().find(|item| !item.head.is_empty()).map_or(0..0, |item| item.head.clone());
        let of = |item: &'a Item| {
            let item = dominant(item);
            Identity {
                kind: item.kind.chunk_kind(),
                name: item.name.as_deref(),
                head: if item.head.is_empty() { head.clone() } else { item.head.clone() },
            }
        };
        let n_definitions = items().filter(|item| item.kind.is_definition()).count();
        let main = items().filter(|item| item.kind.is_definition()).max_by_key(|i| i.lines.len());
        let is_part = matches!(owner.kind, ItemKind::Class | ItemKind::Section);
        if is_part {
            let whole = items().find(|item| {
                item.kind == ItemKind::Section
                    || (n_definitions == 1
                        && matches!(item.kind, ItemKind::Class | ItemKind::Type)
                        && item.lines.len() >= OWN_LINES)
            });
            return match whole {
                Some(item) => of(item),
                None => {
                    let start = group.first().map_or(0, |unit| unit.lines.start);
                    let holds_head = self.lines.bytes(&(start..start + 1)).end > owner.head.start
                        && self.lines.bytes(&(start..start + 1)).start <= owner.head.start;
                    let head = if holds_head { owner.head.clone() } else { head };
                    Identity { kind: owner.kind.chunk_kind(), name: owner.name, head }
                }
            };
        }
        if let Some(section) = items().find(|item| item.kind == ItemKind::Section) {
            return of(section);
        }
        if let Some(main) = main {
            let total = group.iter().map(|unit| self.lines.n_filled(&unit.lines)).sum::<usize>();
            let is_alone = n_definitions == 1 && 3 * self.lines.n_filled(&main.lines) >= total;
            if is_alone || (n_definitions == 1 && total <= 2 * OWN_VALUE_LINES) {
                return of(main);
            }
            let kind = main.kind.chunk_kind();
            let same = items().all(|item| !is_named(item) || item.kind.chunk_kind() == kind);
            return if same {
                Identity { kind, name: None, head }
            } else {
                Identity { head, ..Identity::NONE }
            };
        }
        let n_lines: usize = group.iter().map(|unit| self.lines.n_filled(&unit.lines)).sum();
        let mut named = items().filter(|item| is_named(item));
        match (named.next(), named.next()) {
            (Some(one), None) if 2 * one.lines.len() >= n_lines => of(one),
            (Some(one), Some(_))
                if items().all(|i| !is_named(i) || i.kind == ItemKind::Export)
                    && one.kind == ItemKind::Export =>
            {
                Identity { kind: ChunkKind::Export, name: None, head }
            }
            _ => Identity { head, ..Identity::NONE },
        }
    }

    /// Splits a unit that does not fit.
    fn split(&mut self, unit: &Unit<'a>, owner: &Owner<'a>) {
        let children: Vec<&Item> = unit.items.iter().flat_map(|item| &item.children).collect();
        let Some(main) = unit.main() else {
            self.parts(unit, 0, &children, self.part_identity(None, owner));
            return;
        };
        let name = main.name.as_deref();
        match main.kind {
            ItemKind::Class | ItemKind::Section if !children.is_empty() => {
                let owner = Owner { kind: main.kind, name, head: main.head.clone() };
                self.level(unit.lines.clone(), &children, &owner);
            }
            ItemKind::Namespace if !children.is_empty() => {
                let owner = Owner { kind: main.kind, name, head: main.head.clone() };
                self.level(unit.lines.clone(), &children, &owner);
            }
            ItemKind::Other | ItemKind::Export
                if children.iter().any(|item| item.kind.is_definition()) =>
            {
                self.level(unit.lines.clone(), &children, owner);
            }
            _ => self.parts(unit, 0, &children, self.part_identity(Some(main), owner)),
        }
    }

    /// What the parts of an over-long item are called: as the item, or as its class.
    fn part_identity(&self, item: Option<&'a Item>, owner: &Owner<'a>) -> Identity<'a> {
        let is_member = matches!(owner.kind, ItemKind::Class | ItemKind::Section);
        match item {
            Some(item) if item.kind.is_definition() || !is_member => Identity {
                kind: item.kind.chunk_kind(),
                name: item.name.as_deref(),
                head: item.head.clone(),
            },
            _ if is_member => Identity {
                kind: owner.kind.chunk_kind(),
                name: owner.name,
                head: item.map_or(0..0, |item| item.head.clone()),
            },
            _ => Identity::NONE,
        }
    }

    /// Cuts an over-long unit at its statements.
    fn parts(&mut self, unit: &Unit<'a>, depth: u8, children: &[&'a Item], identity: Identity<'a>) {
        let mut atoms = Vec::new();
        self.flatten(&unit.lines, children, depth, &identity, &mut atoms);
        let overlap = overlap_of(&identity);
        self.cut(&atoms, identity, overlap);
    }

    /// Lists the atoms of `span`, going into statements that do not fit. An over-long named function inside is cut
    /// under its own name, so the atoms before it are cut first.
    fn flatten(
        &mut self,
        span: &Range<usize>,
        children: &[&'a Item],
        depth: u8,
        identity: &Identity<'a>,
        atoms: &mut Vec<Atom>,
    ) {
        if children.is_empty() {
            atoms.extend(cut::line_atoms(self.lines, span, depth + 1));
            return;
        }
        for unit in units(self.lines, span.clone(), children) {
            if self.lines.fit(&unit.lines) {
                let is_header = unit.items.is_empty();
                atoms.push(Atom::statement(self.lines, unit.lines, depth, is_header));
                continue;
            }
            let inner: Vec<&Item> = unit.items.iter().flat_map(|item| &item.children).collect();
            match unit.main() {
                Some(main) if main.kind.is_definition() && main.name.is_some() => {
                    self.cut(atoms, identity.clone(), overlap_of(identity));
                    atoms.clear();
                    self.split(&unit, &Owner::NONE);
                }
                _ => {
                    let first = atoms.len();
                    self.flatten(&unit.lines, &inner, depth.saturating_add(1), identity, atoms);
                    if let Some(atom) = atoms.get_mut(first) {
                        atom.strength = Atom::statement_strength(self.lines, &atom.lines, depth);
                    }
                }
            }
        }
    }

    /// Emits `atoms` as parts of at most the limit.
    fn cut(&mut self, atoms: &[Atom], identity: Identity<'a>, overlap: Overlap) {
        for part in cut::cut(self.lines, atoms, overlap) {
            let first = self.chunks.len();
            if self.lines.fit(&part) {
                self.emit(part, identity.clone());
            } else {
                for line in part {
                    for piece in self.lines.pieces(line) {
                        self.emit_piece(line, piece, &identity);
                    }
                }
            }
            for chunk in &mut self.chunks[first..] {
                // A head outside its chunk would describe another one.
                if chunk.head.start < chunk.bytes.start || chunk.head.end > chunk.bytes.end {
                    chunk.head = ByteRange::default();
                }
            }
        }
    }

    fn emit(&mut self, lines: Range<usize>, identity: Identity) {
        let lines = self.lines.trimmed(&lines);
        if lines.is_empty() {
            return;
        }
        let bytes = self.lines.bytes(&lines);
        // What an overlap repeats was defined by the part before.
        let covered = self.chunks.last().map_or(0, |last| last.bytes.end as usize);
        let symbols = self.symbols_in(&(bytes.start.max(covered.min(bytes.end))..bytes.end));
        let head = identity.head;
        let head = if head.start >= bytes.start && head.end <= bytes.end { head } else { 0..0 };
        self.chunks.push(Chunk {
            bytes: ByteRange::new(bytes.start, bytes.end),
            lines: Lines::range(&lines),
            kind: identity.kind,
            name: identity.name.map(str::to_owned),
            symbols,
            head: ByteRange::new(head.start, head.end),
        });
    }

    fn emit_piece(&mut self, line: usize, piece: ByteRange, identity: &Identity) {
        self.chunks.push(Chunk {
            bytes: piece,
            lines: LineRange::new(line, line + 1),
            kind: identity.kind,
            name: identity.name.map(str::to_owned),
            symbols: self.symbols_in(&piece.as_range()),
            head: ByteRange::default(),
        });
    }

    /// Names defined in `bytes`, each once, in order.
    fn symbols_in(&self, bytes: &Range<usize>) -> Vec<String> {
        let first = self.symbols.partition_point(|symbol| symbol.offset < bytes.start);
        let mut names: Vec<String> = Vec::new();
        for symbol in self.symbols[first..].iter().take_while(|s| s.offset < bytes.end) {
            if !names.contains(&symbol.name) {
                names.push(symbol.name.clone());
            }
        }
        names
    }

    /// A text that became one nameless block is the file itself.
    fn finish(mut self, file_name: &str) -> Vec<Chunk> {
        if let [only] = self.chunks.as_mut_slice()
            && only.kind == ChunkKind::Block
            && only.name.is_none()
        {
            only.kind = ChunkKind::FullFile;
            only.name = Some(file_name.to_owned());
        }
        self.chunks
    }
}

/// What a module or namespace is about: the one definition that fills most of it, or itself.
fn dominant(mut item: &Item) -> &Item {
    loop {
        let inner = item.children.iter().find(|child| 2 * child.lines.len() >= item.lines.len());
        match (item.kind, inner) {
            (ItemKind::Namespace, Some(inner)) if inner.kind.is_definition() => item = inner,
            (ItemKind::Class, Some(inner)) if inner.kind == ItemKind::Class => item = inner,
            _ => return item,
        }
    }
}

/// Only parts of functions repeat a statement.
fn overlap_of(identity: &Identity) -> Overlap {
    match identity.kind {
        ChunkKind::Function | ChunkKind::Component | ChunkKind::Hook => Overlap::LastAtom,
        _ => Overlap::None,
    }
}

fn is_named(item: &Item) -> bool {
    item.kind.is_definition() || matches!(item.kind, ItemKind::Export | ItemKind::Value)
}

/// Groups `items` into units that together hold every non-blank line of `span`.
fn units<'a>(lines: &Lines, span: Range<usize>, items: &[&'a Item]) -> Vec<Unit<'a>> {
    let mut units: Vec<Unit<'a>> = Vec::with_capacity(items.len() + 1);
    let gap = |units: &mut Vec<Unit<'a>>, gap: Range<usize>| {
        let gap = lines.trimmed(&gap);
        if gap.is_empty() {
            return;
        }
        match units.last_mut() {
            Some(last) if lines.fit(&(last.lines.start..gap.end)) || !lines.fit(&last.lines) => {
                last.lines.end = gap.end;
            }
            _ => units.push(Unit { lines: gap, items: Vec::new() }),
        }
    };
    let mut covered = span.start;
    for &item in items {
        let start = item.lines.start.clamp(span.start, span.end);
        let end = item.lines.end.clamp(start, span.end);
        if start == end {
            continue;
        }
        if start > covered {
            gap(&mut units, covered..start);
        }
        match units.last_mut() {
            Some(last) if start < covered && !last.items.is_empty() => {
                last.lines.end = last.lines.end.max(end);
                last.items.push(item);
            }
            _ => units.push(Unit { lines: start.max(covered)..end, items: vec![item] }),
        }
        covered = covered.max(end);
    }
    if covered < span.end {
        gap(&mut units, covered..span.end);
    }
    units.retain(|unit| !unit.lines.is_empty());
    units
}
