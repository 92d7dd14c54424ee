//! The rules of the CodePilot description (P1..P24), formats without a grammar, and cases CT05 and CT11.

use super::super::{ChunkKind, chunk_named};
use super::{check, chunks, render};
use crate::token::TokenCounter;

#[test]
fn kinds_have_the_nine_names() {
    let names = ChunkKind::ALL.map(ChunkKind::name);
    let expected = [
        "function",
        "class",
        "component",
        "hook",
        "type",
        "export",
        "section",
        "full-file",
        "block",
    ];
    assert_eq!(names, expected);
    assert!(ChunkKind::ALL.iter().all(|kind| ChunkKind::from_name(kind.name()) == Some(*kind)));
}

#[test]
fn definitions_of_a_script_are_chunks_named_after_their_bindings() {
    check(
        "src/shape.tsx",
        "typescriptreact",
        r"
import a from 'a';

/** Adds. */
export function add(a: number, b: number) {
  return a + b;
}

export const mul = (a: number, b: number) => a * b;

interface User {
  id: string;
}

export enum Color {
  Red,
}

function useUser() {
  return <p/>;
}

function user() {
  return 1;
}

const List = () => (
  <ul/>
);

export const config = {
  a: 1,
};

export default () => {
  return 1;
};
",
        "
        2-7 function add [add]
        9-9 function mul [mul]
        11-13 type User [User]
        15-17 type Color [Color]
        19-21 hook useUser [useUser]
        23-25 function user [user]
        27-29 component List [List]
        31-33 export config [config]
        35-37 function shape [shape]
        ",
    );
}

#[test]
fn small_neighbours_are_joined() {
    check(
        "a.ts",
        "typescript",
        "const a = 1\nconst b = 2\ntype A = string\ntype B = number\n",
        "1-4 full-file a.ts [a b A B]",
    );
    check("a.ts", "typescript", "type A = string\ntype B = number\n", "1-2 type - [A B]");
    check(
        "a.ts",
        "typescript",
        "export * from './a'\nexport { b } from './b'\n",
        "1-2 export - []",
    );
}

/// A statement of about fourteen tokens.
fn statement(n: usize) -> String {
    format!("    total_{n} = compute_{n}(left_{n}, right_{n})\n")
}

#[test]
fn an_over_long_function_is_cut_at_statements_and_its_parts_overlap() {
    let body: String = (0..40).map(statement).collect();
    let text = format!("def work(left):\n    \"\"\"Works.\"\"\"\n{body}    return total_1\n");
    let found = chunks("a.py", "python", &text);
    assert!(found.len() > 2);
    for pair in found.windows(2) {
        assert_eq!(pair[1].lines.start, pair[0].lines.end - 1, "the last statement is shared");
    }
    for part in &found {
        assert_eq!((part.kind, part.name.as_deref()), (ChunkKind::Function, Some("work")));
    }
    assert_eq!(found[0].symbols, ["work"]);
    assert!(found[1..].iter().all(|part| part.symbols.is_empty() && part.head.is_empty()));
}

#[test]
fn no_part_starts_inside_a_statement() {
    let call =
        |n: usize| format!("  run_{n}(\n    first_{n},\n    second_{n},\n    third_{n},\n  );\n");
    let text = format!("function f() {{\n{}}}\n", (0..30).map(call).collect::<String>());
    for part in &chunks("a.js", "javascript", &text)[1..] {
        assert!(text[part.bytes.as_range()].starts_with("  run_"), "{part:?}");
    }
}

#[test]
fn an_over_long_class_is_cut_at_its_members() {
    let method = |n: usize| {
        format!(
            "  method{n}(a) {{\n    const x{n} = a + {n};\n    call{n}(x{n}, a);\n    return x{n};\n  }}\n\n"
        )
    };
    let text =
        format!("/** Works. */\nclass Big {{\n{}}}\n", (0..20).map(method).collect::<String>());
    let found = chunks("a.js", "javascript", &text);
    assert!(found.len() > 2);
    for part in &found {
        assert_eq!((part.kind, part.name.as_deref()), (ChunkKind::Class, Some("Big")));
    }
    for part in &found[1..] {
        let content = &text[part.bytes.as_range()];
        assert!(content.starts_with("  method") && !part.symbols.contains(&"Big".to_owned()));
        assert_eq!(part.head.start, part.bytes.start + 2, "the head of its first method");
    }
    let symbols: Vec<String> = found.iter().flat_map(|part| part.symbols.clone()).collect();
    assert_eq!(symbols.len(), 21);
    for pair in found.windows(2) {
        assert!(pair[0].lines.end <= pair[1].lines.start);
    }
}

#[test]
fn an_over_long_method_keeps_its_own_name() {
    let body: String = (0..40).map(|n| format!("    {}", statement(n))).collect();
    let text = format!(
        "class A:\n    x = 1\n\n    def work(self):\n{body}\n    def rest(self):\n        pass\n"
    );
    let names: Vec<_> = chunks("a.py", "python", &text)
        .into_iter()
        .map(|part| (part.kind, part.name.unwrap()))
        .collect();
    assert_eq!(names.first(), Some(&(ChunkKind::Class, "A".into())));
    assert_eq!(names[1], (ChunkKind::Function, "work".into()));
    assert_eq!(names.last(), Some(&(ChunkKind::Class, "A".into())));
}

#[test]
fn functions_inside_an_over_long_nameless_wrapper_are_found() {
    let function = |n: usize| {
        format!(
            "  function inner{n}(a) {{\n    const x = a + {n};\n    call{n}(x, a, 'text{n}');\n    return x;\n  }}\n"
        )
    };
    let text = format!("(function () {{\n{}}})();\n", (0..12).map(function).collect::<String>());
    let found = chunks("a.js", "javascript", &text);
    let names: Vec<_> = found.iter().filter_map(|part| part.name.as_deref()).collect();
    assert_eq!(names.len(), 12);
    assert_eq!(names[3], "inner3");
}

#[test]
fn markdown_has_one_section_per_heading() {
    let long = "Some words that fill the paragraph with text.\n".repeat(20);
    let text = format!(
        "---\ntitle: x\n---\nIntro.\n\n# Top\n\n{long}\n## Small\n\ntext\n\n### Inner\n\n```sh\n# no heading\n```\n\nSetext\n------\n\n{long}"
    );
    check(
        "a.md",
        "markdown",
        &text,
        "
        1-4 section - []
        6-27 section Top []
        29-37 section Small []
        39-61 section Setext []
        ",
    );
    check("a.md", "markdown", "# A\n\n## B\n\ntext\n", "1-5 section A []");
    check("a.md", "markdown", "just text\n", "1-1 section - []");
    check("a.md", "markdown", "## A ##\n#no\n    # no\n####### no\n", "1-4 section A []");
}

#[test]
fn small_data_files_are_whole_and_large_ones_are_cut_at_keys() {
    check("x/package.json", "json", "{\n  \"name\": \"a\"\n}\n", "1-3 full-file package.json []");
    let entry = |n: usize| format!("    \"entry-{n}\": \"some value of the entry {n}\",\n");
    let entries: String = (0..14).map(entry).collect();
    let text =
        format!("{{\n  \"first\": {{\n{entries}  }},\n  \"second\": {{\n{entries}  }}\n}}\n");
    check("a.json", "json", &text, "1-17 block first []\n18-34 block second []");
    let line = |n: usize| format!("  - name: step number {n}\n    run: make target-{n}\n");
    let yaml: String = (0..12).map(line).collect();
    check(
        "a.yml",
        "yaml",
        &format!("on: push\njobs:\n{yaml}after:\n{yaml}"),
        "1-1 block on []\n2-26 block jobs []\n27-51 block after []",
    );
    let row = |n: usize| format!("dependency-{n} = {{ version = \"{n}\" }}\n");
    let rows: String = (0..16).map(row).collect();
    check(
        "a.toml",
        "toml",
        &format!("[package]\nname = \"a\"\n\n# Why.\n[dependencies]\n{rows}\n[dev]\n{rows}"),
        "1-2 block package []\n4-21 block dependencies []\n23-39 block dev []",
    );
}

#[test]
fn a_notebook_is_cut_at_cells() {
    let cell = |kind: &str, source: &str| {
        format!(
            "  {{\n   \"cell_type\": \"{kind}\",\n   \"source\": [\n    \"{source}\\n\",\n    \"{}\"\n   ]\n  }}",
            "word ".repeat(100)
        )
    };
    let image = format!(
        "  {{\n   \"cell_type\": \"code\",\n   \"png\": \"{}\"\n  }}",
        "iVBOR0KGg1".repeat(5000)
    );
    let text = format!(
        "{{\n \"cells\": [\n{},\n{},\n{image}\n ],\n \"nbformat\": 4\n}}\n",
        cell("markdown", "# Title"),
        cell("code", "def load(x):"),
    );
    let found = chunks("a.ipynb", "jupyter", &text);
    assert_eq!(found[0].name.as_deref(), Some("Title"));
    assert_eq!(found[1].symbols, ["load"]);
    assert!(found.len() < 8, "{}", found.len());
}

#[test]
fn fallback_chunks_have_sixty_lines_and_share_ten() {
    let text: String = (1..=160).map(|n| format!("{n}\n")).collect();
    let found = chunks("a.txt", "plaintext", &text);
    let lines: Vec<_> = found.iter().map(|part| (part.lines.start, part.lines.end)).collect();
    assert_eq!(lines, [(0, 60), (50, 110), (100, 160)]);
}

#[test]
fn fallback_chunks_break_at_blank_lines() {
    let paragraph = "some words of a text without structure\n".repeat(8) + "\n";
    let text = paragraph.repeat(12);
    for part in &chunks("a.txt", "plaintext", &text) {
        let end = part.lines.end as usize;
        assert!(end % 9 == 8, "ends inside a paragraph: {part:?}");
    }
}

#[test]
fn ct05_line_ends_do_not_shift_lines() {
    let function = |n: usize, eol: &str| {
        let name = if n == 40 { "target".into() } else { format!("f{n}") };
        format!("def {name}():{eol}    s = \"ä漢\"{eol}    return {n}{eol}")
    };
    for eol in ["\n", "\r\n"] {
        let text: String = (0..60).map(|n| function(n, eol)).collect();
        let found = chunks("lf.py", "python", &text);
        let target = found.iter().find(|part| part.symbols == ["target"]).unwrap();
        assert_eq!((target.lines.start, target.lines.end), (120, 123));
        assert!(text[target.bytes.as_range()].starts_with("def target"));
    }
    let text = "a = \"x\u{c}y\"\nb = \"x\u{b}y\"\nc = \"x\u{85}y\"\nd = \"x\u{2028}y\"\ndef odd():\n    x = 1\n    return x\n";
    check("odd.py", "python", text, "1-4 block - [a b c d]\n5-7 function odd [odd]");
}

#[test]
fn ct11_scripts_of_components_keep_their_lines() {
    let rows: String =
        (0..40).map(|n| format!("  <p class=\"row{n}\">{{{{ v{n} }}}}</p>\n")).collect();
    let vue = format!(
        "<!-- note -->\n<template>\n{rows}  <b>last</b>\n</template>\n\n<script lang=\"ts\">\nexport function first() {{ return 1 }}\n</script>\n<script setup lang=\"ts\" generic=\"T extends object\">\nconst a = 1\nfunction second(n: number): number {{\n  return n + a\n}}\n</script>\n<style scoped>\n.row0 {{ color: red }}\n</style>\n"
    );
    let found = chunks("Panel.vue", "vue", &vue);
    let line_of = |name: &str| {
        let part = found.iter().find(|part| part.symbols.iter().any(|s| s == name)).unwrap();
        (part.lines.start + 1..=part.lines.end).contains(&match name {
            "first" => 47,
            _ => 51,
        })
    };
    assert!(line_of("first") && line_of("second"));
    assert_eq!(found[0].kind, ChunkKind::Component);
    assert_eq!(found[0].name.as_deref(), Some("Panel"));
    check(
        "Card.svelte",
        "svelte",
        "<script>\n  let n = 0\n  function add() { n += 1 }\n</script>\n\n<button on:click={add}>{n}</button>\n",
        "1-6 component Card [n add]",
    );
    check(
        "Page.astro",
        "astro",
        "---\nconst title = 'x'\nfunction get() { return title }\n---\n<h1>{title}</h1>\n",
        "1-5 component Page [title get]",
    );
}

#[test]
fn blank_texts_have_no_chunks() {
    let counter = TokenCounter::new();
    for text in ["", "\n", " \r\n\t\n"] {
        assert!(chunk_named("a.rs", "rust", text, &counter).is_empty());
    }
}

#[test]
fn a_line_too_long_for_a_chunk_is_cut_at_character_borders() {
    let text = format!("a\n{}\nb\n", "漢字かな交じり文 ".repeat(300));
    let found = chunks("a.txt", "plaintext", &text);
    assert!(found.iter().filter(|part| part.lines.start == 1).count() > 3);
}

#[test]
fn the_head_of_an_over_long_class_is_no_part_of_what_stands_before_it() {
    let body: String = (0..90).map(|i| format!("        value_{i} = compute({i})\n")).collect();
    let text = format!(
        "def before():\n    one()\n    two()\n\n\nclass Pattern:\n    def __init__(self):\n{body}\n    def match(self):\n        return 1\n"
    );
    let chunks = chunk_named("a.py", "python", &text, &TokenCounter::new());
    assert!(!text[chunks[0].bytes.as_range()].contains("class Pattern"));
    let with_head: Vec<_> = chunks
        .iter()
        .filter(|chunk| text[chunk.bytes.as_range()].contains("class Pattern"))
        .map(|chunk| (chunk.kind, chunk.name.as_deref()))
        .collect();
    assert_eq!(with_head, [(ChunkKind::Class, Some("Pattern"))]);
}

/// Short lines are few tokens: 250 of them would be several screens.
#[test]
fn many_short_lines_are_several_chunks() {
    for (path, language, line) in [("a.py", "python", "x\n"), ("a.txt", "plaintext", "word\n")] {
        let chunks = chunks(path, language, &line.repeat(81));
        assert!(chunks.len() >= 2, "{path}: {}", render(&chunks));
    }
    let body = "  a()\n".repeat(100);
    assert!(chunks("a.js", "javascript", &format!("function f() {{\n{body}}}\n")).len() >= 2);
}
