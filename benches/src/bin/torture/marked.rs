//! Files that hold a number under a word of their own, so that a search shows which state of them it sees.
//!
//! They lie in folders whose names begin with [`FOLDER`], belong to no branch of git, and no random edit or ignore rule
//! of this program meets them.

use std::path::Path;

use sextant::engine::Hit;

use crate::disk;
use crate::failure::Result;

/// Begins the names of their folders.
pub const FOLDER: &str = "marks";

/// 1-based line that the word stands on.
pub const WORD_LINE: u32 = 2;

/// How a program saves a file.
#[derive(Clone, Copy, Debug)]
pub enum Save {
    /// Empties it and writes.
    InPlace,
    /// Writes another and renames it.
    ByRename,
}

/// A word that no other file has; no ending of it looks like one of English.
pub fn word(number: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 20) as u8);
    format!("vexo{}{}{}q", letter(number / 400), letter(number / 20), letter(number))
}

/// Writes the file of `word`, a Rust or a Python file by its extension.
pub fn write(path: &Path, word: &str, number: u64, save: Save) -> Result<()> {
    let text = if path.extension().is_some_and(|extension| extension == "rs") {
        format!(
            "// Holds a number.\npub fn {word}() -> u64 {{\n    let number = {number};\n    number\n}}\n"
        )
    } else {
        format!("# Holds a number.\ndef {word}():\n    number = {number}\n    return number\n")
    };
    match save {
        Save::InPlace => disk::write(path, text),
        Save::ByRename => disk::write_by_rename(path, text),
    }
}

/// The numbers that the hits show under `word`. An error says which hit stands at the wrong lines.
pub fn numbers(hits: &[Hit], word: &str) -> std::result::Result<Vec<u64>, String> {
    let mut numbers = Vec::new();
    for hit in hits {
        let Some(line) = hit.text.lines().position(|line| line.contains(word)) else { continue };
        let at = format!("{}:{}-{}", hit.path, hit.start_line, hit.end_line);
        if hit.start_line + line as u32 != WORD_LINE {
            return Err(format!("{at} has {word} at the wrong line"));
        }
        let digits = hit
            .text
            .split_once("number = ")
            .map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(number) => numbers.push(number),
            None => return Err(format!("{at} has {word} without its number: {:?}", hit.text)),
        }
    }
    Ok(numbers)
}
