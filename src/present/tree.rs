//! What does the workspace look like, in so many characters?
//!
//! In: paths. Out: a text with one line for each file and folder, a tab for each level, `/` after folders, files before
//! folders, each ordered by name. Folders are opened breadth-first as long as there is room, and `...` stands where entries
//! were left out, if there is room for that. Pure; never fails.
//!
//! Source: the workspace tree of VS Code Copilot Chat 0.34, 500 to 2,000 characters.

use std::collections::BTreeMap;

/// Stands for entries that were left out.
const MORE: &str = "...";

/// Room for a tree in a prompt that rewrites a question. Source: VS Code Copilot Chat 0.34; unmeasured.
pub const REWRITE_TREE_CHARS: usize = 1000;

/// A text of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Lines, each with its end; at most as many characters as asked for.
    pub text: String,
    /// Files that stand in it.
    pub n_files: usize,
    /// Whether files were left out.
    pub is_cut: bool,
}

#[derive(Default)]
struct Folder<'a> {
    files: Vec<&'a str>,
    folders: BTreeMap<&'a str, usize>,
    depth: usize,
}

/// A line, and the folder whose entries follow it.
enum Line<'a> {
    File(&'a str),
    Folder(&'a str, usize),
    More,
}

/// Draws `paths`, relative with `/` between their parts, within `max_chars` characters.
#[must_use]
pub fn tree<P: AsRef<str>>(paths: &[P], max_chars: usize) -> Tree {
    let folders = folders_of(paths);
    let mut shown: Vec<Vec<Line<'_>>> = Vec::with_capacity(folders.len());
    shown.resize_with(folders.len(), Vec::new);
    let mut left = max_chars;
    let mut n_files = 0;
    let mut waiting = std::collections::VecDeque::from([0]);
    while let Some(at) = waiting.pop_front() {
        let folder = &folders[at];
        let n_entries = folder.files.len() + folder.folders.len();
        let files = folder.files.iter().map(|name| (Line::File(name), name.chars().count()));
        let inner = folder.folders.iter();
        let inner = inner.map(|(name, &of)| (Line::Folder(name, of), name.chars().count() + 1));
        // Indent and line end.
        let line_chars = folder.depth + 1;
        let more_chars = line_chars + MORE.len();
        for (n, (line, n_chars)) in files.chain(inner).enumerate() {
            let n_chars = n_chars + line_chars;
            let reserve = if n + 1 < n_entries { more_chars } else { 0 };
            if n_chars + reserve > left {
                if more_chars <= left {
                    left -= more_chars;
                    shown[at].push(Line::More);
                }
                break;
            }
            left -= n_chars;
            match line {
                Line::Folder(_, inner) => waiting.push_back(inner),
                _ => n_files += 1,
            }
            shown[at].push(line);
        }
    }
    let mut text = String::new();
    write(&mut text, &shown);
    let n_all: usize = folders.iter().map(|folder| folder.files.len()).sum();
    Tree { text, n_files, is_cut: n_files < n_all }
}

fn folders_of<P: AsRef<str>>(paths: &[P]) -> Vec<Folder<'_>> {
    let mut folders = vec![Folder::default()];
    for path in paths {
        let mut parts = path.as_ref().split('/').filter(|part| !part.is_empty()).peekable();
        let mut at = 0;
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                folders[at].files.push(part);
                break;
            }
            at = match folders[at].folders.get(part) {
                Some(&inner) => inner,
                None => {
                    let inner = folders.len();
                    let depth = folders[at].depth + 1;
                    folders[at].folders.insert(part, inner);
                    folders.push(Folder { depth, ..Folder::default() });
                    inner
                }
            };
        }
    }
    for folder in &mut folders {
        folder.files.sort_unstable();
        folder.files.dedup();
    }
    folders
}

/// The lines of all folders that are open, from the top.
fn write(text: &mut String, shown: &[Vec<Line<'_>>]) {
    // A stack, not a call within a call: a path may be thousands of folders deep.
    let mut open = vec![(shown[0].iter(), 0)];
    while let Some((lines, depth)) = open.last_mut() {
        let depth = *depth;
        let Some(line) = lines.next() else {
            open.pop();
            continue;
        };
        text.extend(std::iter::repeat_n('\t', depth));
        match line {
            Line::File(name) => text.push_str(name),
            Line::More => text.push_str(MORE),
            Line::Folder(name, inner) => {
                text.push_str(name);
                text.push('/');
                open.push((shown[*inner].iter(), depth + 1));
            }
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: &[&str] =
        &["Cargo.toml", "docs/a.md", "src/deep/er/x.rs", "src/lib.rs", "src/main.rs", "README.md"];

    #[test]
    fn files_come_before_folders_and_room_is_spent_breadth_first() {
        let whole = "Cargo.toml\nREADME.md\ndocs/\n\ta.md\nsrc/\n\tlib.rs\n\tmain.rs\n\tdeep/\n\t\ter/\n\t\t\tx.rs\n";
        let cases: &[(usize, &str)] = &[
            (1000, whole),
            (whole.len(), whole),
            (whole.len() - 1, &whole.replace("x.rs", "...")),
            (32, "Cargo.toml\nREADME.md\ndocs/\nsrc/\n"),
            (31, "Cargo.toml\nREADME.md\ndocs/\n...\n"),
            (38, "Cargo.toml\nREADME.md\ndocs/\n\ta.md\nsrc/\n"),
            (43, "Cargo.toml\nREADME.md\ndocs/\n\ta.md\nsrc/\n\t...\n"),
            (15, "Cargo.toml\n...\n"),
            (4, "...\n"),
            (3, ""),
            (0, ""),
        ];
        for (max_chars, expect) in cases {
            let tree = tree(PATHS, *max_chars);
            assert_eq!(tree.text, *expect, "{max_chars}");
            assert!(tree.text.chars().count() <= *max_chars);
            assert_eq!(tree.is_cut, tree.n_files < PATHS.len());
        }
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(tree(&["größe"], 6).text, "größe\n");
        assert_eq!(tree::<&str>(&[], 6), Tree::default());
        let deep = "a/".repeat(50_000) + "b";
        assert!(tree(&[deep], 1000).is_cut);
    }
}
