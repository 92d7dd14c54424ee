//! What a hit is: lines of a file, as they stand there, each once.

use std::fs;

use sextant::engine::{Engine, Hit, SearchRequest, Strategy};

use crate::code::{EXTENSIONS, source};
use crate::support::{Place, QUERIES, ask, found, search};

/// No two hits of one file share a line, and each hit's text is its lines.
#[track_caller]
fn check_hits(place: &Place, hits: &[Hit], query: &str) {
    for (at, hit) in hits.iter().enumerate() {
        assert!(hit.start_line >= 1 && hit.start_line <= hit.end_line, "{query}: {hit:?}");
        for other in &hits[..at] {
            let overlaps = hit.path == other.path
                && hit.start_line <= other.end_line
                && other.start_line <= hit.end_line;
            assert!(
                !overlaps,
                "{query}: {} {}-{} and {}-{}",
                hit.path, hit.start_line, hit.end_line, other.start_line, other.end_line
            );
        }
        let bytes = fs::read(place.root.join(&hit.path)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert!(hit.end_line as usize <= lines.len(), "{query}: {hit:?}");
        let expected = lines[hit.start_line as usize - 1..hit.end_line as usize].concat();
        assert_eq!(
            hit.text,
            expected.trim_end_matches(['\n', '\r']),
            "{query}: {} {}-{}",
            hit.path,
            hit.start_line,
            hit.end_line
        );
    }
}

fn check_all(place: &Place, engine: &Engine, queries: &[&str]) {
    for query in queries {
        for strategy in [Strategy::Hybrid, Strategy::Tfidf, Strategy::Embeddings] {
            for limit in [3, 100] {
                let request = SearchRequest { strategy, limit: Some(limit), ..ask(query) };
                check_hits(place, &search(engine, &request).hits, query);
            }
        }
    }
}

#[test]
fn a_hit_is_the_lines_that_it_says() {
    let place = Place::new(&[]);
    for at in 0..48u64 {
        let extension = EXTENSIONS[at as usize % EXTENSIONS.len()];
        let text = source(extension, at).replace("\r\n", "\n");
        let text = if at % 3 == 0 { text.replace('\n', "\r\n") } else { text };
        let text = if at % 5 == 0 { text.trim_end().to_owned() } else { text };
        place.write(&format!("src/part_{at}.{extension}"), text);
    }
    check_all(&place, &place.index(), QUERIES);
}

#[test]
fn overlapping_hits_are_one() {
    let place = Place::new(&[]);
    // Fallback chunks of 60 lines share 10 with the next.
    let line = |at: usize| format!("line {at} speaks of the lantern and of oil\n");
    place.write("long.txt", (0..400).map(line).collect::<String>());
    let mixed: String =
        (0..400)
            .map(|at| {
                if at % 50 < 12 { format!("lantern lantern {at}\n") } else { format!("word{at}\n") }
            })
            .collect();
    place.write("mixed.txt", mixed);
    // A function over the bound is cut into parts that overlap.
    let statements: String =
        (0..400).map(|at| format!("    let lantern_{at} = light(lantern, {at});\n")).collect();
    place.write("long.rs", format!("pub fn light_lanterns() {{\n{statements}}}\n"));
    // A Markdown section and its parent.
    let section = |at: usize| format!("## Lantern {at}\n\nAbout the lantern and oil {at}.\n\n");
    place.write("doc.md", format!("# Lantern\n\n{}", (0..30).map(section).collect::<String>()));
    let engine = place.index();
    check_all(
        &place,
        &engine,
        &["lantern", "where is the lantern lit", "oil", "light_lanterns", "line"],
    );
}

#[test]
fn texts_with_odd_line_ends_and_lengths() {
    let place = Place::new(&[
        ("no_end.rs", "fn beacon_a() {}"),
        ("blank_lines.rs", "\n\n\nfn beacon_b() {}\n\n\n\n"),
        (
            "crlf.py",
            "def beacon_c():\r\n    return 1\r\n\r\n\r\ndef beacon_d():\r\n    return 2\r\n",
        ),
        ("mixed.py", "def beacon_e():\n    return 1\r\n\ndef beacon_f():\r\n    return 2\n"),
        ("wide.txt", "größe beacon 漢字 😀\nzweite beacon\n"),
        ("one_line.md", "# Beacon"),
    ]);
    place.write("long_line.json", format!("{{\"beacon\": \"{}\"}}\n", "beacon oil ".repeat(40)));
    let engine = place.index();
    check_all(&place, &engine, &["beacon", "beacon_d", "where does the beacon return", "größe"]);
    let hits = search(&engine, &ask("beacon_d")).hits;
    assert_eq!((hits[0].path.as_str(), hits[0].end_line), ("crlf.py", 6));
}

/// A query with neither word nor vector is looked up as it stands.
#[test]
fn characters_are_found_as_they_stand() {
    let place = Place::new(&[
        ("src/arrow.ts", "export const twice = (n: number) => n * 2;\n"),
        ("src/plain.ts", "export function once(n: number) {\n  return n;\n}\n"),
        ("src/dots.py", "value = a.b.c\nother = a_b_c\n"),
        ("src/other.py", "def once_more():\n    return 3\n"),
    ]);
    let engine = place.index();
    for (query, path) in
        [("=>", "src/arrow.ts"), ("a.b.c", "src/dots.py"), ("* 2;", "src/arrow.ts")]
    {
        let response = search(&engine, &ask(query));
        let first = response.hits.first().unwrap_or_else(|| panic!("{query}: no hit"));
        assert_eq!(first.path, path, "{query}");
        assert!(first.text.contains(query), "{query}");
    }
    let response = search(&engine, &ask("=>"));
    assert_eq!((response.strategy, response.hits.len()), ("text", 1));
    assert!(found(&engine, "<=>").is_empty());
    let request = SearchRequest { paths: vec!["src/plain.ts".into()], ..ask("=>") };
    assert!(search(&engine, &request).hits.is_empty());
}

#[test]
fn an_explanation_comes_when_asked_for() {
    let place = Place::new(&[("a.rs", "pub fn beacon() {}\n")]);
    let engine = place.index();
    assert!(search(&engine, &ask("beacon")).hits[0].explanation.is_empty());
    let request = SearchRequest { explain: true, ..ask("beacon") };
    let hit = &search(&engine, &request).hits[0];
    assert!(hit.explanation.iter().any(|(name, _)| *name == "definition"), "{:?}", hit.explanation);
}

/// A name that is used and nowhere defined is still found, however short.
#[test]
fn short_names_are_found_where_they_are_used() {
    let place = Place::new(&[
        ("src/area.rs", "pub fn area(width: u32) -> u32 {\n    let q = width * 2;\n    q + 1\n}\n"),
        ("src/other.rs", "pub fn other(width: u32) -> u32 {\n    width\n}\n"),
    ]);
    let engine = place.index();
    for query in ["q", "q + 1", "let q"] {
        assert_eq!(
            found(&engine, query).first().map(String::as_str),
            Some("src/area.rs"),
            "{query}"
        );
    }
}

#[test]
fn one_file_may_give_several_hits() {
    let function = |name: &str| {
        let body: String = (0..40).map(|n| format!("    lantern_{n} = light({n})\n")).collect();
        format!("def {name}():\n    \"\"\"light the lantern\"\"\"\n{body}    return lantern_0\n\n")
    };
    let text: String = ["dusk", "night", "dawn"].map(function).concat();
    let place = Place::new(&[("lamps.py", &text), ("other.py", "def other():\n    return 1\n")]);
    let response = search(&place.index(), &ask("light the lantern"));
    let n_hits = response.hits.iter().filter(|hit| hit.path == "lamps.py").count();
    assert!(n_hits >= 2, "{:?}", response.hits);
    check_hits(&place, &response.hits, "light the lantern");
}
