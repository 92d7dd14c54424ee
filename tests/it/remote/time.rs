//! Nobody waits for a server longer than was agreed.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use sextant::remote::Gate;

use super::server::Reply;
use super::world::{Act, World};

/// Far above the limits of these tests, far below what the server and the adapter would take.
const SOON: Duration = Duration::from_secs(5);

/// Enough for a call that is answered at once, on a busy machine too.
const ENOUGH_MS: u64 = 1_000;

#[test]
fn a_server_that_hangs_or_drips_is_left_behind() {
    for reply in [Reply::Hangs, Reply::Drips] {
        let mut world = World::new(&["app"]);
        world.limits.call_ms = ENOUGH_MS;
        let begun = Instant::now();
        world.search("app", std::slice::from_ref(&reply));
        world.check_gate(Gate::SearchFailed, "no answer within 1000 ms");
        world.status("app", &[reply]);
        world.limits.call_ms = 30;
        world.check_gate(Gate::StatusUnknown, "no answer within 30 ms");
        assert!(begun.elapsed() < SOON);
    }
}

#[test]
fn a_repository_whose_server_hangs_does_not_cost_the_answers_of_the_others() {
    let mut world = World::new(&["app", "lib"]);
    world.finds("app", &["src/a.rs"]);
    world.search("lib", &[Reply::Hangs]);
    world.limits.call_ms = ENOUGH_MS;
    world.check(&["REMOTE_INDEX_PARTIAL", "app/src/a.rs"]);
}

/// Cancels once the server was asked by `route`.
#[track_caller]
fn check_cancelled(world: &World, route: &str) {
    let begun = Instant::now();
    thread::scope(|scope| {
        let asks = scope.spawn(|| world.ask().unwrap_err());
        world.server.wait_for(route);
        let cancelled = Instant::now();
        world.cancel.cancel();
        assert_eq!(asks.join().unwrap().gate, Gate::Cancelled);
        assert!(cancelled.elapsed() < SOON);
    });
    assert!(begun.elapsed() < SOON);
}

#[test]
fn cancelling_frees_the_caller_wherever_it_waits() {
    let world = World::new(&["app"]);
    world.status("app", &[Reply::Hangs]);
    check_cancelled(&world, "status/acme/app");

    let world = World::new(&["app"]);
    world.status("app", &[super::world::state("new")]);
    world.trigger("app", &[Reply::Hangs]);
    check_cancelled(&world, "trigger/acme/app");

    let mut world = World::new(&["app"]);
    world.write("app", "src/a.rs");
    (world.vectors, world.words) = (Act::Hangs, Act::Hangs);
    world.search("app", &[Reply::Hangs]);
    check_cancelled(&world, "search/acme/app");

    let mut world = World::new(&["app"]);
    world.write("app", "src/a.rs");
    (world.vectors, world.words) = (Act::Hangs, Act::Hangs);
    // The server has answered; the local search goes on.
    check_cancelled(&world, "search/acme/app");
    let began = !world.searched.lock().unwrap().is_empty();
    assert_eq!(world.was_stopped.load(Ordering::Relaxed), began);
}

#[test]
fn what_is_cancelled_before_it_begins_asks_nobody() {
    let world = World::new(&["app"]);
    world.cancel.cancel();
    world.check_gate(Gate::Cancelled, "");
    assert!(world.server.requests("status/acme/app").is_empty());
}
