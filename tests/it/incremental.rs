//! An index that was kept up to date answers as one that was built anew, bit for bit.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestRunner};
use sextant::config::PerformanceMode;
use sextant::engine::Engine;

use crate::code::{EXTENSIONS, Random, source};
use crate::support::{
    Place, State, ask, check_equals_fresh, difference_from_fresh, finds, options, search, sync,
};

const FOLDERS: &[&str] = &["", "src", "src/store", "src/store/deep", "lib", "tests", "docs", "web"];
const RULES: &[&str] =
    &["lib/", "*.md", "src/store/", "*_b.*", "!src/store/", "tests/*.py", "/web"];

/// One change to a tree. Numbers choose among what there is.
#[derive(Clone, Debug)]
enum Edit {
    Create {
        folder: usize,
        extension: usize,
        seed: u64,
    },
    Change {
        file: usize,
        seed: u64,
    },
    Append {
        file: usize,
        seed: u64,
    },
    /// As many bytes, other words.
    Swap {
        file: usize,
    },
    Delete {
        file: usize,
    },
    Rename {
        file: usize,
        folder: usize,
    },
    RenameFolder {
        file: usize,
    },
    Copy {
        file: usize,
        folder: usize,
    },
    Touch {
        file: usize,
    },
    Empty {
        file: usize,
    },
    Binary {
        file: usize,
    },
    Ignore {
        folder: usize,
        own: bool,
        rule: usize,
    },
    Unignore {
        folder: usize,
        own: bool,
    },
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let n = any::<u16>().prop_map(usize::from).boxed();
    let seed = any::<u64>().boxed();
    let both = (n.clone(), n.clone()).boxed();
    let ignore = (n.clone(), any::<bool>(), n.clone())
        .prop_map(|(folder, own, rule)| Edit::Ignore { folder, own, rule });
    let edit = prop_oneof![
        4 => (both.clone(), seed.clone())
            .prop_map(|((folder, extension), seed)| Edit::Create { folder, extension, seed }),
        4 => (n.clone(), seed.clone()).prop_map(|(file, seed)| Edit::Change { file, seed }),
        2 => (n.clone(), seed).prop_map(|(file, seed)| Edit::Append { file, seed }),
        2 => n.clone().prop_map(|file| Edit::Swap { file }),
        3 => n.clone().prop_map(|file| Edit::Delete { file }),
        2 => both.clone().prop_map(|(file, folder)| Edit::Rename { file, folder }),
        2 => n.clone().prop_map(|file| Edit::RenameFolder { file }),
        2 => both.prop_map(|(file, folder)| Edit::Copy { file, folder }),
        1 => n.clone().prop_map(|file| Edit::Touch { file }),
        1 => n.clone().prop_map(|file| Edit::Empty { file }),
        1 => n.clone().prop_map(|file| Edit::Binary { file }),
        2 => ignore,
        1 => (n, any::<bool>()).prop_map(|(folder, own)| Edit::Unignore { folder, own }),
    ];
    proptest::collection::vec(edit, 1..24)
}

/// All files below `folder` but ignore files, by path.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if !path.file_name().unwrap().to_string_lossy().ends_with("ignore") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn apply(place: &Place, edit: &Edit, number: usize) {
    let files = files_below(&place.root);
    let file = |at: usize| (!files.is_empty()).then(|| files[at % files.len()].clone());
    let folder = |at: usize| place.root.join(FOLDERS[at % FOLDERS.len()]);
    let ignore = |own: bool| if own { ".sextantignore" } else { ".gitignore" };
    let extension = |path: &Path| {
        path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let moved =
        |path: &Path, to: usize| folder(to).join(format!("moved_{number}_b.{}", extension(path)));
    match *edit {
        Edit::Create { folder: at, extension, seed } => {
            let extension = EXTENSIONS[extension % EXTENSIONS.len()];
            let path = folder(at).join(format!("new_{number}.{extension}"));
            place.write_at(&path, source(extension, seed));
        }
        Edit::Change { file: at, seed } => {
            let Some(path) = file(at) else { return };
            place.write_at(&path, source(&extension(&path), seed));
        }
        Edit::Append { file: at, seed } => {
            let Some(path) = file(at) else { return };
            let mut content = fs::read(&path).unwrap();
            content.extend_from_slice(source(&extension(&path), seed).as_bytes());
            place.write_at(&path, content);
        }
        Edit::Swap { file: at } => {
            let Some(path) = file(at) else { return };
            let content = fs::read(&path).unwrap();
            let swapped: Vec<u8> =
                content.iter().map(|&b| if b == b'e' { b'o' } else { b }).collect();
            place.write_at(&path, swapped);
        }
        Edit::Delete { file: at } => {
            if let Some(path) = file(at) {
                fs::remove_file(path).unwrap();
            }
        }
        Edit::Rename { file: at, folder: to } => {
            let Some(path) = file(at) else { return };
            fs::create_dir_all(folder(to)).unwrap();
            fs::rename(&path, moved(&path, to)).unwrap();
        }
        Edit::RenameFolder { file: at } => {
            let Some(path) = file(at) else { return };
            let parent = path.parent().unwrap();
            if parent != place.root {
                let name = parent.file_name().unwrap().to_string_lossy();
                fs::rename(parent, parent.with_file_name(format!("{name}{number}"))).unwrap();
            }
        }
        Edit::Copy { file: at, folder: to } => {
            let Some(path) = file(at) else { return };
            place.write_at(&moved(&path, to), fs::read(&path).unwrap());
        }
        Edit::Touch { file: at } => {
            if let Some(path) = file(at) {
                place.touch(&path);
            }
        }
        Edit::Empty { file: at } => {
            if let Some(path) = file(at) {
                place.write_at(&path, "");
            }
        }
        Edit::Binary { file: at } => {
            if let Some(path) = file(at) {
                place.write_at(&path, [0u8, 1, 2, 255].repeat(300));
            }
        }
        Edit::Ignore { folder: at, own, rule } => {
            let path = folder(at).join(ignore(own));
            let mut rules = fs::read_to_string(&path).unwrap_or_default();
            rules.push_str(RULES[rule % RULES.len()]);
            rules.push('\n');
            place.write_at(&path, rules);
        }
        Edit::Unignore { folder: at, own } => {
            // There may be none.
            let _ = fs::remove_file(folder(at).join(ignore(own)));
        }
    }
}

/// A tree of about `n` files.
fn tree(n: usize, seed: u64) -> Place {
    let place = Place::new(&[]);
    let mut random = Random(seed);
    for at in 0..n {
        let folder = random.pick(FOLDERS);
        let extension = random.pick(EXTENSIONS);
        let path = format!("{folder}/file_{at}.{extension}");
        place.write(path.trim_start_matches('/'), source(extension, random.next()));
    }
    place
}

fn check_edits(list: &[Edit]) -> Result<(), TestCaseError> {
    let place = tree(45, 1);
    let engine = place.index();
    for (at, few) in list.chunks(4).enumerate() {
        for (number, edit) in few.iter().enumerate() {
            apply(&place, edit, at * 4 + number);
        }
        sync(&engine);
        if let Some(difference) = difference_from_fresh(&engine, std::slice::from_ref(&place.root))
        {
            return Err(TestCaseError::fail(format!("after edits {few:?}:\n{difference}")));
        }
    }
    Ok(())
}

/// `SEXTANT_SEED` chooses other edits, `PROPTEST_CASES` more of them.
#[test]
fn after_any_edits_the_index_is_as_if_built_anew() {
    let seed = std::env::var("SEXTANT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let from_environment = std::env::var_os("PROPTEST_CASES").is_some();
    let standard = ProptestConfig::default();
    let config = ProptestConfig {
        cases: if from_environment { standard.cases } else { 5 },
        max_shrink_iters: 40,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..standard
    };
    TestRunner::new(config).run(&edits(), |list| check_edits(&list)).unwrap();
}

/// More chunks than are candidates of one query, so that estimates have something to choose from.
#[test]
fn one_worker_and_several_make_the_same_index() {
    let place = tree(150, 2);
    let engine = |mode: PerformanceMode| {
        let mut options = options(
            std::slice::from_ref(&place.root),
            &place.top.join(format!("storage {mode:?}")),
        );
        options.config.settings.vector_db.performance_mode = mode;
        let engine = Engine::open(options).unwrap();
        sync(&engine);
        engine
    };
    let one = State::of(&engine(PerformanceMode::Memory));
    for mode in [PerformanceMode::Performance, PerformanceMode::Balanced] {
        if let Some(difference) = State::of(&engine(mode)).difference(&one) {
            panic!("{mode:?}: {difference}");
        }
    }
}

#[test]
fn merged_segments_answer_as_before() {
    let place = tree(60, 3);
    let engine = place.index();
    let n_segments = || -> i64 {
        place.connect().query_row("SELECT count(*) FROM segments", [], |row| row.get(0)).unwrap()
    };
    let mut most = 0;
    for at in 0..22 {
        place.write(&format!("src/added_{at}.rs"), source("rs", 1000 + at));
        if at % 3 == 0 {
            place.write(&format!("src/added_{}.rs", at / 2), source("rs", 2000 + at));
        }
        if at % 5 == 4 {
            place.remove(&format!("src/added_{}.rs", at - 1));
        }
        sync(&engine);
        most = most.max(n_segments());
        if matches!(at, 6 | 7 | 14) {
            check_equals_fresh(&engine, std::slice::from_ref(&place.root));
        }
    }
    assert!((4..8).contains(&most), "{most} segments: small ones pile up, then they are merged");
    let last: i64 =
        place.connect().query_row("SELECT max(id) FROM segments", [], |row| row.get(0)).unwrap();
    assert!(last > 23, "more segments were made than syncs asked for: {last}");
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
    // The same from the disk, with nothing held in memory.
    engine.close();
    check_equals_fresh(&place.open(), std::slice::from_ref(&place.root));
}

#[test]
fn an_empty_tree_and_a_tree_that_empties_are_the_same() {
    let place = Place::new(&[("a.rs", "fn emptied_marker() {}\n")]);
    let engine = place.index();
    assert!(finds(&engine, "emptied_marker"));
    place.remove("a.rs");
    assert_eq!(sync(&engine).removed, 1);
    assert!(!finds(&engine, "emptied_marker"));
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}

/// An empty file has no chunk: by its first chunk alone, it stands at the place of the next segment's first file.
#[test]
fn an_empty_file_at_the_end_of_a_segment_is_merged() {
    let place = Place::new(&[("src/m.rs", "pub fn beacon_m() {}\n"), ("src/z.txt", "")]);
    let engine = place.index();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        place.write(&format!("src/{name}.rs"), format!("pub fn beacon_{name}() {{}}\n"));
        sync(&engine);
    }
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
    assert_eq!(search(&engine, &ask("src")).hits.len(), 9, "by the folder's name");
}
