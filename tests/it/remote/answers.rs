//! What becomes of the server's answers.

use std::sync::atomic::Ordering;

use sextant::remote::{Gate, LocalPart, MAX_QUERY_BYTES, Rejected};

use super::server::Reply;
use super::world::{Act, World, answer, git, hit, ready, refuses};

const APP: &str = "git.example/acme/app";
const SEARCH: &str = "search/acme/app";

#[test]
fn an_unchanged_repository_is_answered_by_the_server_alone() {
    let world = World::new(&["app"]);
    world.finds("app", &["src/b.rs", "src/a.rs"]);
    let outcome = world.ask().unwrap();
    assert_eq!(world.show(&outcome), ["app/src/b.rs", "app/src/a.rs"]);
    let report = outcome.report;
    assert_eq!((report.local, report.n_changed), (LocalPart::Skipped, 0));
    assert_eq!((report.index.as_str(), report.searched), ("test", vec![APP.to_owned()]));
    assert!(world.searched.lock().unwrap().is_empty());
}

#[test]
fn changed_files_are_answered_here() {
    let world = World::new(&["app"]);
    world.finds("app", &["src/b.rs", "src/c.rs", "src/a.rs"]);
    world.write("app", "src/b.rs");
    world.write("app", "src/new.rs");
    world.write("app", "src/hidden.rs");
    world.remove("app", "src/a.rs");
    let outcome = world.ask().unwrap();
    assert_eq!(world.show(&outcome), ["app/src/c.rs", "!app/src/b.rs", "!app/src/new.rs"]);
    assert_eq!((outcome.report.local, outcome.report.n_changed), (LocalPart::Vectors, 3));
    assert_eq!(*world.searched.lock().unwrap(), [["src/b.rs", "src/new.rs"]]);
}

#[test]
fn changes_since_the_indexed_commit_count_when_committed() {
    let world = World::new(&["app"]);
    world.finds("app", &["src/b.rs"]);
    world.write("app", "src/b.rs");
    git(&world.top_of("app"), &["commit", "-q", "-a", "-m", "second"]);
    world.check(&["!app/src/b.rs"]);
}

#[test]
fn without_local_hits_the_server_stands_alone_and_says_so() {
    let mut world = World::new(&["app"]);
    world.finds("app", &["src/b.rs", "src/a.rs", "src/c.rs"]);
    world.write("app", "src/b.rs");
    world.remove("app", "src/a.rs");
    let expected = ["REMOTE_INDEX_BEHIND", "app/src/b.rs", "app/src/c.rs"];
    (world.vectors, world.words) = (Act::Fails, Act::Fails);
    let outcome = world.ask().unwrap();
    assert_eq!(world.show(&outcome), expected);
    assert_eq!(outcome.report.local.name(), "failed");
    (world.vectors, world.words) = (Act::Hangs, Act::Hangs);
    world.limits.local_ms = 30;
    let outcome = world.ask().unwrap();
    assert_eq!(world.show(&outcome), expected);
    assert_eq!((outcome.report.local, outcome.report.local_ms), (LocalPart::TimedOut, None));
}

#[test]
fn a_slow_local_search_does_not_cost_the_answer() {
    let mut world = World::new(&["app"]);
    world.finds("app", &["src/b.rs"]);
    world.write("app", "src/b.rs");
    (world.vectors, world.words) = (Act::Hangs, Act::Hangs);
    world.limits.answer_ms = 30;
    world.check(&["REMOTE_INDEX_BEHIND", "app/src/b.rs"]);
    assert!(world.was_stopped.load(Ordering::Relaxed));
}

#[test]
fn many_changed_files_are_searched_by_words() {
    let mut world = World::new(&["app"]);
    world.write("app", "src/a.rs");
    world.write("app", "src/b.rs");
    world.limits.max_embedded_changes = 1;
    world.vectors = Act::Fails;
    let outcome = world.ask().unwrap();
    assert_eq!(outcome.report.local, LocalPart::Words);
    assert_eq!(world.show(&outcome), ["!app/src/a.rs", "!app/src/b.rs"]);
}

/// An answer that is none: the local search is stopped, and there is a reason.
#[track_caller]
fn check_no_answer(reply: Reply, gate: Gate, detail: &str) {
    let mut world = World::new(&["app"]);
    world.write("app", "src/a.rs");
    (world.vectors, world.words) = (Act::Hangs, Act::Hangs);
    world.search("app", &[reply]);
    world.check_gate(gate, detail);
    // It may not have begun yet.
    let began = !world.searched.lock().unwrap().is_empty();
    assert_eq!(world.was_stopped.load(Ordering::Relaxed), began);
}

#[test]
fn the_server_is_decisive() {
    let text = answer("c", &[]);
    let Reply::Says(_, text) = text else { unreachable!() };
    check_no_answer(refuses(401), Gate::NotAuthorized, "401");
    check_no_answer(refuses(403), Gate::NotAuthorized, "403");
    check_no_answer(refuses(404), Gate::SearchFailed, "404");
    check_no_answer(refuses(429), Gate::SearchFailed, "429");
    check_no_answer(refuses(500), Gate::SearchFailed, "500");
    check_no_answer(Reply::Says(200, "no".into()), Gate::SearchFailed, "not json");
    check_no_answer(Reply::Says(200, "{}".into()), Gate::SearchFailed, "no results");
    check_no_answer(Reply::Says(200, text[..9].into()), Gate::SearchFailed, "not json");
    check_no_answer(Reply::Says(200, " ".repeat(2 << 20)), Gate::SearchFailed, "too long");
    check_no_answer(Reply::Cuts(text), Gate::SearchFailed, "");
    check_no_answer(Reply::Babbles, Gate::SearchFailed, "");
    check_no_answer(Reply::HangsUp, Gate::SearchFailed, "");
    let broken = answer("c", &[serde_json::json!({ "path": "src/a.rs" })]);
    check_no_answer(broken, Gate::SearchFailed, "lacks something");
    let negative = serde_json::json!({
        "repository": APP, "path": "src/a.rs", "start": -1, "end": 2, "text": "", "score": 1
    });
    check_no_answer(answer("c", &[negative]), Gate::SearchFailed, "lacks something");
}

#[test]
fn an_empty_answer_is_an_answer() {
    let world = World::new(&["app"]);
    world.check(&[]);
}

#[test]
fn hits_that_cannot_be_true_are_dropped() {
    let world = World::new(&["app", "lib"]);
    world.write("app", "src/hidden.rs");
    let results = [
        hit(APP, "src/a.rs", (2, 5), 0.1),
        hit(APP, "src/a.rs", (2, 5), 0.2),
        hit("git.example/acme/lib", "src/a.rs", (2, 5), 0.9),
        hit("git.example/evil/app", "src/a.rs", (2, 5), 0.9),
        hit(APP, "/etc/passwd", (2, 5), 0.9),
        hit(APP, "../lib/src/a.rs", (2, 5), 0.9),
        hit(APP, "src/../../lib/src/a.rs", (2, 5), 0.9),
        hit(APP, "src/none.rs", (2, 5), 0.9),
        hit(APP, "src/hidden.rs", (2, 5), 0.9),
        hit(APP, "src/b.rs", (5, 5), 0.9),
        hit(APP, "src/b.rs", (8, 2), 0.9),
        hit(APP, "src/b.rs", (10, 11), 0.9),
        hit(APP, "src/c.rs", (8, 4_000_000_000), 0.3),
    ];
    world.search("app", &[answer(&world.commit("app"), &results)]);
    let outcome = world.ask().unwrap();
    assert_eq!(world.show(&outcome), ["app/src/c.rs", "app/src/a.rs"]);
    let lines: Vec<_> = outcome.hits.iter().map(|hit| (hit.lines.start, hit.lines.end)).collect();
    assert_eq!(lines, [(8, 10), (2, 5)]);
    let expected = Rejected { of_another_repository: 2, bad_path: 3, not_wanted: 2, bad_lines: 3 };
    assert_eq!(outcome.report.rejected, expected);
}

#[test]
fn too_many_hits_are_cut() {
    let world = World::new(&["app"]);
    let results: Vec<_> =
        (0..9).map(|line| hit(APP, "src/a.rs", (line, line + 1), f64::from(line))).collect();
    world.search("app", &[answer(&world.commit("app"), &results)]);
    let outcome = world.ask_for("x", 3).unwrap();
    let lines: Vec<_> = outcome.hits.iter().map(|hit| hit.lines.start).collect();
    assert_eq!(lines, [8, 7, 6]);
}

#[test]
fn an_answer_from_another_commit_says_so() {
    let world = World::new(&["app"]);
    let results = [hit(APP, "src/a.rs", (2, 5), 1.0)];
    world.search("app", &[answer("0123456789abcdef0123456789abcdef01234567", &results)]);
    world.check(&["REMOTE_INDEX_MOVED", "app/src/a.rs"]);
}

#[test]
fn changes_counted_from_the_upstream_branch_say_so() {
    let world = World::new(&["app"]);
    let top = world.top_of("app");
    git(&top, &["remote", "add", "origin", "https://git.example/acme/app.git"]);
    git(&top, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(&top, &["config", "branch.main.remote", "origin"]);
    git(&top, &["config", "branch.main.merge", "refs/heads/main"]);
    world.finds("app", &["src/a.rs", "src/b.rs"]);
    world.write("app", "src/b.rs");
    world.status("app", &[ready(Some("0123456789abcdef0123456789abcdef01234567"))]);
    world.check(&["REMOTE_COMMIT_UNKNOWN", "app/src/a.rs", "!app/src/b.rs"]);
}

#[test]
fn repositories_are_searched_together() {
    let world = World::new(&["app", "lib"]);
    world.finds("app", &["src/a.rs", "src/b.rs"]);
    world.finds("lib", &["src/c.rs"]);
    world.check(&["app/src/a.rs", "lib/src/c.rs", "app/src/b.rs"]);
    world.search("lib", &[refuses(500)]);
    world.check(&["REMOTE_INDEX_PARTIAL", "app/src/a.rs", "app/src/b.rs"]);
    world.search("app", &[refuses(401)]);
    world.check_gate(Gate::SearchFailed, "lib");
}

#[test]
fn a_long_question_is_cut_before_it_is_sent() {
    let world = World::new(&["app"]);
    world.ask_for(&"ü".repeat(9_000), 7).unwrap();
    let requests = world.server.requests(SEARCH);
    let body: serde_json::Value = serde_json::from_str(&requests[0]).unwrap();
    assert_eq!(body["query"].as_str().unwrap().len(), MAX_QUERY_BYTES);
    assert_eq!(body["limit"], 7);
}
