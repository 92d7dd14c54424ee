//! Parts of random trees, with the full walk as the judge.

use std::time::{Duration, Instant};

use super::against_git::Random;
use super::*;

const N_TREES: u64 = 150;
/// A slow machine does fewer trees.
const TIME_LIMIT: Duration = Duration::from_secs(8);

const FOLDERS: &[&str] = &["a", "b", "c", "dist", "hid", "objects", "refs"];
const FILES: &[&str] = &["x.py", "y.gen", "z.tmp", ".env", "HEAD", "l.log"];
const RULES: &[&str] = &[
    "*.gen", "!y.gen", "hid/", "/a", "!/a", "b/c", "*", "!*/", "!*.py", "c", "!hid/", "dist",
    "!dist/", "a/*", "!a/b", "*.tmp",
];

/// A folder that git takes for a repository.
fn write_repository(tree: &Tree, folder: &str) {
    tree.write(&[
        (&format!("{folder}/.git/HEAD"), "ref: refs/heads/trunk\n"),
        (&format!("{folder}/.git/objects/"), ""),
        (&format!("{folder}/.git/refs/"), ""),
    ]);
}

struct Forest {
    tree: Tree,
    random: Random,
    n_made: usize,
}

impl Forest {
    fn grow(seed: u64) -> Self {
        let mut forest = Self { tree: Tree::new(&[]), random: Random(seed), n_made: 0 };
        // Some roots are in a repository, some are its top.
        if forest.random.below(3) > 0 {
            write_repository(&forest.tree, ".");
        }
        for _ in 0..10 + forest.random.below(25) {
            let folder = forest.folder();
            let name = forest.random.pick(FILES);
            forest.tree.write(&[(&format!("{folder}/{name}"), "")]);
        }
        for name in [".gitignore", ".gitignore", ".gitignore", ".sextantignore"] {
            if forest.random.below(2) == 0 {
                let rules: Vec<&str> =
                    (0..1 + forest.random.below(3)).map(|_| forest.random.pick(RULES)).collect();
                let folder = forest.folder();
                forest.tree.write(&[(&format!("{folder}/{name}"), &rules.join("\n"))]);
            }
        }
        for _ in 0..forest.random.below(4) {
            forest.make_repository();
        }
        if forest.tree.path(".git").is_dir() && forest.random.below(2) == 0 {
            let listed = forest.tree.git(".", &["ls-files", "-z", "-o"]).stdout;
            let listed = String::from_utf8(listed).unwrap();
            let chosen: Vec<&str> = listed
                .split_terminator('\0')
                .filter(|path| !path.ends_with('/') && forest.random.below(5) == 0)
                .collect();
            if !chosen.is_empty() {
                forest.tree.git(".", &[&["add", "-f", "--"][..], &chosen].concat());
            }
        }
        forest
    }

    /// A path below the top, of up to three folders; some are there already.
    fn folder(&mut self) -> String {
        let n_parts = self.random.below(4);
        let parts: Vec<&str> = (0..n_parts).map(|_| self.random.pick(FOLDERS)).collect();
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }

    fn file(&mut self) -> PathBuf {
        let folder = self.folder();
        self.tree.top.join(match folder.as_str() {
            "." => self.random.pick(FILES).to_owned(),
            folder => format!("{folder}/{}", self.random.pick(FILES)),
        })
    }

    /// A repository of one of the kinds that there are.
    fn make_repository(&mut self) {
        let folder = self.folder();
        let absolute = self.tree.path(&folder);
        // A file or a link may be in the way.
        if absolute.join(".git").exists() || fs::create_dir_all(&absolute).is_err() {
            return;
        }
        let _ = fs::write(absolute.join("in.py"), "");
        let owners: Vec<PathBuf> =
            self.paths().into_iter().filter(|path| path.join(".git/objects").is_dir()).collect();
        let kind = self.random.below(4);
        if kind < 2 || owners.is_empty() {
            return write_repository(&self.tree, &folder);
        }
        let owner = owners[self.random.below(owners.len())].join(".git");
        let target = if kind == 2 {
            owner
        } else {
            self.n_made += 1;
            let git_dir = owner.join(format!("worktrees/w{}", self.n_made));
            fs::create_dir_all(&git_dir).unwrap();
            fs::write(git_dir.join("HEAD"), "ref: refs/heads/other\n").unwrap();
            fs::write(git_dir.join("commondir"), "../..\n").unwrap();
            git_dir
        };
        let content = format!("gitdir: {}\n", target.display());
        self.tree.write(&[(&format!("{folder}/.git"), &content)]);
    }

    /// Every file and folder, the top first; nothing inside of `.git`.
    fn paths(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.tree.top.clone()];
        let mut at = 0;
        while at < paths.len() {
            if let Ok(entries) = fs::read_dir(&paths[at]) {
                let mut below: Vec<PathBuf> = entries
                    .map(|entry| entry.unwrap().path())
                    .filter(|path| !path.ends_with(".git"))
                    .collect();
                below.sort();
                if !paths[at].is_symlink() {
                    paths.extend(below);
                }
            }
            at += 1;
        }
        paths
    }

    fn any_path(&mut self) -> PathBuf {
        let paths = self.paths();
        paths[self.random.below(paths.len())].clone()
    }

    /// Paths that are there, and some that are not, relative to `root`.
    fn scope(&mut self, root: &Path) -> Scope {
        let mut scope = Scope::default();
        for _ in 0..1 + self.random.below(4) {
            let path = match self.random.below(3) {
                0 => self.file(),
                _ => self.any_path(),
            };
            add(&mut scope, root, &path);
        }
        scope
    }

    /// Changes something; to the scope is added what a perfect watcher would report.
    fn change(&mut self, root: &Path, scope: &mut Scope) {
        let path = self.any_path();
        if path == self.tree.top {
            return;
        }
        match self.random.below(6) {
            0 | 1 => {
                let file = self.file();
                let Some(first) = first_missing(&file) else { return };
                if fs::create_dir_all(file.parent().unwrap()).is_ok() {
                    let _ = fs::write(&file, "new");
                }
                add(scope, root, &first);
            }
            2 => {
                let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
                add(scope, root, &path);
            }
            3 => {
                let to = self.any_path().join(self.random.pick(FOLDERS));
                if !to.exists() && fs::rename(&path, &to).is_ok() {
                    add(scope, root, &path);
                    add(scope, root, &to);
                }
            }
            4 => {
                let before = self.paths();
                let top = self.tree.top.clone();
                let had: Vec<bool> = before.iter().map(|path| path.join(".git").exists()).collect();
                self.make_repository();
                for path in self.paths() {
                    match before.iter().position(|old| *old == path) {
                        None if path != top => add(scope, root, &path),
                        Some(nth) if path.join(".git").exists() && !had[nth] => {
                            add(scope, root, &path.join(".git"));
                        }
                        _ => {}
                    }
                }
                // The file in a repository is always written.
                for path in self.paths().into_iter().filter(|path| path.ends_with("in.py")) {
                    add(scope, root, &path);
                }
            }
            _ =>
            {
                #[cfg(unix)]
                if path.is_file() && fs::remove_file(&path).is_ok() {
                    std::os::unix::fs::symlink("no/where", &path).unwrap();
                    add(scope, root, &path);
                }
            }
        }
    }
}

/// The topmost part of a path that is not there; the path itself if all of it is.
fn first_missing(path: &Path) -> Option<PathBuf> {
    let missing = path.ancestors().take_while(|path| path.symlink_metadata().is_err()).last();
    Some(missing.unwrap_or(path).to_path_buf())
}

/// What lies outside of the root is not reported.
fn add(scope: &mut Scope, root: &Path, path: &Path) {
    if let Ok(relative) = path.strip_prefix(root) {
        scope.add(relative.to_str().unwrap());
    }
}

#[track_caller]
fn compare(seed: u64, scope: &Scope, found: &Walk, expected: &Walk) {
    let what = format!("seed {seed}, scope {:?}", scope.paths());
    assert_eq!(found.files, expected.files, "{what}");
    assert_eq!(found.skipped, expected.skipped, "{what}");
    assert_eq!(found.folders, expected.folders, "{what}");
}

/// Runs `check` on random trees, each under one of several roots and configurations; it tells how many parts were walked
/// and how many were asked for.
fn each_tree(mut check: impl FnMut(u64, &mut Forest, &str, &WalkConfig) -> (usize, usize)) {
    let started = Instant::now();
    let first: u64 = std::env::var("SEXTANT_TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let n_trees: u64 =
        std::env::var("SEXTANT_TEST_CASES").map_or(N_TREES, |number| number.parse().unwrap());
    let (mut n_walked, mut n_asked, mut n_done) = (0, 0, 0);
    for seed in first..first + n_trees {
        if n_trees == N_TREES && started.elapsed() > TIME_LIMIT {
            break;
        }
        let mut forest = Forest::grow(seed);
        let root = if seed % 3 == 0 && forest.tree.path("a").is_dir() { "a" } else { "." };
        let never_enter = if seed % 7 == 0 { vec!["a/b".into(), "c".into()] } else { vec![] };
        let base = if seed % 2 == 0 { WalkConfig::STANDARD } else { GIT_ONLY };
        let (walked, asked) = check(seed, &mut forest, root, &WalkConfig { never_enter, ..base });
        n_walked += walked;
        n_asked += asked;
        n_done += 1;
    }
    assert!(n_done >= 10, "only {n_done} trees were done in time");
    assert!(n_walked * 3 > n_asked, "only {n_walked} of {n_asked} parts were walked");
}

#[test]
fn a_part_equals_what_the_full_walk_says_of_it() {
    each_tree(|seed, forest, root, config| {
        let full = forest.tree.walk(root, config);
        let absolute = fs::canonicalize(forest.tree.path(root)).unwrap();
        let mut n_walked = 0;
        for _ in 0..30 {
            let scope = forest.scope(&absolute);
            let paths = scope.paths();
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            if let Partial::Walked(part) = forest.tree.walk_within(root, config, &paths) {
                compare(seed, &scope, &part, &covered(&full, &scope));
                n_walked += 1;
            }
        }
        (n_walked, 30)
    });
}

#[test]
fn parts_keep_a_walk_up_to_date() {
    each_tree(|seed, forest, root, config| {
        let absolute = fs::canonicalize(forest.tree.path(root)).unwrap();
        let mut known = forest.tree.walk(root, config);
        let mut n_walked = 0;
        for _ in 0..10 {
            let fingerprint = known.outside.fingerprint();
            let mut scope = Scope::default();
            for _ in 0..1 + forest.random.below(2) {
                forest.change(&absolute, &mut scope);
            }
            if !absolute.is_dir() {
                break;
            }
            let full = forest.tree.walk(root, config);
            let paths = scope.paths();
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let part = forest.tree.walk_within(root, config, &paths);
            let is_known =
                !known.outside.needs_whole(&scope) && known.outside.fingerprint() == fingerprint;
            if let (Partial::Walked(part), true) = (part, is_known) {
                known.files.retain(|file| !scope.covers(&file.path));
                known.files.extend(part.files);
                known.files.sort_by(|left, right| left.path.cmp(&right.path));
                known.skipped.retain(|skip| !scope.covers(&skip.path));
                known.skipped.extend(part.skipped);
                known.skipped.sort_by(|left, right| left.path.cmp(&right.path));
                known.folders.retain(|folder| !scope.covers(folder));
                known.folders.extend(part.folders);
                known.folders.sort();
                compare(seed, &scope, &known, &full);
                n_walked += 1;
            } else {
                known = full;
            }
        }
        (n_walked, 10)
    });
}
