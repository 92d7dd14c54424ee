//! How does a language write a comment?
//!
//! In: a language id of `source`. Out: what stands before and after the words of a comment of one line. Pure.

/// How a comment of one line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentStyle {
    /// What it begins with.
    pub open: &'static str,
    /// What it ends with; empty where the line's end does that.
    pub close: &'static str,
}

impl CommentStyle {
    const fn line(open: &'static str) -> Self {
        Self { open, close: "" }
    }

    const fn block(open: &'static str, close: &'static str) -> Self {
        Self { open, close }
    }

    /// The comment that says `words`, which hold no line end, without a line end.
    #[must_use]
    pub fn comment(self, words: &str) -> String {
        let Self { open, close } = self;
        if close.is_empty() { format!("{open} {words}") } else { format!("{open} {words} {close}") }
    }
}

/// The style of a language. A language that is not known, or has no comments, gets `//`, which is understood best.
#[must_use]
pub fn comment_style(language: &str) -> CommentStyle {
    known(language).unwrap_or(CommentStyle::line("//"))
}

/// The style of every language of the table of `source` that has comments.
#[rustfmt::skip]
fn known(language: &str) -> Option<CommentStyle> {
    let style = match language {
        "apex" | "asciidoc" | "bicep" | "c" | "cpp" | "csharp" | "cuda-cpp" | "d" | "dart" | "fsharp" | "gleam" | "glsl" | "go" | "go.mod"
        | "groovy" | "haxe" | "hlsl" | "jade" | "java" | "javascript" | "javascriptreact" | "json5" | "jsonc" | "jsonnet"
        | "kotlin" | "less" | "objective-c" | "objective-cpp" | "odin" | "pascal" | "php" | "prisma" | "proto3" | "qml"
        | "reason" | "rescript" | "rust" | "sass" | "scala" | "scss" | "shaderlab" | "solidity" | "stylus" | "swift"
        | "systemverilog" | "thrift" | "typescript" | "typescriptreact" | "typst" | "v" | "vala" | "verilog" | "wgsl"
        | "zig" => CommentStyle::line("//"),
        "awk" | "bazel" | "cmake" | "coffeescript" | "crystal" | "cython" | "diff" | "dockerfile" | "dotenv" | "elixir"
        | "fish" | "gdscript" | "gettext" | "git-config" | "gitattributes" | "graphql" | "ignore" | "julia" | "just"
        | "makefile" | "meson" | "mojo" | "nginx" | "nim" | "nix" | "nushell" | "org" | "perl" | "powershell"
        | "properties" | "puppet" | "python" | "r" | "requirements" | "ruby" | "shellscript" | "sparql" | "tcl"
        | "terraform" | "toml" | "yaml" => CommentStyle::line("#"),
        "ada" | "elm" | "haskell" | "lua" | "luau" | "purescript" | "sql" | "vhdl" => CommentStyle::line("--"),
        "bibtex" | "erlang" | "latex" | "matlab" | "prolog" => CommentStyle::line("%"),
        "asm" | "clojure" | "commonlisp" | "elisp" | "ini" | "racket" | "scheme" | "wat" => CommentStyle::line(";"),
        "abap" | "viml" => CommentStyle::line("\""),
        "bat" => CommentStyle::line("REM"),
        "cobol" => CommentStyle::line("      *>"),
        "fortran" => CommentStyle::line("!"),
        "haml" => CommentStyle::line("-#"),
        "mermaid" => CommentStyle::line("%%"),
        "restructuredtext" => CommentStyle::line(".."),
        "slim" => CommentStyle::line("/"),
        "textile" => CommentStyle::line("###."),
        "vb" => CommentStyle::line("'"),
        "css" => CommentStyle::block("/*", "*/"),
        "ocaml" => CommentStyle::block("(*", "*)"),
        "smalltalk" => CommentStyle::block("\"", "\""),
        "xquery" => CommentStyle::block("(:", ":)"),
        "astro" | "html" | "markdown" | "rmd" | "svelte" | "vue" | "xml" | "xsl" => CommentStyle::block("<!--", "-->"),
        "mdx" => CommentStyle::block("{/*", "*/}"),
        "erb" => CommentStyle::block("<%#", "%>"),
        "freemarker" => CommentStyle::block("<#--", "-->"),
        "handlebars" => CommentStyle::block("{{!--", "--}}"),
        "jinja" | "twig" => CommentStyle::block("{#", "#}"),
        "jsp" => CommentStyle::block("<%--", "--%>"),
        "liquid" => CommentStyle::block("{% comment %}", "{% endcomment %}"),
        "razor" => CommentStyle::block("@*", "*@"),
        // csv, json, jsonl and plaintext have no comments, and of a notebook the cells are shown.
        _ => return None,
    };
    Some(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Language;

    #[test]
    fn every_language_has_a_style_or_no_comments() {
        let without = ["csv", "json", "jsonl", "jupyter", "plaintext"];
        let missing: Vec<&str> = Language::ALL
            .iter()
            .map(|language| language.name())
            .filter(|name| known(name).is_some() == without.contains(name))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_comment_is_written_as_the_language_does() {
        let cases = [
            ("rust", "// x"),
            ("python", "# x"),
            ("css", "/* x */"),
            ("html", "<!-- x -->"),
            ("haskell", "-- x"),
            ("json", "// x"),
            ("no such language", "// x"),
        ];
        for (language, expect) in cases {
            assert_eq!(comment_style(language).comment("x"), expect, "{language}");
        }
    }
}
