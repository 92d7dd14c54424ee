//! The room seen from outside, on files that the tests write.

use std::fs;

use super::*;

fn load_bytes(name: &str, bytes: &[u8]) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    load(&path, name)
}

#[track_caller]
fn text_of(name: &str, bytes: &[u8]) -> SourceFile {
    match load_bytes(name, bytes) {
        Loaded::Text(file) => file,
        Loaded::Skipped { reason, .. } => panic!("{name} was skipped: {reason}"),
    }
}

#[track_caller]
fn check(name: &str, bytes: &[u8], language: &str, text: &str) {
    let file = text_of(name, bytes);
    assert_eq!((file.language.name(), &*file.text), (language, text), "{name}");
}

#[track_caller]
fn check_skip(name: &str, bytes: &[u8], expected: &str) {
    match load_bytes(name, bytes) {
        Loaded::Text(file) => panic!("{name} is text: {}", file.text.len()),
        Loaded::Skipped { reason, transient } => {
            assert_eq!((&*reason, transient), (expected, false))
        }
    }
}

#[test]
fn empty_and_blank_files_are_text() {
    for (name, bytes, text) in [
        ("empty.py", &b""[..], ""),
        ("ws.py", b"   \n\n\t\n", "   \n\n\t\n"),
        ("bom.py", b"\xef\xbb\xbf", ""),
        ("crlf.py", b"\r\n\r\n", "\r\n\r\n"),
        ("nbsp.py", b"\xc2\xa0\xc2\xa0\n", "\u{a0}\u{a0}\n"),
    ] {
        check(name, bytes, "python", text);
    }
}

#[test]
fn marks_are_taken_off_before_the_first_line_is_looked_at() {
    check("tool", b"\xef\xbb\xbf#!/bin/sh\n", "shellscript", "#!/bin/sh\n");
    check("c.md", b"\xef\xbb\xbf---\ntitle: x\n---\n", "markdown", "---\ntitle: x\n---\n");
    let wide: Vec<u8> = "\u{feff}#!/bin/sh\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check("tool", &wide, "shellscript", "#!/bin/sh\n");
}

#[test]
fn lone_carriage_returns_become_line_feeds() {
    check("a.py", b"a\rb\r\nc\r\rd\ne\r", "python", "a\nb\r\nc\n\nd\ne\n");
    check("b.py", b"a\x0bb\x0cc\xc2\x85d\n", "python", "a\x0bb\x0cc\u{85}d\n");
}

#[test]
fn losses_are_noticed() {
    let bytes = [&"größer 漢字 ".repeat(3).into_bytes()[..], b"\xff\n"].concat();
    let file = text_of("a.md", &bytes);
    assert_eq!(file.notices, [Notice::Lossy]);
    assert!(file.text.ends_with("\u{fffd}\n"));
    assert_eq!(text_of("a.c", b"/* W\xfcrfel */\n").notices, []);
}

#[test]
fn long_files_are_cut_at_a_line_end() {
    let line = "0123456789abcde\n";
    let whole = line.repeat(MAX_FILE_BYTES / line.len());
    assert_eq!(whole.len(), MAX_FILE_BYTES);
    assert_eq!(text_of("a.txt", whole.as_bytes()).notices, []);
    let longer = format!("{}x\n{line}", &whole[..MAX_FILE_BYTES - line.len()]);
    let file = text_of("a.txt", longer.as_bytes());
    assert_eq!(
        (file.text.len(), &file.notices[..]),
        (MAX_FILE_BYTES - line.len() + 2, &[Notice::Truncated][..])
    );
    assert_eq!(file.content_hash, xxh3_128(&longer.as_bytes()[..MAX_FILE_BYTES]));
    let no_line_end = format!("a{}", "ä".repeat(MAX_FILE_BYTES));
    let file = text_of("a.txt", no_line_end.as_bytes());
    assert_eq!(
        (file.text.len(), &file.notices[..]),
        (MAX_FILE_BYTES - 1, &[Notice::Truncated][..])
    );
    // Decoding can make a text longer than its bytes.
    let (latin, _, _) =
        encoding_rs::WINDOWS_1252.encode("größer als vorher, sagt die Prüfung für Würfel\n");
    let file = text_of("a.txt", &latin.repeat(MAX_FILE_BYTES / latin.len()));
    assert!(file.text.len() <= MAX_FILE_BYTES && file.text.ends_with('\n'));
    assert_eq!(file.notices, [Notice::Truncated]);
}

#[test]
fn the_hash_is_that_of_the_bytes() {
    let file = text_of("a.py", b"\xef\xbb\xbfa\r");
    assert_eq!(file.content_hash, xxh3_128(b"\xef\xbb\xbfa\r"));
}

#[test]
fn foreign_content_behind_a_source_extension() {
    let mut random = 7_u32;
    let mut noise = |n_bytes: usize| -> Vec<u8> {
        let next = |_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        };
        (0..n_bytes).map(next).collect()
    };
    let packet = |body: Vec<u8>| [&b"G@\x11\x10"[..], &body].concat();
    let stream: Vec<u8> = (0..600).flat_map(|_| packet(noise(184))).collect();
    check_skip("clip.ts", &stream, "binary file (MPEG video)");
    check_skip(
        "pic.md",
        &[&b"\x89PNG\r\n\x1a\n"[..], &noise(2000)].concat(),
        "binary file (PNG image)",
    );
    check_skip(
        "db.txt",
        &[&b"SQLite format 3\0"[..], &noise(2000)].concat(),
        "binary file (SQLite database)",
    );
    check_skip(
        "mixed.log",
        &[b"plain text line\n".repeat(563), noise(60_000)].concat(),
        "binary file",
    );
    check("real.ts", b"export const a = 1\n", "typescript", "export const a = 1\n");
    let qt = "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\"></TS>\n";
    check("app_de.ts", qt.as_bytes(), "xml", qt);
}

#[test]
fn minified_pointers_and_maps_are_left_out_and_generated_code_is_marked() {
    let bundle = format!("!function(){{{}}}();", "var a=b(1);".repeat(2000));
    check_skip("chunk-4f2a.js", bundle.as_bytes(), "minified file");
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{:064}\nsize 5120\n", 8);
    let reason = "pointer to a file in large file storage that is not downloaded";
    check_skip("table.py", pointer.as_bytes(), reason);
    let map = b"{\"version\":3,\"sources\":[],\"mappings\":\"AAAA\"}";
    check_skip("bundle.json", map, "source map");
    assert!(text_of("a.go", b"// Code generated by x. DO NOT EDIT.\n").generated);
    assert!(!text_of("a.go", b"package a\n").generated);
}

#[test]
fn what_is_not_there_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let loaded = load(&folder.path().join("gone.py"), "gone.py");
    assert!(matches!(loaded, Loaded::Skipped { reason, transient: true } if reason == "vanished"));
    let loaded = load(folder.path(), "folder");
    assert!(matches!(loaded, Loaded::Skipped { transient, .. } if transient == cfg!(windows)));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.py"), "a\n").unwrap();
        symlink("a.py", path("link.py")).unwrap();
        assert!(Command::new("mkfifo").arg(path("pipe.py")).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(path("socket.py")).unwrap();
        for name in ["link.py", "pipe.py", "socket.py"] {
            match load(&path(name), name) {
                Loaded::Text(_) => panic!("{name} was read"),
                Loaded::Skipped { reason, transient } => {
                    assert_eq!((&*reason, transient), ("not a regular file", false), "{name}");
                }
            }
        }
        let _ = load(std::path::Path::new("/dev/zero"), "zero");
    }

    /// Names the locked file to the child process that runs without root's rights.
    const LOCKED_FILE: &str = "SEXTANT_TEST_LOCKED_FILE";

    #[test]
    fn a_locked_file_is_tried_again() {
        if let Some(path) = std::env::var_os(LOCKED_FILE) {
            return check_locked(Path::new(&path));
        }
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().join("m_locked.py");
        fs::write(&path, "a\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::File::open(&path).is_err() {
            return check_locked(&path);
        }
        // Root may read everything: ask as nobody.
        let copy = folder.path().join("copy-of-this-test");
        fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let output = Command::new(&copy)
            .args(["--exact", "source::tests::unix::a_locked_file_is_tried_again"])
            .current_dir("/")
            .env(LOCKED_FILE, &path)
            .uid(65534)
            .gid(65534)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
    }

    #[track_caller]
    fn check_locked(path: &Path) {
        let loaded = load(path, "m_locked.py");
        assert!(
            matches!(&loaded, Loaded::Skipped { reason, transient: true } if reason == "permission denied"),
            "{loaded:?}"
        );
    }
}
