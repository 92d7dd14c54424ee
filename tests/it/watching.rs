//! A watched workspace is current: after a burst by itself, and before each search at once.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sextant::engine::{Engine, IndexReport, WatchEvent, WatchOptions};

use crate::code::{Random, source};
use crate::support::{
    Place, check_equals_fresh, codes, difference_from_fresh, finds, options, replace_unseen,
    sync_and_search,
};

/// So long that only searches bring the index up to date.
const NEVER: Duration = Duration::from_secs(10);
const SOON: Duration = Duration::from_millis(30);

struct Watched {
    engine: Arc<Engine>,
    synced: Receiver<IndexReport>,
}

impl Watched {
    /// Watches, and waits for the first run.
    #[track_caller]
    fn new(place: &Place, debounce: Duration) -> Self {
        let watched = Self::begin(place, debounce);
        watched.next();
        watched
    }

    #[track_caller]
    fn begin(place: &Place, debounce: Duration) -> Self {
        let engine = Arc::new(place.open());
        let (sender, synced) = channel();
        let sender = Mutex::new(sender);
        let sink = move |event: WatchEvent| match event {
            WatchEvent::Synced(report) => {
                let _ = sender.lock().unwrap().send(report);
            }
            WatchEvent::Progress(_) | WatchEvent::Failed(_) => {}
        };
        engine.watch(WatchOptions { debounce: Some(debounce) }, Arc::new(sink)).unwrap();
        Self { engine, synced }
    }

    /// The report of the next run that does something.
    #[track_caller]
    fn next(&self) -> IndexReport {
        self.synced.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    #[track_caller]
    fn search(&self, query: &str) -> Vec<String> {
        let response = sync_and_search(&self.engine, query).unwrap();
        assert_eq!(codes(&response.degraded), Vec::<&str>::new());
        response.hits.into_iter().map(|hit| hit.text).collect()
    }

    #[track_caller]
    fn finds(&self, word: &str) -> bool {
        self.search(word).iter().any(|text| text.contains(word))
    }
}

fn tree() -> Place {
    Place::new(&[
        ("src/a.rs", "pub fn open_alpha() -> u32 {\n    1\n}\n"),
        ("src/deep/b.py", "def open_beta():\n    return 2\n"),
        ("src/deep/er/c.ts", "export function openGamma() {\n  return 3;\n}\n"),
        ("notes.md", "# Delta\n\nAbout delta.\n"),
    ])
}

#[track_caller]
fn git(folder: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "gc.auto=0"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn changes_are_indexed_after_a_burst() {
    let place = tree();
    let watched = Watched::new(&place, SOON);
    let root = &place.root;
    let of = |report: IndexReport| [report.added, report.changed, report.removed];

    fs::write(root.join("src/new.rs"), "pub fn brand_new() {}\n").unwrap();
    assert_eq!(of(watched.next()), [1, 0, 0]);
    assert!(finds(&watched.engine, "brand_new"));

    fs::write(root.join("src/new.rs"), "pub fn brand_other() {}\n").unwrap();
    assert_eq!(of(watched.next()), [0, 1, 0]);
    assert!(finds(&watched.engine, "brand_other") && !finds(&watched.engine, "brand_new"));

    fs::remove_file(root.join("src/new.rs")).unwrap();
    assert_eq!(of(watched.next()), [0, 0, 1]);
    assert!(!finds(&watched.engine, "brand_other"));

    fs::rename(root.join("src/deep"), root.join("src/moved")).unwrap();
    assert_eq!(of(watched.next()), [2, 0, 2]);
    fs::write(root.join("src/moved/er/c.ts"), "export function openOmega() {}\n").unwrap();
    watched.next();
    assert!(finds(&watched.engine, "openOmega") && !finds(&watched.engine, "openGamma"));
    check_equals_fresh(&watched.engine, std::slice::from_ref(root));
}

/// As editors save: many times in a row, and one run.
#[test]
fn a_burst_of_saves_is_one_run() {
    let place = tree();
    let watched = Watched::new(&place, Duration::from_millis(400));
    for at in 0..20 {
        let temporary = place.root.join(".a.rs.swp");
        fs::write(&temporary, format!("pub fn saved_{at:02}() {{}}\n")).unwrap();
        fs::rename(&temporary, place.root.join("src/a.rs")).unwrap();
    }
    let report = watched.next();
    assert_eq!([report.added, report.changed, report.removed], [0, 1, 0]);
    assert!(finds(&watched.engine, "saved_19"));
    // The next run is that of the next save.
    fs::write(place.root.join("last.rs"), "pub fn last_one() {}\n").unwrap();
    let report = watched.next();
    assert_eq!([report.added, report.changed, report.removed], [1, 0, 0]);
}

#[test]
fn a_search_applies_what_has_just_happened() {
    let place = tree();
    let watched = Watched::new(&place, NEVER);
    for at in 0..100 {
        let word = format!("version_{at:03}");
        let path = place.root.join("src/a.rs");
        if at % 2 == 0 {
            fs::write(&path, format!("pub fn {word}() {{}}\n")).unwrap();
        } else {
            fs::write(place.root.join("next"), format!("pub fn {word}() {{}}\n")).unwrap();
            fs::rename(place.root.join("next"), &path).unwrap();
        }
        assert!(watched.finds(&word), "{word}");
    }
    assert!(!watched.finds("version_098"));
}

/// What no event names is not looked at, let alone opened.
#[test]
fn unchanged_files_are_not_looked_at() {
    let place = tree();
    let watched = Watched::new(&place, NEVER);
    // Its stat is as before: there is no reason to open it, though the watcher was told of a write.
    replace_unseen(&place.root.join("src/deep/b.py"), "open_beta", "open_zeta");
    assert!(!watched.finds("open_zeta"));
    // What changes is applied, and leaves the rest alone.
    fs::write(place.root.join("src/a.rs"), "pub fn open_other() {}\n").unwrap();
    assert!(watched.finds("open_other"));
    assert!(!watched.finds("open_zeta"));
}

#[test]
fn rules_that_change_are_applied() {
    let place = tree();
    let watched = Watched::new(&place, NEVER);
    fs::write(place.root.join(".gitignore"), "deep/\n").unwrap();
    assert!(!watched.finds("open_beta"));
    fs::write(place.root.join("src/.sextantignore"), "!deep/\na.rs\n").unwrap();
    assert!(watched.finds("open_beta") && !watched.finds("open_alpha"));
    fs::remove_file(place.root.join("src/.sextantignore")).unwrap();
    fs::remove_file(place.root.join(".gitignore")).unwrap();
    assert!(watched.finds("open_beta") && watched.finds("open_alpha"));
    check_equals_fresh(&watched.engine, std::slice::from_ref(&place.root));
}

#[test]
fn a_branch_switch_is_applied() {
    let place = tree();
    let root = &place.root;
    git(root, &["init", "-q", "-b", "main"]);
    for at in 0..300 {
        place
            .write(&format!("many/f{at:03}.py"), format!("def main_{at:03}():\n    return {at}\n"));
    }
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "one"]);
    git(root, &["checkout", "-qb", "other"]);
    for at in 0..300 {
        place.write(
            &format!("many/f{at:03}.py"),
            format!("def other_{at:03}():\n    return {at}\n"),
        );
    }
    git(root, &["commit", "-qam", "two"]);
    let watched = Watched::new(&place, NEVER);
    for round in 0..3 {
        git(root, &["checkout", "-q", "main"]);
        assert!(watched.finds("main_123") && !watched.finds("other_123"), "round {round}");
        git(root, &["checkout", "-q", "other"]);
        assert!(watched.finds("other_007") && !watched.finds("main_007"), "round {round}");
    }
    // A file that is ignored becomes ours by being added.
    place.write(".gitignore", "*.gen.py\n");
    place.write("many/x.gen.py", "def generated_word():\n    pass\n");
    assert!(!watched.finds("generated_word"));
    git(root, &["add", "-f", "many/x.gen.py"]);
    assert!(watched.finds("generated_word"));
    check_equals_fresh(&watched.engine, std::slice::from_ref(root));
}

/// Random edits, each followed by a search or by none: the index is that of a fresh one.
#[test]
fn after_any_edits_the_watched_index_is_as_if_built_anew() {
    for seed in 0..4 {
        let place = tree();
        let watched = Watched::new(&place, if seed % 2 == 0 { NEVER } else { SOON });
        let mut random = Random(seed + 77);
        for round in 0..60 {
            edit(&place.root, &mut random);
            if round % 3 == 0 {
                watched.search("open");
            }
            if round % 20 == 19 {
                watched.search("open");
                let roots = std::slice::from_ref(&place.root);
                if let Some(difference) = difference_from_fresh(&watched.engine, roots) {
                    panic!("seed {seed}, round {round}: {difference}");
                }
            }
        }
    }
}

/// One random change of the tree; one that is not possible is none.
fn edit(root: &Path, random: &mut Random) {
    let folder = ["src", "src/deep", "src/deep/er", "lib", "lib/x/y"][random.below(5)];
    let name = format!("f{}.rs", random.below(4));
    let path = root.join(folder).join(&name);
    match random.below(10) {
        0..=3 => {
            fs::create_dir_all(root.join(folder)).ok();
            fs::write(&path, source("rs", random.next())).ok();
        }
        4 => {
            fs::remove_file(&path).ok();
        }
        5 => {
            fs::rename(&path, root.join(format!("renamed{}.rs", random.below(3)))).ok();
        }
        6 => {
            fs::rename(root.join(folder), root.join(["lib", "src/other"][random.below(2)])).ok();
        }
        7 => {
            fs::remove_dir_all(root.join(folder)).ok();
        }
        8 => {
            let rule = ["f1.rs\n", "deep/\n", "!f1.rs\n", ""][random.below(4)];
            fs::write(root.join(".gitignore"), rule).ok();
        }
        _ => {
            fs::create_dir_all(root.join(folder).join("inner/most")).ok();
            fs::write(root.join(folder).join("inner/most").join(&name), source("rs", 3)).ok();
        }
    }
}

#[test]
fn roots_come_and_go_while_watched() {
    let place = tree();
    let other = place.top.join("other");
    place.write_at(&other.join("api.go"), "package api\n\nfunc OtherRoot() int { return 1 }\n");
    let watched = Watched::new(&place, NEVER);
    assert!(!watched.finds("OtherRoot"));
    watched.engine.set_roots(&[place.root.clone(), other.clone()]).unwrap();
    assert!(watched.finds("OtherRoot"));
    place.write_at(&other.join("more.go"), "package api\n\nfunc MoreOfIt() int { return 1 }\n");
    assert!(watched.finds("MoreOfIt") && watched.finds("open_alpha"));
    // A root inside another is a root of its own.
    let inner = place.root.join("src/deep");
    watched.engine.set_roots(&[place.root.clone(), inner.clone()]).unwrap();
    let response = sync_and_search(&watched.engine, "open_beta").unwrap();
    let hits: Vec<_> = response.hits.iter().filter(|hit| hit.text.contains("open_beta")).collect();
    assert_eq!(hits.len(), 1);
    assert_eq!(Path::new(&hits[0].root), inner);
    assert!(!watched.finds("OtherRoot"));
    check_equals_fresh(&watched.engine, &[place.root.clone(), inner]);
    watched.engine.set_roots(std::slice::from_ref(&place.root)).unwrap();
    assert!(watched.finds("open_beta"));
    check_equals_fresh(&watched.engine, std::slice::from_ref(&place.root));
}

/// Two windows on one workspace: whoever is first does the work, both see it.
#[test]
fn two_watches_share_an_index() {
    let place = tree();
    let (one, two) = (Watched::new(&place, SOON), Watched::new(&place, SOON));
    for at in 0..20 {
        let word = format!("shared_{at:02}");
        fs::write(place.root.join("src/a.rs"), format!("pub fn {word}() {{}}\n")).unwrap();
        assert!(one.finds(&word) && two.finds(&word), "{word}");
    }
    check_equals_fresh(&one.engine, std::slice::from_ref(&place.root));
    check_equals_fresh(&two.engine, std::slice::from_ref(&place.root));
}

#[test]
fn storage_that_is_removed_while_watched_is_made_again() {
    let place = tree();
    let watched = Watched::new(&place, NEVER);
    fs::remove_dir_all(&place.storage).unwrap();
    fs::write(place.root.join("src/a.rs"), "pub fn after_removal() {}\n").unwrap();
    let response = sync_and_search(&watched.engine, "after_removal").unwrap();
    assert!(response.hits.iter().any(|hit| hit.text.contains("after_removal")));
    assert_eq!(watched.engine.status().unwrap().state, "ready");
    check_equals_fresh(&watched.engine, std::slice::from_ref(&place.root));
}

#[test]
fn a_watch_ends() {
    let place = tree();
    let watched = Watched::new(&place, SOON);
    assert!(watched.engine.status().unwrap().watching);
    watched.engine.unwatch();
    assert!(!watched.engine.status().unwrap().watching);
    fs::write(place.root.join("src/a.rs"), "pub fn unwatched_edit() {}\n").unwrap();
    assert!(watched.finds("unwatched_edit"));
    // In the middle of the first run, by closing, and by letting go.
    let closing = Watched::begin(&place, SOON);
    closing.engine.close();
    drop(Watched::begin(&place, SOON));
    let again = Engine::open(options(std::slice::from_ref(&place.root), &place.storage)).unwrap();
    check_equals_fresh(&again, std::slice::from_ref(&place.root));
}
