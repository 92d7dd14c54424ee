//! Splits one text into retrievable chunks.
//!
//! In: a path, a language and valid UTF-8 with LF or CR LF line ends. Out: chunks ordered by start, at most
//! [`crate::config::MAX_CHUNK_TOKENS`] o200k tokens and [`crate::config::MAX_CHUNK_LINES`] lines each. Invariants, for any input: every non-blank line is in a
//! chunk, no chunk is blank, no cut falls inside a character, and the time is bounded. Neighbours overlap only where
//! the rules say so (parts of an over-long function, fallback chunks, a Markdown section and its parent).
//! Pure: no IO. Never fails: what the grammar cannot parse falls back to lines.

mod component;
mod cut;
mod data;
mod lines;
mod markdown;
mod notebook;
mod outline;
mod pack;
mod syntax;
#[cfg(test)]
mod tests;

use self::lines::Lines;
use self::outline::Outline;
use crate::source::Language;
use crate::span::{ByteRange, LineRange};
use crate::token::TokenCounter;

/// What a chunk is. The nine kinds of the CodePilot description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ChunkKind {
    /// A function or method.
    Function,
    /// A class, struct with methods, impl, trait, module.
    Class,
    /// A function that returns JSX, or a single-file component's part.
    Component,
    /// A function named `use` + capital letter.
    Hook,
    /// An interface, alias, enum, struct, record.
    Type,
    /// A top-level export statement.
    Export,
    /// A Markdown section.
    Section,
    /// A whole small file.
    FullFile,
    /// Anything else.
    Block,
}

impl ChunkKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Function,
        Self::Class,
        Self::Component,
        Self::Hook,
        Self::Type,
        Self::Export,
        Self::Section,
        Self::FullFile,
        Self::Block,
    ];

    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Class => "class",
            Self::Component => "component",
            Self::Hook => "hook",
            Self::Type => "type",
            Self::Export => "export",
            Self::Section => "section",
            Self::FullFile => "full-file",
            Self::Block => "block",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One chunk of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its bytes: whole lines, except where a single over-long line had to be cut.
    pub bytes: ByteRange,
    /// The lines it touches.
    pub lines: LineRange,
    /// What it is.
    pub kind: ChunkKind,
    /// The name of what it holds: identifier, heading, file name.
    pub name: Option<String>,
    /// Every name that this chunk defines (its own, its methods', its types'), each once, in order; the name of a class
    /// only in the part that holds its head.
    pub symbols: Vec<String>,
    /// Doc comment, decorators and signature of the first definition; empty where there is none.
    pub head: ByteRange,
}

/// Splits `text`. `path` is relative to the root.
#[must_use]
pub fn chunk(path: &str, language: Language, text: &str, counter: &TokenCounter) -> Vec<Chunk> {
    chunk_named(path, language.name(), text, counter)
}

/// Splits `text` by lines alone, as if its language were unknown.
#[must_use]
pub fn chunk_lines(path: &str, text: &str, counter: &TokenCounter) -> Vec<Chunk> {
    chunk_named(path, Language::PLAIN.name(), text, counter)
}

/// Parses `text` as chunking would and counts the nodes of its tree; 0 without a grammar. For measuring what parsing
/// alone costs.
#[must_use]
pub fn count_syntax_nodes(path: &str, language: Language, text: &str) -> usize {
    syntax::languages::grammar(path, language.name())
        .map_or(0, |grammar| syntax::count_nodes(grammar, text))
}

/// The same with the language's id as a string.
fn chunk_named(path: &str, language_name: &str, text: &str, counter: &TokenCounter) -> Vec<Chunk> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let lines = Lines::new(text, counter);
    let file_name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = file_name.split('.').find(|part| !part.is_empty()).unwrap_or(file_name);
    let all = 0..lines.n_lines();
    let is_data = matches!(
        language_name,
        "json" | "jsonc" | "json5" | "yaml" | "toml" | "ini" | "properties" | "dotenv" | "jupyter"
    );
    if is_data && lines.fit(&all) {
        return pack::pack_lines(&lines, &[], file_name);
    }
    match outline(path, language_name, stem, &lines) {
        Some(outline) if !outline.items.is_empty() => pack::pack(&lines, &outline, file_name),
        _ => pack::pack_lines(&lines, &[], file_name),
    }
}

/// The outline of a text of that language; none where it is cut by lines.
fn outline(path: &str, language_name: &str, stem: &str, lines: &Lines) -> Option<Outline> {
    match language_name {
        "markdown" | "mdx" | "quarto" | "rmd" => Some(markdown::outline(lines)),
        "jupyter" => notebook::outline(lines).or_else(|| Some(data::by_indentation(lines))),
        "json" | "jsonc" | "json5" if path.ends_with(".ipynb") => {
            notebook::outline(lines).or_else(|| Some(data::by_indentation(lines)))
        }
        "json" | "jsonc" | "json5" | "jsonl" | "yaml" | "dockercompose" => {
            Some(data::by_indentation(lines))
        }
        "toml" | "ini" | "properties" | "editorconfig" => Some(data::tables(lines)),
        "vue" | "svelte" | "astro" => Some(component::outline(lines, stem)),
        "html" | "xml" | "svg" | "handlebars" | "erb" | "razor" | "blade" => {
            Some(Outline { items: data::markup(lines, 0..lines.n_lines()), symbols: Vec::new() })
        }
        _ => {
            let grammar = syntax::languages::grammar(path, language_name)?;
            syntax::outline(grammar, stem, lines, &[])
        }
    }
}
