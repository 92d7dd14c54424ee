//! The room seen from outside, on trees that the tests build.

mod against_git;
mod git_rules;
mod nested;
mod outside;
mod own_rules;
mod partial;
mod random_parts;
mod system;

use std::path::Path;
use std::process::{Command, Output};

use super::*;

/// A tree in a temporary folder, without links in its path.
struct Tree {
    _folder: tempfile::TempDir,
    top: PathBuf,
    environment: GitEnvironment,
}

impl Tree {
    /// Builds files with their content; a path that ends with a slash is an empty folder.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let tree = Self { _folder: folder, top, environment: GitEnvironment::default() };
        tree.write(files);
        tree
    }

    /// As [`Tree::new`], with a repository at the top.
    fn repository(files: &[(&str, &str)]) -> Self {
        let tree = Self::new(files);
        tree.git(".", &["init", "-q"]);
        tree
    }

    fn path(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    fn write(&self, files: &[(&str, &str)]) {
        for (path, content) in files {
            let absolute = self.path(path);
            if path.ends_with('/') {
                fs::create_dir_all(absolute).unwrap();
            } else {
                fs::create_dir_all(absolute.parent().unwrap()).unwrap();
                fs::write(absolute, content).unwrap();
            }
        }
    }

    /// Runs git in a folder of the tree, apart from the settings of whoever runs the tests.
    #[track_caller]
    fn git(&self, folder: &str, arguments: &[&str]) -> Output {
        run_git(&self.path(folder), &[], arguments)
    }

    #[track_caller]
    fn walk(&self, root: &str, config: &WalkConfig) -> Walk {
        walk_in(&CancelToken::new(), &self.path(root), config, &self.environment).unwrap()
    }

    #[track_caller]
    fn walk_within(&self, root: &str, config: &WalkConfig, paths: &[&str]) -> Partial {
        let mut scope = Scope::default();
        paths.iter().for_each(|path| scope.add(path));
        let cancel = CancelToken::new();
        walk_within_in(&cancel, &self.path(root), config, &self.environment, &scope).unwrap()
    }

    /// Compares the files of a root; names of ignore files are left out of the comparison.
    #[track_caller]
    fn check(&self, root: &str, config: &WalkConfig, expected: &[&str]) {
        let walk = self.walk(root, config);
        let found: Vec<&str> = walk.files.iter().map(|file| file.path.as_str()).collect();
        let found: Vec<&str> = found.into_iter().filter(|path| !path.ends_with("ignore")).collect();
        assert_eq!(found, expected, "root {root}; skipped: {:#?}", walk.skipped);
    }

    /// Checks the reason why a path was left out.
    #[track_caller]
    fn check_skip(&self, root: &str, config: &WalkConfig, path: &str, reason: &str) {
        let walk = self.walk(root, config);
        let found: Vec<&str> = walk
            .skipped
            .iter()
            .filter(|skip| skip.path == path)
            .map(|skip| skip.reason.as_str())
            .collect();
        assert_eq!(found, [reason], "{path} of {:#?}", walk.skipped);
    }
}

#[track_caller]
fn run_git(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let output = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "tester")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "t@example.invalid")))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    output
}

/// What a scope covers of a walk.
fn covered(walk: &Walk, scope: &Scope) -> Walk {
    let mut part = walk.clone();
    part.files.retain(|file| scope.covers(&file.path));
    part.skipped.retain(|skip| scope.covers(&skip.path));
    part.folders.retain(|folder| scope.covers(folder));
    part
}

/// git's rules and nothing else.
const GIT_ONLY: WalkConfig = WalkConfig {
    use_gitignore: true,
    use_sextantignore: false,
    use_default_exclusions: false,
    exclude_secrets: false,
    exclude: Vec::new(),
    never_enter: Vec::new(),
};
