//! Wrong or extreme input gets a coded error or a right answer.

use std::fs;
use std::path::{Path, PathBuf};

use sextant::engine::{Engine, SearchRequest, Strategy};
use sextant::error::{ALL_CODES, Fault};

use crate::support::{Place, ask, code_of, finds, found, options, search, sync, sync_and_search};

const FILES: &[(&str, &str)] = &[
    (
        "src/session.rs",
        "/// Checks that a token has expired.\npub fn is_token_expired(now: u64) -> bool {\n    now > 5\n}\n",
    ),
    ("src/route.py", "def resolve_route(path):\n    return path.split('/')\n"),
];

#[track_caller]
fn check_open(roots: &[PathBuf], storage: &Path, code: &str) {
    let result = Engine::open(options(roots, storage));
    if let Err(error) = &result {
        assert!(ALL_CODES.contains(&error.code()));
    }
    assert_eq!(code_of(result), code, "{roots:?} {storage:?}");
}

#[test]
fn roots_that_are_none() {
    let place = Place::new(FILES);
    let storage = &place.storage;
    check_open(&[], storage, "INVALID_ARGUMENT");
    for missing in [place.top.join("missing"), place.root.join("src/none/below"), PathBuf::new()] {
        check_open(&[missing], storage, "ROOT_NOT_FOUND");
    }
    check_open(&[place.root.join("src/route.py")], storage, "ROOT_NOT_A_FOLDER");
    check_open(&[place.root.join("src/route.py/below")], storage, "ROOT_NOT_A_FOLDER");
    check_open(&[place.root.clone(), place.top.join("missing")], storage, "ROOT_NOT_FOUND");
    check_open(&[place.root.clone(), place.root.clone()], storage, "OK");
}

#[test]
fn an_empty_folder_has_an_index_without_files() {
    let place = Place::new(&[]);
    let engine = place.open();
    assert_eq!(code_of(engine.files()), "INDEX_NOT_BUILT");
    assert_eq!(code_of(engine.skipped()), "INDEX_NOT_BUILT");
    assert_eq!(code_of(engine.search(&Default::default(), &ask("x"))), "INDEX_NOT_BUILT");
    assert_eq!(engine.status().unwrap().state, "empty");
    assert_eq!(sync(&engine).files, 0);
    assert_eq!(engine.status().unwrap().state, "ready");
    for query in ["x", "where is the session", "=>", "漢字"] {
        assert!(found(&engine, query).is_empty(), "{query}");
    }
    assert!(engine.files().unwrap().is_empty() && engine.skipped().unwrap().is_empty());
    place.write(FILES[0].0, FILES[0].1);
    assert_eq!(sync_and_search(&engine, "token expired").unwrap().hits[0].path, FILES[0].0);
}

#[test]
fn queries_of_every_sort() {
    let place = Place::new(FILES);
    let engine = place.index();
    for blank in ["", " ", "\t\r\n ", "\u{a0}\u{3000}"] {
        assert_eq!(code_of(sync_and_search(&engine, blank)), "EMPTY_QUERY", "{blank:?}");
    }
    let long = |piece: &str| piece.repeat((1 << 20) / piece.len());
    for (query, has_hit) in [
        (long("token expired "), true),
        (long("x"), false),
        (long("("), false),
        (long("漢字"), false),
        (long("\u{301}"), false),
        ((0..150_000).map(|n| format!("word{n} ")).collect(), false),
        (format!("{}{}", long(" "), "token expired"), true),
        ("?!.,;:(){}[]<>/\\|`~@#$%^&*-_=+".to_owned(), false),
        ("(now: u64)".to_owned(), true),
        ("\u{200b}\u{200d}\u{feff}".to_owned(), false),
        ("\0".to_owned(), false),
        ("\0token\0".to_owned(), true),
        ("🔥👩‍👩‍👧".to_owned(), false),
        ("where is the".to_owned(), false),
        ("%s' OR 1=1; DROP TABLE files --".to_owned(), false),
    ] {
        let shown: String = query.chars().take(20).collect();
        let response = sync_and_search(&engine, &query).unwrap();
        if has_hit {
            assert_eq!(response.hits[0].path, FILES[0].0, "{shown:?}");
        }
    }
    let cut = sync_and_search(&engine, &long("token expired ")).unwrap();
    assert!(cut.degraded.iter().any(|degradation| degradation.code == "QUERY_CUT"));
    assert_eq!(cut.query.len(), long("token expired ").len(), "the question as asked");
    // Nothing of it did harm.
    assert!(finds(&engine, "is_token_expired"));
}

#[test]
fn requests_that_cannot_be() {
    let place = Place::new(FILES);
    let engine = place.index();
    let good = || ask("token expired");
    let texts = |text: &str| vec![text.to_owned()];
    for (request, code) in [
        (SearchRequest { limit: Some(0), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { limit: Some(1), ..good() }, "OK"),
        (SearchRequest { limit: Some(1000), ..good() }, "OK"),
        (SearchRequest { limit: Some(1001), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { limit: Some(usize::MAX), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { languages: texts("klingon"), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { languages: texts(""), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { kinds: texts("methods"), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { kinds: texts(""), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { paths: texts("["), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { paths: texts("{a,"), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { paths: texts("[!a"), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { paths: texts(&"{".repeat(500)), ..good() }, "INVALID_ARGUMENT"),
        (SearchRequest { paths: texts(&"a".repeat(5000)), ..good() }, "OK"),
        (SearchRequest { paths: texts(&format!("{}x", "**/".repeat(2000))), ..good() }, "OK"),
        (SearchRequest { paths: texts("../.."), ..good() }, "OK"),
        (SearchRequest { paths: texts("a\0b"), ..good() }, "OK"),
        (SearchRequest { keywords: texts(&"word ".repeat(200_000)), ..good() }, "OK"),
        (SearchRequest { token_budget: Some(0), ..good() }, "OK"),
        (SearchRequest { token_budget: Some(usize::MAX), ..good() }, "OK"),
        (SearchRequest { strategy: Strategy::Full, ..good() }, "OK"),
        (SearchRequest { strategy: Strategy::Remote, ..good() }, "STRATEGY_UNAVAILABLE"),
    ] {
        let shown = format!("{request:?}").chars().take(300).collect::<String>();
        let result = engine.search(&Default::default(), &request);
        if let Err(error) = &result {
            assert_eq!(error.fault(), Fault::Caller);
        }
        assert_eq!(code_of(result), code, "{shown}");
    }
    // A wrong question is known before any work is done.
    let unbuilt = Place::new(FILES);
    let engine = unbuilt.open();
    assert_eq!(code_of(sync_and_search(&engine, " ")), "EMPTY_QUERY");
    assert_eq!(engine.status().unwrap().state, "empty");
}

#[test]
fn storage_that_cannot_be_written() {
    let place = Place::new(FILES);
    let file = place.top.join("file");
    fs::write(&file, "kept").unwrap();
    let roots = [place.root.clone()];
    check_open(&roots, &file, "STORAGE_UNWRITABLE");
    check_open(&roots, &file.join("below"), "STORAGE_UNWRITABLE");
    check_open(&roots, &place.top.join("x".repeat(300)), "STORAGE_UNWRITABLE");
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    fs::create_dir_all(place.storage.join("write.lock")).unwrap();
    check_open(&roots, &place.storage, "STORAGE_UNWRITABLE");
}

/// The last complete index answers where a new one cannot be written.
#[test]
fn a_lock_that_cannot_be_taken_leaves_the_old_answer() {
    let place = Place::new(FILES);
    let engine = place.index();
    fs::remove_file(place.storage.join("write.lock")).unwrap();
    fs::create_dir(place.storage.join("write.lock")).unwrap();
    place.write("src/new.rs", "pub fn unseen_newcomer() {}\n");
    let response = sync_and_search(&engine, "is_token_expired").unwrap();
    assert_eq!(response.hits[0].path, FILES[0].0);
    assert_eq!(response.degraded[0].code, "STORAGE_UNWRITABLE");
    let last = engine.status().unwrap().last_error.unwrap();
    assert_eq!(last.code, "STORAGE_UNWRITABLE");
    fs::remove_dir(place.storage.join("write.lock")).unwrap();
    assert_eq!(sync_and_search(&engine, "unseen_newcomer").unwrap().hits[0].path, "src/new.rs");
    assert!(engine.status().unwrap().last_error.is_none());
}

#[test]
fn storage_inside_a_root() {
    let place = Place::new(FILES);
    let roots = [place.root.clone()];
    let before = fs::read_dir(&place.root).unwrap().count();
    for inside in
        ["", "storage", "src/new/deep", "new/../storage", "./storage", "none/../../tree/storage"]
    {
        check_open(&roots, &place.root.join(inside), "STORAGE_INSIDE_ROOT");
    }
    check_open(&roots, &place.top.join("tree/../tree/storage"), "STORAGE_INSIDE_ROOT");
    let two = [place.top.join("other"), place.root.clone()];
    fs::create_dir(&two[0]).unwrap();
    check_open(&two, &place.root.join("storage"), "STORAGE_INSIDE_ROOT");
    assert_eq!(fs::read_dir(&place.root).unwrap().count(), before, "nothing was made");
    check_open(&roots, &place.top.join("tree-storage"), "OK");
}

/// A part that does not exist and is left again leads to a folder inside all the same.
#[test]
fn storage_inside_a_root_by_way_of_a_folder_that_is_not_there() {
    let place = Place::new(FILES);
    let before = fs::read_dir(&place.root).unwrap().count();
    let roots = [place.root.clone()];
    check_open(&roots, &place.top.join("none/../tree/storage"), "STORAGE_INSIDE_ROOT");
    assert_eq!(fs::read_dir(&place.root).unwrap().count(), before, "nothing was made");
}

#[cfg(unix)]
#[test]
fn storage_inside_a_root_through_a_link() {
    use std::os::unix::fs::symlink;
    let place = Place::new(FILES);
    let roots = [place.root.clone()];
    symlink(&place.root, place.top.join("link")).unwrap();
    symlink(place.root.join("not-there"), place.top.join("dangling")).unwrap();
    for inside in ["link", "link/storage", "link/new/deep", "link/src/storage"] {
        check_open(&roots, &place.top.join(inside), "STORAGE_INSIDE_ROOT");
    }
    let code = code_of(Engine::open(options(&roots, &place.top.join("dangling"))));
    assert!(["STORAGE_INSIDE_ROOT", "STORAGE_UNWRITABLE"].contains(&code), "{code}");
    assert!(!place.root.join("not-there").exists() && !place.root.join("storage").exists());
    // The root by its link, the storage by its real path.
    check_open(&[place.top.join("link")], &place.root.join("storage"), "STORAGE_INSIDE_ROOT");
}

#[test]
fn chunks_of_what_is_no_file_of_ours() {
    let place = Place::new(FILES);
    place.write_at(&place.top.join("outside.rs"), "fn outside() {}\n");
    place.write("image.dat", [0u8; 32]);
    let engine = place.open();
    for path in [
        "none.rs",
        "src",
        "",
        ".",
        "..",
        "../outside.rs",
        "/etc/passwd",
        "src/../..",
        "image.dat",
        "a\0b",
    ] {
        assert_eq!(code_of(engine.chunks(path)), "NOT_INDEXED", "{path:?}");
    }
    let absolute = place.root.join(FILES[0].0);
    for path in
        [FILES[0].0, "./src/session.rs", "src/../src/session.rs", absolute.to_str().unwrap()]
    {
        let chunks = engine.chunks(path).unwrap();
        assert_eq!((chunks.path.as_str(), chunks.language), (FILES[0].0, "rust"), "{path:?}");
        assert_eq!(chunks.chunks[0].name.as_deref(), Some("is_token_expired"));
    }
}

#[test]
fn a_closed_engine_says_so() {
    let place = Place::new(FILES);
    let engine = place.index();
    engine.close();
    engine.close();
    assert_eq!(code_of(engine.files()), "CLOSED");
    assert_eq!(code_of(engine.skipped()), "CLOSED");
    assert_eq!(code_of(engine.status()), "CLOSED");
    assert_eq!(code_of(engine.clear()), "CLOSED");
    assert_eq!(code_of(sync_and_search(&engine, "token")), "CLOSED");
    assert_eq!(code_of(engine.search(&Default::default(), &ask("token"))), "CLOSED");
}

#[test]
fn clear_removes_the_index_and_the_next_sync_builds_it() {
    let place = Place::new(FILES);
    let engine = place.index();
    engine.clear().unwrap();
    assert_eq!(engine.status().unwrap().state, "cleared");
    assert_eq!(code_of(engine.files()), "INDEX_NOT_BUILT");
    engine.clear().unwrap();
    let report = sync(&engine);
    assert_eq!((report.added, report.unchanged), (2, 0));
    assert!(report.degraded.is_empty());
    assert_eq!(search(&engine, &ask("is_token_expired")).hits[0].path, FILES[0].0);
}
