//! Random trees under random rules, with git itself as the judge.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::*;

const N_CASES: u64 = 300;
/// A slow machine does fewer cases.
const TIME_LIMIT: Duration = Duration::from_secs(8);

/// A generator of small numbers (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }

    pub(super) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn path(&mut self, names: &[&str]) -> String {
        let depth = 1 + self.below(4);
        let parts: Vec<&str> = (0..depth).map(|_| self.pick(names)).collect();
        parts.join("/")
    }

    fn rule(&mut self) -> String {
        if self.below(12) == 0 {
            return self.pick(ODD_RULES).to_owned();
        }
        let mut rule = String::from(self.pick(&["", "", "", "", "!", "!", "/", "!/", "**/"]));
        for nth in 0..1 + self.below(3) {
            if nth > 0 {
                rule.push('/');
            }
            rule.push_str(self.pick(RULE_PARTS));
        }
        rule.push_str(self.pick(&["", "", "", "/", "/*", "/**", " ", "  ", "\\ "]));
        rule
    }

    fn rules(&mut self) -> String {
        let end = self.pick(&["\n", "\n", "\n", "\r\n"]);
        let mut text = String::from(self.pick(&["", "", "", "", "\u{feff}"]));
        for _ in 0..1 + self.below(5) {
            text.push_str(&self.rule());
            text.push_str(end);
        }
        if self.below(4) == 0 {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    }
}

const NAMES: &[&str] =
    &["a", "b", "ab", "A", "a.b", "x.py", ".h", "a b", "a ", "[a]", "a{b,c}", "!a", "#a"];
const RULE_PARTS: &[&str] = &[
    "a",
    "b",
    "ab",
    "A",
    "*",
    "**",
    "?",
    "a*",
    "*b",
    "*.py",
    "*.*",
    "[ab]",
    "[!a]",
    "[^b]*",
    "[a-c]?",
    "a**b",
    "**b",
    "a**",
    "x.p?",
    ".*",
    ".h",
    "a b",
    "\\[a]",
    "[[]a]",
    "a{b,c}",
    "[[:alpha:]]",
    "[[:upper:]]*",
    "[A-B]",
    "\\a",
    "\\A",
    "***",
    "*a*",
    "[]a]",
    "a?b",
    "[a\\]b]*",
    "{*}",
    "*]",
    "[a-]*",
];
const ODD_RULES: &[&str] = &[
    "",
    "/",
    "//",
    "!",
    "!!a",
    "\\!a",
    "\\#a",
    "#a",
    "# a",
    "a\\",
    "[ab",
    "a[",
    "[[:nope:]]",
    "a//b",
    "//a",
    "a//",
    " a",
    "\ta",
    "a\t",
    "*/",
    "!*/",
    "**",
    "!**",
    "/**",
    "**/",
    "/*",
    "!/*",
    "a/**/b",
    "**/a/**",
    "***/a",
    "a/***/b",
    "\\",
    "!\\",
    "[!]a]",
    "[]",
    "[]]",
    "a/\\*",
    "a/\\/b",
    "**\\/a",
    "./a",
    "a/.",
    "a/../b",
    "[a/b]",
    "a[/]b",
    "\r",
];

struct Case {
    tree: Tree,
    random: Random,
    ignore_case: bool,
}

impl Case {
    fn build(seed: u64, tree: Tree) -> Self {
        let mut random = Random(seed);
        for entry in fs::read_dir(&tree.top).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() == ".git" {
                continue;
            } else if entry.file_type().unwrap().is_dir() {
                fs::remove_dir_all(entry.path()).unwrap();
            } else {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        let _ = fs::remove_file(tree.path(".git/index"));
        for _ in 0..5 + random.below(30) {
            let absolute = tree.path(&random.path(NAMES));
            // What is in the way stays.
            let _ = fs::create_dir_all(absolute.parent().unwrap());
            let _ = fs::write(absolute, "");
        }
        let mut case = Self { tree, random, ignore_case: false };
        case.write_rules();
        case.track_some();
        case
    }

    fn write_rules(&mut self) {
        let Self { tree, random, ignore_case } = self;
        let mut folders = vec![tree.top.clone()];
        let mut at = 0;
        while at < folders.len() {
            let below = fs::read_dir(&folders[at]).unwrap().map(Result::unwrap);
            let below: BTreeSet<PathBuf> = below
                .filter(|entry| entry.file_name() != ".git" && entry.file_type().unwrap().is_dir())
                .map(|entry| entry.path())
                .collect();
            folders.extend(below);
            at += 1;
        }
        for (nth, folder) in folders.iter().enumerate() {
            if nth == 0 || random.below(4) == 0 {
                fs::write(folder.join(".gitignore"), random.rules()).unwrap();
            }
        }
        let rules = if random.below(3) == 0 { random.rules() } else { String::new() };
        tree.write(&[(".git/info/exclude", &rules)]);
        let rules = if random.below(3) == 0 { random.rules() } else { String::new() };
        tree.write(&[(".git/users-ignore-file", &rules)]);
        *ignore_case = random.below(4) == 0;
        let settings = format!(
            "[core]\n\trepositoryformatversion = 0\n\tignorecase = {ignore_case}\n\texcludesFile = {}\n",
            tree.path(".git/users-ignore-file").display()
        );
        tree.write(&[(".git/config", &settings)]);
    }

    fn track_some(&mut self) {
        let all: Vec<String> = run_git_list(&self.tree, ".", &["-o"]);
        let chosen: Vec<&str> =
            all.iter().map(String::as_str).filter(|_| self.random.below(6) == 0).collect();
        // Where case is ignored git takes `a` for the tracked `A`, even if both are there; the walk keeps both.
        if !chosen.is_empty() && !self.ignore_case && self.random.below(2) == 0 {
            let arguments = [&["--literal-pathspecs", "add", "-f", "--"][..], &chosen].concat();
            self.tree.git(".", &arguments);
        }
    }
}

fn run_git_list(tree: &Tree, folder: &str, arguments: &[&str]) -> Vec<String> {
    let output = tree.git(folder, &[&["ls-files", "-z"][..], arguments].concat()).stdout;
    let text = String::from_utf8(output).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[track_caller]
fn check(seed: u64, tree: &Tree, folder: &str) {
    let listed: BTreeSet<String> =
        run_git_list(tree, folder, &["-c", "-o", "--exclude-standard"]).into_iter().collect();
    let walk = tree.walk(folder, &GIT_ONLY);
    let found: BTreeSet<String> = walk.files.iter().map(|file| file.path.clone()).collect();
    assert!(found == listed, "{}", explain(seed, tree, folder, &found, &listed));
    for skip in &walk.skipped {
        assert!(skip.reason.starts_with("ignored by "), "seed {seed}: {skip:?}");
    }
}

fn explain(
    seed: u64,
    tree: &Tree,
    folder: &str,
    found: &BTreeSet<String>,
    listed: &BTreeSet<String>,
) -> String {
    let mut text = format!("seed {seed}, root {folder}\n");
    text += &format!("only git lists {:?}\n", listed.difference(found).collect::<Vec<_>>());
    text += &format!("only the walk lists {:?}\n", found.difference(listed).collect::<Vec<_>>());
    for path in run_git_list(tree, ".", &["-o"]) {
        if path.ends_with(".gitignore") {
            text += &format!("{path}: {:?}\n", fs::read_to_string(tree.path(&path)).unwrap());
        }
    }
    for path in [".git/info/exclude", ".git/users-ignore-file", ".git/config"] {
        text += &format!("{path}: {:?}\n", fs::read_to_string(tree.path(path)).unwrap());
    }
    text + &format!("tracked {:?}", run_git_list(tree, ".", &["-c"]))
}

#[test]
fn the_files_are_those_that_git_lists() {
    let started = Instant::now();
    let first: u64 = std::env::var("SEXTANT_TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let n_cases: u64 =
        std::env::var("SEXTANT_TEST_CASES").map_or(N_CASES, |number| number.parse().unwrap());
    let mut tree = Tree::repository(&[]);
    let mut n_done = 0;
    for seed in first..first + n_cases {
        if n_cases == N_CASES && started.elapsed() > TIME_LIMIT {
            break;
        }
        let case = Case::build(seed, tree);
        tree = case.tree;
        check(seed, &tree, ".");
        // A sub-folder, unless git ignores it as a whole: there we depart from git on purpose.
        if tree.path("a").is_dir()
            && tree.walk(".", &GIT_ONLY).files.iter().any(|f| f.path.starts_with("a/"))
        {
            check(seed, &tree, "a");
        }
        n_done += 1;
    }
    assert!(n_done >= 20, "only {n_done} cases were done in time");
}
