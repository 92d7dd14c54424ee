//! What kind of file is it, whatever its name says?
//!
//! In: the bytes or the text. Out: why a file is not to be indexed, or that a program wrote it. Pure.

use super::language::{Language, LanguageClass};

/// A style sheet or script with a longer line is minified. Source: VS Code Copilot's file index.
const MAX_LINE_CHARS: usize = 10_000;

/// A style sheet or script with longer lines on average is minified. Source: VS Code Copilot's file index.
const MAX_MEAN_LINE_CHARS: usize = 400;

/// git-lfs writes no longer pointers.
const MAX_POINTER_BYTES: usize = 1024;

/// Signs that a program wrote a file stand near its start.
const GENERATED_HEAD_BYTES: usize = 4096;
const GENERATED_HEAD_LINES: usize = 40;

/// What formats start with, where a text could not.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"\0\0\x01\0", "icon"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b\x08", "gzip archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"\x7fELF", "ELF program"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (b"\xca\xfe\xba\xbe", "compiled program"),
    (b"\0asm", "WebAssembly program"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"OggS\0", "Ogg stream"),
    (b"fLaC\0", "FLAC audio"),
    (b"ID3\x03", "MP3 audio"),
    (b"ID3\x04", "MP3 audio"),
    (b"wOFF\0", "font"),
    (b"wOF2\0", "font"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office document"),
];

/// Packets of an MPEG transport stream, which shares its extension with TypeScript.
const PACKET_BYTES: usize = 188;

/// What the bytes are, if they start like some well-known format that is not text.
pub(super) fn binary_format(bytes: &[u8]) -> Option<&'static str> {
    let is_stream = bytes.len() > 3 * PACKET_BYTES
        && bytes.iter().step_by(PACKET_BYTES).all(|&sync| sync == b'G')
        && std::str::from_utf8(bytes).is_err();
    if is_stream {
        return Some("MPEG video");
    }
    if bytes.starts_with(b"RIFF") && matches!(bytes.get(8..12), Some(b"WEBP" | b"WAVE" | b"AVI ")) {
        return Some("media file");
    }
    if matches!(bytes.get(4..8), Some(b"ftyp")) && bytes[0] == 0 {
        return Some("media file");
    }
    MAGIC.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, format)| *format)
}

/// Whether the text is the pointer that git-lfs keeps in place of a file.
/// Source: <https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>
pub(super) fn is_lfs_pointer(text: &str) -> bool {
    const VERSIONS: [&str; 2] =
        ["version https://git-lfs.github.com/spec/v1", "version https://hawser.github.com/spec/v1"];
    if text.len() >= MAX_POINTER_BYTES {
        return false;
    }
    let mut lines = text.lines();
    if !lines.next().is_some_and(|line| VERSIONS.contains(&line)) {
        return false;
    }
    let (mut has_oid, mut has_size) = (false, false);
    for line in lines {
        match line.split_once(' ') {
            Some(("oid", hash)) => has_oid = hash.contains(':'),
            Some(("size", size)) => has_size = size.bytes().all(|byte| byte.is_ascii_digit()),
            Some((key, _)) if key.starts_with("ext-") => {}
            _ => return false,
        }
    }
    has_oid && has_size
}

/// Whether a style sheet or script was made small for machines.
pub(super) fn is_minified(language: Language, text: &str) -> bool {
    if !matches!(language.name(), "javascript" | "javascriptreact" | "css") || text.is_empty() {
        return false;
    }
    let mut n_lines = 0;
    for line in text.lines() {
        n_lines += 1;
        if line.len() > MAX_LINE_CHARS && line.chars().count() > MAX_LINE_CHARS {
            return true;
        }
    }
    text.len() > MAX_MEAN_LINE_CHARS * n_lines
        && text.chars().count() > MAX_MEAN_LINE_CHARS * n_lines
}

/// Whether the text maps a minified file to its sources.
pub(super) fn is_source_map(file_name: &str, text: &str) -> bool {
    let could_be = file_name.ends_with(".map") || file_name.ends_with(".json");
    if !could_be || !text.trim_start().starts_with('{') {
        return false;
    }
    let head = super::head(text, GENERATED_HEAD_BYTES);
    let has_version = head.contains("\"version\":3") || head.contains("\"version\": 3");
    has_version && text.contains("\"mappings\"") && text.contains("\"sources\"")
}

/// Whether a program wrote the file, by its name or by what it says about itself near the start.
pub(super) fn is_generated(file_name: &str, language: Language, text: &str) -> bool {
    const SUFFIXES: &[&str] = &[
        ".pb.go",
        ".pb.gw.go",
        ".pb.cc",
        ".pb.h",
        ".pb.swift",
        ".pbobjc.h",
        ".pbobjc.m",
        "_pb2.py",
        "_pb2.pyi",
        "_pb2_grpc.py",
        "_pb.js",
        "_pb.ts",
        "_pb.d.ts",
        "_pb_service.js",
        "_grpc_pb.js",
        "_pb.rb",
        ".g.dart",
        ".freezed.dart",
        ".gr.dart",
        ".mocks.dart",
        ".designer.cs",
        ".g.cs",
        ".g.i.cs",
        ".generated.cs",
        ".generated.ts",
        ".generated.tsx",
        ".generated.js",
        ".gen.go",
        ".gen.ts",
        "_generated.go",
        "_generated.rs",
        ".xcodeproj",
        ".tab.c",
        ".tab.h",
        ".yy.c",
    ];
    let lower = file_name.to_ascii_lowercase();
    if SUFFIXES.iter().any(|suffix| lower.ends_with(suffix)) || lower.starts_with("zz_generated.") {
        return true;
    }
    // Prose and data talk about generated files.
    if language.class() != LanguageClass::Code {
        return false;
    }
    let head = super::head(text, GENERATED_HEAD_BYTES);
    head.lines().take(GENERATED_HEAD_LINES).any(says_generated)
}

/// Whether a line is a comment that opens with the statement, so that code that talks about generating is none.
fn says_generated(line: &str) -> bool {
    const COMMENTS: &[char] = &['/', '#', '*', '-', ';', '<', '"', '\'', '%', '(', '{'];
    const OPENINGS: &[&str] = &[
        "automatically generated",
        "auto-generated",
        "auto generated",
        "autogenerated",
        "generated by",
        "generated from",
        "generated code",
        "generated file",
        "<auto-generated",
        "<autogenerated",
    ];
    let line = line.trim_start();
    if !line.starts_with(COMMENTS) {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    let is_marked = lower
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '@')
        .any(|word| word == "@generated");
    if is_marked {
        return true;
    }
    if !lower.contains("generated") {
        return false;
    }
    let statement =
        lower.trim_start_matches(|letter: char| letter != '<' && !letter.is_ascii_alphanumeric());
    let is_about_this = ["this file ", "this code ", "this is ", "this class "]
        .iter()
        .any(|start| statement.starts_with(start));
    let is_automatic = lower.contains("automatically") || lower.contains("auto");
    lower.contains("do not edit")
        || lower.contains("do not modify")
        || OPENINGS.iter().any(|opening| statement.starts_with(opening))
        || (is_about_this && is_automatic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(name: &str) -> Language {
        Language::from_name(name).unwrap()
    }

    #[test]
    fn formats() {
        let packets: Vec<u8> =
            (0..2000).map(|at| if at % 188 == 0 { b'G' } else { 0xff }).collect();
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], Some("PNG image")),
            (b"RIFF\x01\x02\x03\x04WEBPVP8", Some("media file")),
            (b"\0\0\0\x18ftypmp42", Some("media file")),
            (&packets, Some("MPEG video")),
            (b"GIF is a format", None),
            (b"Go\nGo\n", None),
            (b"", None),
        ] {
            assert_eq!(binary_format(bytes), expected);
        }
    }

    #[test]
    fn lfs_pointers() {
        let pointer = format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:{:064}\nsize 90405214\n",
            7
        );
        assert!(is_lfs_pointer(&pointer));
        assert!(is_lfs_pointer(&pointer.replace("oid", "ext-0-a sha256:1\noid")));
        assert!(!is_lfs_pointer(&pointer.replace("size 90405214", "and so on")));
        assert!(!is_lfs_pointer(&format!("# About pointers\n{pointer}")));
        assert!(!is_lfs_pointer("version https://git-lfs.github.com/spec/v1 and names an oid.\n"));
    }

    #[test]
    fn minified() {
        let long = format!("x={};\n", "1+".repeat(6000));
        let medium = "a{b:c}".repeat(80);
        for (name, text, expected) in [
            ("javascript", &*long, true),
            ("javascript", &format!("{}{long}", "\n".repeat(1000)), true),
            ("typescript", &long, false),
            ("html", &long, false),
            ("css", &medium, true),
            ("css", &format!("{medium}\n\n"), false),
            ("javascript", "", false),
            ("javascript", &"ä".repeat(300), false),
        ] {
            assert_eq!(is_minified(language(name), text), expected, "{name} {}", text.len());
        }
    }

    #[test]
    fn source_maps() {
        let map = "{\"version\":3,\"sources\":[\"a.ts\"],\"names\":[],\"mappings\":\"AAAA\"}";
        assert!(is_source_map("a.js.map", map));
        assert!(is_source_map("a.json", map));
        assert!(!is_source_map("a.ts", map));
        assert!(!is_source_map("a.json", "{\"version\":3}"));
    }

    #[test]
    fn generated() {
        for (file_name, name, text, expected) in [
            ("a.go", "go", "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n", true),
            ("a.cs", "csharp", "// <auto-generated>\n", true),
            ("a.js", "javascript", "/**\n * @generated SignedSource<<1>>\n */\n", true),
            ("a.pb.go", "go", "package a\n", true),
            ("User.g.dart", "dart", "", true),
            ("Form.Designer.cs", "csharp", "", true),
            ("zz_generated.deepcopy.go", "go", "", true),
            (
                "a.py",
                "python",
                "# Generated by the protocol buffer compiler.  DO NOT EDIT!\n",
                true,
            ),
            ("a.py", "python", "# This file was automatically generated by SWIG.\n", true),
            (
                "a.rb",
                "ruby",
                "# Ids of records are automatically generated from their class:\n",
                false,
            ),
            ("a.rb", "ruby", "# The name is generated by the record, not by hand\n", false),
            ("a.md", "markdown", "# @generated means that nobody edits\n", false),
            ("a.py", "python", "MARK = '@generated'\n", false),
            ("a.py", "python", "# not @generatedish\n", false),
            ("a.rs", "rust", "fn generated() {}\n", false),
        ] {
            assert_eq!(
                is_generated(file_name, language(name), text),
                expected,
                "{file_name} {text}"
            );
        }
        let late = format!("{}// @generated\n", "\n".repeat(60));
        assert!(!is_generated("a.rs", language("rust"), &late));
    }
}
