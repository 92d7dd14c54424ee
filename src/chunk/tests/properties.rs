//! What holds for any input, and inputs made to break a parser.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::syntax::languages;
use super::chunks;

const OTHERS: &[&str] = &[
    "plaintext",
    "markdown",
    "json",
    "yaml",
    "toml",
    "html",
    "xml",
    "vue",
    "svelte",
    "astro",
    "sql",
    "jupyter",
    "ini",
];

fn language_names() -> Vec<&'static str> {
    let grammars = languages::ALL.iter().map(|(name, _)| *name);
    grammars.chain(OTHERS.iter().copied()).collect()
}

/// Text that looks like code of many languages at once.
fn soup() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "fn f() {",
        "}",
        "{",
        "(",
        ")",
        "class A",
        "def f(x):",
        "    return 1",
        "end",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "  ",
        "\t",
        "// note",
        "# head",
        "/* a",
        "*/",
        "\"",
        "'",
        "`",
        "```",
        "---",
        "<script>",
        "</script>",
        "<template>",
        "=",
        ";",
        "a.b",
        "import x",
        "漢字",
        "😀",
        "é",
        "\u{2028}",
        "if x",
        "else",
        "[1, 2]",
        "key: value",
        "\"k\": [",
        "@dec",
        "#[a]",
        "export default",
        "const x = () =>",
        "module M",
        "impl T for S",
        "<div/>",
        "%",
        "$",
        "\\",
    ]);
    prop::collection::vec(word, 0..220).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn invariants_hold_for_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
        let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
        for name in language_names() {
            chunks("a/b.x", name, &text);
        }
    }

    #[test]
    fn invariants_hold_for_code_soup(text in soup()) {
        for name in language_names() {
            chunks("a/b.x", name, &text);
        }
    }
}

#[test]
fn tokens_over_lines_bound_tokens_of_the_text() {
    // The packer trusts sums over lines; these texts have tokens that cross line borders.
    let texts = [
        "}\n\n",
        "}\n//\n",
        "  \n\t\n \n",
        "*/\n/*\n",
        "\n/\n",
        "a \n\n\n  b\n",
        ");\n\n\n\n",
        "\u{3000}\n\u{3000}\n",
    ];
    for text in texts {
        for n in [30, 60, 90, 125, 250, 400] {
            chunks("a.txt", "plaintext", &text.repeat(n));
            chunks("a.c", "c", &text.repeat(n));
        }
    }
}

#[test]
fn hostile_inputs_end_in_bounded_time() {
    let tuple = |i: usize| format!("{{{i}.{}, {}.{}}},\n", i % 7, i * 3, i % 11);
    let tuples: String = (0..12_000).map(tuple).collect();
    let cases: Vec<(&str, &str, String)> = vec![
        ("t.java", "java", tuples.clone()),
        ("t.cpp", "cpp", tuples),
        ("a.js", "javascript", format!("const a = `{}\n", "${b + `".repeat(4000))),
        ("a.js", "javascript", format!("{}{}\n", "{".repeat(20_000), "(,".repeat(20_000))),
        ("a.js", "javascript", "class A { m() { { try { f() } catch { ((, v".into()),
        ("a.ts", "typescript", format!("let x = {}y\n", "f<".repeat(3000))),
        ("a.sql", "sql", format!("INSERT INTO t VALUES {}", "(1,'a''b'),".repeat(40_000))),
        ("a.rs", "rust", format!("fn f() {{{}", "(\n".repeat(50_000))),
        ("a.json", "json", "[\n".repeat(100_000)),
        ("a.json", "json", "[".repeat(100_000)),
        ("a.py", "python", (1..600).map(|n| format!("{}if x:\n", " ".repeat(n))).collect()),
        ("a.xml", "xml", "<a>\n".repeat(100_000)),
        ("a.txt", "plaintext", "a".repeat(1_000_000)),
        ("a.txt", "plaintext", "漢".repeat(200_000)),
        ("a.txt", "plaintext", " ".repeat(1_000_000) + "x"),
        ("a.md", "markdown", "# a\n".repeat(20_000)),
        ("a.vue", "vue", "<script>\n".repeat(20_000)),
    ];
    for (path, language, text) in cases {
        let start = Instant::now();
        chunks(path, language, &text);
        let time = start.elapsed();
        // Two seconds when optimised; this may be a debug build on a busy machine.
        assert!(time < Duration::from_secs(10), "{path}: {time:?}");
    }
}

#[test]
fn a_long_run_of_base64_is_one_chunk() {
    let text = format!("x = 1\ny = \"{}\"\n", "aGVsbG8gd29ybGQ1".repeat(20_000));
    assert!(chunks("a.py", "python", &text).len() <= 3);
}

#[test]
fn equal_inputs_give_equal_chunks() {
    let text = include_str!("../pack.rs");
    assert_eq!(chunks("a.rs", "rust", text), chunks("a.rs", "rust", text));
}

#[test]
fn every_rule_names_a_node_kind_of_its_grammar() {
    // C and C++ share a table, as do the dialects of JavaScript and of CSS.
    let shared = ["c", "cpp", "javascript", "typescript", "typescriptreact", "css", "scss"];
    for (name, grammar) in languages::ALL.iter().filter(|(name, _)| !shared.contains(name)) {
        let language = (grammar.language)();
        for (kind, ..) in grammar.rules {
            assert_ne!(language.id_for_node_kind(kind, true), 0, "{name}: {kind}");
        }
    }
}
