//! What a language-specific part makes of a text: a tree of items over whole lines.

use std::ops::Range;

use super::ChunkKind;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Function,
    Component,
    Hook,
    /// Class, trait, impl: its children are members, and its parts keep its kind and name.
    Class,
    /// Module or namespace: transparent where it does not fit into one chunk.
    Namespace,
    Type,
    Export,
    /// Constant, static, top-level variable, key of a data file.
    Value,
    /// Part of a Markdown text, with its heading.
    Section,
    /// Statement, import, comment, anything without a name.
    Other,
}

impl ItemKind {
    /// Whether it is a definition that deserves a chunk of its own.
    pub(super) fn is_definition(self) -> bool {
        matches!(
            self,
            Self::Function
                | Self::Component
                | Self::Hook
                | Self::Class
                | Self::Namespace
                | Self::Type
        )
    }

    /// Kind of a chunk that holds this item.
    pub(super) fn chunk_kind(self) -> ChunkKind {
        match self {
            Self::Function => ChunkKind::Function,
            Self::Component => ChunkKind::Component,
            Self::Hook => ChunkKind::Hook,
            Self::Class | Self::Namespace => ChunkKind::Class,
            Self::Type => ChunkKind::Type,
            Self::Export => ChunkKind::Export,
            Self::Section => ChunkKind::Section,
            Self::Value | Self::Other => ChunkKind::Block,
        }
    }
}

/// One item: a range of lines, with the comments and decorators that belong to it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Lines it touches. Neighbours may share a line.
    pub(super) lines: Range<usize>,
    pub(super) kind: ItemKind,
    pub(super) name: Option<String>,
    /// Bytes of doc comment, decorators and signature; empty where there is none.
    pub(super) head: Range<usize>,
    /// Members, statements or sub-sections, in order. May be empty for an item that fits into one chunk.
    pub(super) children: Vec<Item>,
}

impl Item {
    /// An item without name, head and children.
    pub(super) fn plain(lines: Range<usize>) -> Self {
        Self { lines, kind: ItemKind::Other, name: None, head: 0..0, children: Vec::new() }
    }
}

/// A defined name and the byte at which it stands.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) offset: usize,
    pub(super) name: String,
}

/// The outline of one text.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// Top-level items in order.
    pub(super) items: Vec<Item>,
    /// Every defined name, ordered by offset.
    pub(super) symbols: Vec<Symbol>,
}
