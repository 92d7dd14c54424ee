//! When the server is asked at all.

use sextant::remote::{Gate, Resolution};

use super::server::Reply;
use super::world::{FILES, World, ready, refuses, state};

const SEARCH: &str = "search/acme/app";
const MISSING: &str = "0123456789abcdef0123456789abcdef01234567";

/// A gate that closes after this status, without the question leaving the machine.
#[track_caller]
fn check_status(status: Reply, gate: Gate, detail: &str) {
    let world = World::new(&["app"]);
    world.status("app", &[status]);
    world.check_gate(gate, detail);
    assert!(world.server.requests(SEARCH).is_empty());
    assert!(world.server.requests("trigger/acme/app").is_empty());
    assert!(world.searched.lock().unwrap().is_empty());
}

#[test]
fn what_is_known_here_is_looked_at_first() {
    let mut world = World::new(&["app"]);
    world.folders[0].resolution = Resolution::NoRepository;
    world.check_gate(Gate::NoRepository, "git repository");
    world.folders[0].resolution = Resolution::Checking;
    world.check_gate(Gate::StillChecking, "app");
    world.folders[0].resolution = Resolution::Unresolvable { reason: "it has no remote".into() };
    world.check_gate(Gate::NoneResolvable, "it has no remote");
    world.folders.clear();
    world.check_gate(Gate::NoRepository, "");
    world.index = None;
    world.check_gate(Gate::SettingOff, "switched on");
    assert!(world.server.requests("status/acme/app").is_empty());
}

#[test]
fn a_status_that_is_no_permission_to_ask_closes_a_gate() {
    check_status(refuses(401), Gate::NotAuthorized, "401");
    check_status(refuses(403), Gate::NotAuthorized, "403");
    check_status(refuses(404), Gate::NoneIndexable, "does not know it");
    check_status(refuses(429), Gate::StatusUnknown, "429");
    check_status(refuses(500), Gate::StatusUnknown, "500");
    check_status(state("building"), Gate::StillBuilding, "app");
    check_status(state("nonsense"), Gate::StatusUnknown, "it has no state");
    check_status(Reply::Says(200, "<html>".into()), Gate::StatusUnknown, "not json");
    check_status(Reply::Says(200, String::new()), Gate::StatusUnknown, "not json");
    check_status(Reply::Babbles, Gate::StatusUnknown, "");
    check_status(Reply::HangsUp, Gate::StatusUnknown, "");
    check_status(Reply::Cuts("{\"state\":\"ready\"}".into()), Gate::StatusUnknown, "");
}

#[test]
fn a_server_that_is_gone_is_said_to_be() {
    let mut world = World::new(&["app"]);
    // The adapter goes on with the address of the old one.
    world.server = super::server::Server::start();
    world.check_gate(Gate::StatusUnknown, "cannot be reached");
}

#[test]
fn a_new_repository_is_indexed_at_once() {
    let world = World::new(&["app"]);
    let is_ready = ready(Some(&world.commit("app")));
    let building = state("building");
    world.status("app", &[state("new"), state("new"), refuses(503), building, is_ready]);
    world.trigger("app", &[Reply::Says(202, "{}".into())]);
    world.finds("app", &["src/a.rs"]);
    world.check(&["app/src/a.rs"]);
    assert_eq!(world.server.requests("trigger/acme/app").len(), 1);
    assert_eq!(world.server.requests("status/acme/app").len(), 5);
}

#[test]
fn a_repository_that_is_not_ready_in_time_is_not_searched() {
    for later in ["new", "building"] {
        let mut world = World::new(&["app"]);
        world.status("app", &[state("new"), state(later)]);
        world.trigger("app", &[Reply::Says(200, "{}".into())]);
        // Enough for the trigger, on a busy machine too.
        world.limits.instant_indexing_ms = 1_000;
        world.limits.poll_interval_ms = 50;
        world.check_gate(Gate::StillBuilding, "app");
        assert!(world.server.requests(SEARCH).is_empty());
    }
}

#[test]
fn a_trigger_that_fails_is_no_index_in_the_making() {
    let world = World::new(&["app"]);
    world.status("app", &[state("new"), state("building")]);
    world.trigger("app", &[refuses(500)]);
    world.check_gate(Gate::IndexingFailed, "500");
    assert_eq!(world.server.requests("status/acme/app").len(), 1);
    world.status("app", &[state("new")]);
    world.trigger("app", &[refuses(403)]);
    world.check_gate(Gate::NotAuthorized, "403");
}

#[test]
fn a_trigger_that_hangs_is_no_index_in_the_making() {
    let mut world = World::new(&["app"]);
    world.status("app", &[state("new"), state("building")]);
    world.trigger("app", &[Reply::Hangs]);
    world.limits.instant_indexing_ms = 50;
    world.check_gate(Gate::IndexingFailed, "no answer within 50 ms");
}

#[test]
fn a_commit_that_is_not_here_leaves_the_difference_unknown() {
    check_status(ready(Some(MISSING)), Gate::DiffUnknown, "run git fetch");
    check_status(ready(None), Gate::DiffUnknown, "no upstream");
    check_status(ready(Some("--output=x")), Gate::DiffUnknown, "run git fetch");
}

#[test]
fn too_much_change_closes_the_gate() {
    let mut world = World::new(&["app"]);
    world.write("app", "src/a.rs");
    world.write("app", "src/new.rs");
    world.limits.max_changed_files = 1;
    world.check_gate(Gate::DiffTooLarge, "2 files, at most 1");
    world.limits.max_changed_files = 2;
    world.ask().unwrap();
    // 2 of 5 files.
    world.limits.max_changed_share = 0.39;
    world.check_gate(Gate::DiffTooLarge, "2 of 5 files, at most 39 %");
    world.limits.max_changed_share = 0.40;
    world.ask().unwrap();
    world.limits.max_examined_paths = 1;
    world.check_gate(Gate::DiffTooLarge, "more than 1 paths");
}

#[test]
fn a_repository_that_fails_does_not_veto_the_others() {
    let mut world = World::new(&["app", "lib"]);
    world.finds("app", &["src/a.rs"]);
    for status in [refuses(500), state("building"), ready(Some(MISSING))] {
        world.status("lib", &[status]);
        let outcome = world.ask().unwrap();
        // Its few files are searched here.
        let expected =
            ["app/src/a.rs", "!lib/src/a.rs", "!lib/src/b.rs", "!lib/src/c.rs", "!lib/src/d.rs"];
        assert_eq!(world.show(&outcome), expected);
        assert_eq!(outcome.report.n_others, FILES.len());
        assert_eq!(outcome.report.searched, ["git.example/acme/app"]);
        assert_eq!(outcome.report.left_out[0].name, "lib");
    }
    // They are too many now.
    world.limits.max_embedded_changes = FILES.len() - 1;
    world.check(&["REMOTE_INDEX_PARTIAL", "app/src/a.rs"]);
}
