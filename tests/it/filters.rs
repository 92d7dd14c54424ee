//! Filters, limits, budgets and several roots.

use std::fs;
use std::path::PathBuf;

use sextant::chunk::ChunkKind;
use sextant::engine::{Engine, SearchRequest, SearchResponse};
use sextant::token::TokenCounter;

use crate::code::source;
use crate::support::{
    Place, ask, check_equals_fresh, finds, found, options, search, sync, sync_and_search,
};

const FILES: &[(&str, &str)] = &[
    ("app/[id]/page.tsx", "export function LanternPage() {\n  return <div>lantern</div>;\n}\n"),
    ("app/i/other.tsx", "export function LanternOther() {\n  return <div>lantern</div>;\n}\n"),
    ("src/lantern.rs", "pub struct Lantern;\n\npub fn light_lantern() -> u32 {\n    1\n}\n"),
    ("src/deep/lantern.py", "def light_lantern():\n    return 'lantern'\n"),
    ("src/lantern.sh", "#!/bin/bash\nlight_lantern() {\n  echo lantern\n}\n"),
    ("src/lantern.cs", "class Lantern {\n  void Light() { }\n}\n"),
    ("gr\u{f6}\u{df}e/composed.py", "def lantern_composed():\n    return 1\n"),
    ("o\u{308}l/decomposed.py", "def lantern_decomposed():\n    return 1\n"),
    ("100%/a&b o'c.md", "# Lantern\n\nThe lantern.\n"),
    ("web/useLantern.ts", "export function useLantern() {\n  return 'lantern';\n}\n"),
];

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

#[track_caller]
fn check(engine: &Engine, request: &SearchRequest, expected: &[&str]) {
    let hits = search(engine, &SearchRequest { limit: Some(100), ..request.clone() }).hits;
    let mut paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(paths, expected, "{:?} {:?} {:?}", request.paths, request.languages, request.kinds);
}

#[test]
fn paths() {
    let place = Place::new(FILES);
    let engine = place.index();
    let all: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
    let tsx = ["app/[id]/page.tsx", "app/i/other.tsx"];
    for (globs, expected) in [
        (&[] as &[&str], all.as_slice()),
        (&["."], &all),
        (&["**"], &all),
        (&["app"], &tsx),
        (&["app/"], &tsx),
        (&["./app/**"], &tsx),
        (&["*.tsx"], &tsx),
        (&["**/*.{tsx,jsx}"], &tsx),
        (&["app/[id]/page.tsx"], &tsx[..1]),
        (&["app/*/page.tsx"], &tsx[..1]),
        (&["src/*.rs"], &["src/lantern.rs"]),
        (&["lantern.py"], &["src/deep/lantern.py"]),
        (&["src/deep", "web"], &["src/deep/lantern.py", "web/useLantern.ts"]),
        (&["gr\u{f6}\u{df}e"], &["gr\u{f6}\u{df}e/composed.py"]),
        (&["gro\u{308}\u{df}e/composed.py"], &["gr\u{f6}\u{df}e/composed.py"]),
        (&["\u{f6}l/*.py"], &["o\u{308}l/decomposed.py"]),
        (&["o\u{308}l"], &["o\u{308}l/decomposed.py"]),
        (&["100%/a&b o'c.md"], &["100%/a&b o'c.md"]),
        (&["nowhere", "../tree", "/src"], &[]),
    ] {
        check(&engine, &SearchRequest { paths: texts(globs), ..ask("lantern") }, expected);
    }
    // A name with brackets is itself first of all, but a glob too.
    let hits =
        search(&engine, &SearchRequest { paths: texts(&["app/[id]"]), ..ask("lantern") }).hits;
    assert!(hits.iter().any(|hit| hit.path == "app/[id]/page.tsx"));
}

#[test]
fn languages() {
    let place = Place::new(FILES);
    let engine = place.index();
    let shell = ["src/lantern.sh"];
    for (names, expected) in [
        (&["rust"] as &[&str], &["src/lantern.rs"] as &[&str]),
        (&["RS"], &["src/lantern.rs"]),
        (&["c#"], &["src/lantern.cs"]),
        (&["bash"], &shell),
        (&["sh"], &shell),
        (&["shellscript"], &shell),
        (&["ts"], &["web/useLantern.ts"]),
        (&["rust", "ts"], &["src/lantern.rs", "web/useLantern.ts"]),
        (&["cobol"], &[]),
    ] {
        check(&engine, &SearchRequest { languages: texts(names), ..ask("lantern") }, expected);
    }
}

#[test]
fn kinds() {
    let place = Place::new(FILES);
    let engine = place.index();
    for kind in ChunkKind::ALL.map(ChunkKind::name) {
        for query in ["lantern", "=>"] {
            let request = SearchRequest { kinds: texts(&[kind]), limit: Some(100), ..ask(query) };
            for hit in search(&engine, &request).hits {
                assert_eq!(hit.kind, kind);
            }
        }
    }
    let request = SearchRequest {
        kinds: texts(&["component", "hook"]),
        paths: texts(&["app", "web"]),
        ..ask("lantern")
    };
    check(&engine, &request, &["app/[id]/page.tsx", "app/i/other.tsx", "web/useLantern.ts"]);
}

/// Code with many chunks that all hold the word.
fn long_place() -> Place {
    let place = Place::new(&[]);
    for at in 0..12 {
        let lines: String = (0..9)
            .map(|n| format!("    let lantern_{n} = oil(\"größe {n}\", 'ж') + {at};\n"))
            .collect();
        place.write(
            &format!("src/lamp_{at}.rs"),
            format!("/// Lights lantern {at}.\npub fn light_lantern_{at}() {{\n{lines}}}\n"),
        );
    }
    place
}

#[test]
fn a_limit_is_a_prefix() {
    let place = long_place();
    let engine = place.index();
    let all = search(&engine, &SearchRequest { limit: Some(100), ..ask("light the lantern") }).hits;
    assert_eq!(all.len(), 12);
    assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first");
    for limit in [1, 2, 5, 12] {
        let some =
            search(&engine, &SearchRequest { limit: Some(limit), ..ask("light the lantern") }).hits;
        assert_eq!(some.len(), limit);
        for (a, b) in some.iter().zip(&all) {
            assert_eq!((&a.path, a.score.to_bits()), (&b.path, b.score.to_bits()));
        }
    }
}

#[test]
fn a_budget_takes_whole_hits_and_cuts_the_last_at_a_line() {
    let place = long_place();
    let engine = place.index();
    let counter = TokenCounter::new();
    let ask_within = |budget: Option<usize>| -> SearchResponse {
        let request = SearchRequest { token_budget: budget, ..ask("light the lantern") };
        search(&engine, &request)
    };
    let whole = ask_within(None).hits;
    let counts: Vec<usize> = whole.iter().map(|hit| counter.count(&hit.text)).collect();
    let total: usize = counts.iter().sum();
    let two = counts[0] + counts[1];
    for budget in [
        0,
        1,
        2,
        15,
        40,
        counts[0] - 1,
        counts[0],
        counts[0] + 1,
        two,
        two + 60,
        total - 1,
        total,
        total + 1,
    ] {
        let hits = ask_within(Some(budget)).hits;
        let used: usize = hits.iter().map(|hit| counter.count(&hit.text)).sum();
        assert!(used <= budget, "{used} of {budget}");
        let n_whole = {
            let mut left = budget;
            counts
                .iter()
                .take_while(|&&n| left.checked_sub(n).map(|rest| left = rest).is_some())
                .count()
        };
        assert!(hits.len() == n_whole || hits.len() == n_whole + 1, "{} at {budget}", hits.len());
        for (hit, full) in hits.iter().zip(&whole).take(n_whole) {
            assert_eq!((&hit.text, hit.end_line), (&full.text, full.end_line));
        }
        let rest = budget - counts[..n_whole].iter().sum::<usize>();
        if let Some(cut) = hits.get(n_whole) {
            let full = &whole[n_whole];
            assert_eq!((&cut.path, cut.start_line), (&full.path, full.start_line));
            let n_lines = (cut.end_line + 1 - cut.start_line) as usize;
            let lines: Vec<&str> = full.text.split_inclusive('\n').collect();
            assert_eq!(
                cut.text.trim_end_matches('\n'),
                lines[..n_lines].concat().trim_end_matches('\n')
            );
            assert!(
                counter.count(&lines[..=n_lines].concat()) > rest,
                "a line more would fit {budget}"
            );
        } else if let Some(full) = whole.get(n_whole) {
            let first = full.text.split_inclusive('\n').next().unwrap();
            assert!(counter.count(first) > rest, "a line would fit {budget}");
        }
    }
}

#[test]
fn roots_of_one_name_and_nested_roots() {
    let place = Place::new(&[]);
    let at = |path: &str| place.top.join(path);
    for (path, name) in [
        ("a/app/main.rs", "in_a"),
        ("b/app/main.rs", "in_b"),
        ("b/app/pack [x]/main.rs", "in_nested"),
        ("b/app/pack [x]/deep/inner.rs", "in_deep"),
        ("b/app/pack x/main.rs", "in_sibling"),
    ] {
        place.write_at(&at(path), format!("pub fn beacon_{name}() {{}}\n"));
    }
    let roots: Vec<PathBuf> = [at("a/app"), at("b/app"), at("b/app/pack [x]")].to_vec();
    let engine = Engine::open(options(&roots, &place.storage)).unwrap();
    assert_eq!(sync(&engine).files, 5);
    let root = |at: usize| roots[at].to_string_lossy().into_owned();
    let mut files: Vec<(String, String)> =
        engine.files().unwrap().into_iter().map(|file| (file.root, file.path)).collect();
    files.sort();
    let mut expected = vec![
        (root(0), "main.rs".to_owned()),
        (root(1), "main.rs".to_owned()),
        (root(1), "pack x/main.rs".to_owned()),
        (root(2), "deep/inner.rs".to_owned()),
        (root(2), "main.rs".to_owned()),
    ];
    expected.sort();
    assert_eq!(files, expected, "each file once, under its innermost root");
    let hits = search(&engine, &SearchRequest { limit: Some(100), ..ask("beacon") }).hits;
    assert_eq!(hits.len(), 5);
    for (query, at) in [("beacon_in_a", 0), ("beacon_in_b", 1), ("beacon_in_nested", 2)] {
        let hits = search(&engine, &ask(query)).hits;
        assert_eq!((&hits[0].root, hits[0].path.as_str()), (&root(at), "main.rs"));
    }
    // An absolute path is of one root alone, though others hold files of the same name, and of those nested in it.
    let within = |paths: &[&std::path::Path]| {
        let paths = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let request = SearchRequest { limit: Some(100), paths, ..ask("beacon") };
        let hits = search(&engine, &request).hits;
        let mut names: Vec<_> = hits.into_iter().filter_map(|hit| hit.name).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(within(&[&at("a/app")]), ["beacon_in_a"]);
    assert_eq!(within(&[&at("b/app/main.rs")]), ["beacon_in_b"]);
    // As a glob it means `pack x` as well.
    let packs = ["beacon_in_deep", "beacon_in_nested", "beacon_in_sibling"];
    assert_eq!(within(&[&at("b/app/pack [x]")]), packs);
    assert_eq!(within(&[&at("b/app")]).len(), 4);
    assert_eq!(within(&[&at("a/app"), "pack x".as_ref()]), ["beacon_in_a", "beacon_in_sibling"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("b"), at("link")).unwrap();
        assert_eq!(within(&[&at("link/app/main.rs")]), ["beacon_in_b"]);
    }
    // A file of an inner root is one of that root, also where its chunks are asked for.
    let inner = at("b/app/pack [x]/deep/inner.rs");
    assert_eq!(engine.chunks(&inner.to_string_lossy()).unwrap().path, "deep/inner.rs");
    assert_eq!(sync(&engine).unchanged, 5);
    check_equals_fresh(&engine, &roots);
    // The order of the roots does not matter for what is indexed, and one root alone is a set of its own.
    let turned: Vec<PathBuf> = roots.iter().rev().cloned().collect();
    let other = Engine::open(options(&turned, &place.top.join("turned"))).unwrap();
    sync(&other);
    assert_eq!(other.files().unwrap().len(), 5);
    let outer = Engine::open(options(&roots[1..2], &place.top.join("outer"))).unwrap();
    assert_eq!(sync(&outer).files, 4);
}

/// One storage, first for one set of roots and then for another.
#[test]
fn roots_that_come_and_go() {
    let place = Place::new(&[]);
    place.write_at(&place.top.join("a/x.rs"), "pub fn beacon_a() {}\n");
    place.write_at(&place.top.join("b/y.rs"), "pub fn beacon_b() {}\n");
    let (a, b) = (place.top.join("a"), place.top.join("b"));
    let one = Engine::open(options(std::slice::from_ref(&a), &place.storage)).unwrap();
    sync(&one);
    let both = [a.clone(), b.clone()];
    let two = Engine::open(options(&both, &place.storage)).unwrap();
    let response = sync_and_search(&two, "beacon_b").unwrap();
    assert_eq!(response.hits[0].path, "y.rs");
    assert_eq!(found(&one, "beacon").len(), 1, "the other root is none of its own");
    check_equals_fresh(&two, &both);
    two.clear().unwrap();
    assert_eq!(sync(&one).added, 1);
    assert!(finds(&one, "beacon_a"));
}

/// The bytes of everything in the storage folder.
fn stored(place: &Place) -> Vec<u8> {
    place
        .stored_names()
        .iter()
        .flat_map(|name| fs::read(place.storage.join(name)).unwrap())
        .collect()
}

/// Text that became ignored is nowhere any more, not in free pages nor in the log.
#[test]
fn text_of_a_file_that_became_ignored_is_gone() {
    // Not compressible, so that it stands as it is in the database: a name, a path and words.
    let place = Place::new(&[]);
    let secret = "q7Zx9KpW2vRt5LmN8sYb3HcJ6dGf4TqA1";
    for at in 0..12 {
        place.write(&format!("src/part_{at}.rs"), source("rs", at));
    }
    place.write("conf/hush.rs", format!("pub fn {secret}() -> u32 {{\n    1\n}}\n// {secret}\n"));
    let engine = place.index();
    let needles = [secret.to_owned(), secret.to_lowercase()];
    let n_traces = |place: &Place| {
        let bytes = stored(place);
        needles.iter().filter(|n| memchr::memmem::find(&bytes, n.as_bytes()).is_some()).count()
    };
    assert!(n_traces(&place) > 0, "the marker can be seen before");
    place.write(".sextantignore", "conf/\n");
    assert_eq!(sync(&engine).removed, 1);
    assert_eq!(n_traces(&place), 0, "with the engine open");
    engine.close();
    assert_eq!(n_traces(&place), 0, "with the engine closed");
    let engine = place.index();
    assert!(!finds(&engine, secret));
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}

/// As above, where the file was changed, moved and merged before, and another engine reads meanwhile.
#[test]
fn older_texts_of_a_file_that_became_ignored_are_gone() {
    let place = Place::new(&[("src/a.rs", "pub fn a() {}\n")]);
    let reader = place.index();
    let writer = place.open();
    let mut secrets = Vec::new();
    for at in 0..10 {
        let secret = format!("v{at}Zx9KpW2vRt5LmN8sYb3HcJ6dGf4TqA{at}");
        place.write("conf/hush.rs", format!("pub fn {secret}() -> u32 {{\n    {at}\n}}\n"));
        sync(&writer);
        assert!(finds(&reader, &secret));
        secrets.push(secret);
    }
    place.write(".gitignore", "hush.rs\n");
    sync(&writer);
    assert!(!finds(&reader, secrets.last().unwrap()));
    reader.close();
    writer.close();
    place.index().close();
    let bytes = stored(&place);
    for secret in &secrets {
        for needle in [secret.clone(), secret.to_lowercase()] {
            assert!(memchr::memmem::find(&bytes, needle.as_bytes()).is_none(), "{needle} is left");
        }
    }
}

/// The overview is what the lists say, counted.
#[test]
fn an_overview_counts_files_and_reasons_for_each_root() {
    let place = Place::new(&[]);
    for (path, text) in
        [("a/x.rs", "fn a() {}\n"), ("a/y.rs", "fn b() {}\n"), ("a/z.py", "c = 1\n")]
    {
        place.write_at(&place.top.join(path), text);
    }
    place.write_at(&place.top.join("b/one.md"), "# One\n");
    for n in 0..120 {
        place.write_at(&place.top.join(format!("b/picture{n:03}.png")), "\u{89}PNG");
    }
    for secret in [".env", "server.pem", "client.pem"] {
        place.write_at(&place.top.join("b").join(secret), "TOKEN=1\n");
    }
    // Each rule of an ignore file is a reason.
    let rules: Vec<String> = (0..150).map(|n| format!("/ignored{n}")).collect();
    place.write_at(&place.top.join("a/.gitignore"), rules.join("\n"));
    for n in 0..150 {
        place.write_at(&place.top.join(format!("a/ignored{n}")), "x\n");
    }
    let roots = [place.top.join("a"), place.top.join("b"), place.top.join("empty")];
    fs::create_dir_all(&roots[2]).unwrap();
    let engine = Engine::open(options(&roots, &place.storage)).unwrap();
    assert_eq!(engine.overview().unwrap_err().code(), "INDEX_NOT_BUILT");
    sync(&engine);
    let overview = engine.overview().unwrap();
    let of = |at: usize| {
        let root = roots[at].to_string_lossy();
        overview.iter().find(|overview| overview.root == root).unwrap()
    };
    assert_eq!((of(0).files, &of(0).languages[..2]), (4, &[("rust", 2), ("ignore", 1)][..]));
    let others = of(0).skipped.last().unwrap();
    assert_eq!((of(0).skipped.len(), others.reason.as_str()), (101, "other reasons"));
    assert_eq!((others.n_paths, others.first_paths.len()), (50, 50));
    let reasons: Vec<(u64, usize)> =
        of(1).skipped.iter().map(|reason| (reason.n_paths, reason.first_paths.len())).collect();
    assert_eq!((of(1).files, reasons), (1, vec![(120, 100), (3, 3)]));
    assert_eq!(of(1).skipped[0].first_paths[0], "picture000.png");
    assert_eq!(of(1).skipped[1].reason, "may hold secrets");
    assert_eq!(of(1).skipped[1].first_paths, [".env", "client.pem", "server.pem"]);
    assert_eq!((of(2).files, of(2).skipped.len()), (0, 0));
    for overview in &overview {
        let n_files =
            engine.files().unwrap().iter().filter(|file| file.root == overview.root).count();
        let n_skipped =
            engine.skipped().unwrap().iter().filter(|path| path.root == overview.root).count();
        let n_counted: u64 = overview.skipped.iter().map(|reason| reason.n_paths).sum();
        assert_eq!((overview.files, n_counted), (n_files as u64, n_skipped as u64));
    }
}
