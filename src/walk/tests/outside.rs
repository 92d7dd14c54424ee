//! What decides from outside of the walked folders.

use super::*;

/// A repository whose user has settings and an ignore file of their own, and the tree that holds these.
fn with_user() -> (Tree, Tree) {
    let mut tree = Tree::repository(&[
        (".gitignore", "*.gen\n"),
        ("sub/.gitignore", ""),
        ("sub/root/a.py", ""),
        ("sub/root/b.gen", ""),
    ]);
    tree.git(".", &["add", "-A"]);
    tree.git(".", &["commit", "-qm", "one"]);
    let user = Tree::new(&[("config/ignore", "*.swp\n"), ("settings", "")]);
    tree.environment.default_excludes_file = Some(user.path("config/ignore"));
    tree.environment.config_files = vec![user.path("settings")];
    (tree, user)
}

#[track_caller]
fn check(tree: &Tree, root: &str, what: &str, changes: bool, act: impl FnOnce()) {
    let outside = tree.walk(root, &WalkConfig::STANDARD).outside;
    let before = outside.fingerprint();
    assert_eq!(before, outside.fingerprint(), "{what}");
    act();
    assert_eq!(outside.fingerprint() != before, changes, "{what}");
}

#[test]
fn the_upkeep_of_a_repository_leaves_the_fingerprint() {
    let (tree, _user) = with_user();
    for root in [".", "sub/root"] {
        let stays = |what: &str, act: &dyn Fn()| check(&tree, root, what, false, act);
        stays("edit and commit", &|| {
            tree.write(&[("sub/root/a.py", root)]);
            tree.git(".", &["commit", "-qam", "two"]);
        });
        stays("gc", &|| _ = tree.git(".", &["gc", "-q"]));
        stays("pack refs", &|| _ = tree.git(".", &["pack-refs", "--all"]));
        stays("status", &|| _ = tree.git(".", &["status"]));
        stays("stash list", &|| _ = tree.git(".", &["stash", "list"]));
        stays("branch", &|| _ = tree.git(".", &["branch", "--track", "other"]));
        stays("branch deleted", &|| _ = tree.git(".", &["branch", "-q", "-D", "other"]));
        stays("lock file", &|| tree.write(&[(".git/index.lock", "")]));
        stays("lock file gone", &|| fs::remove_file(tree.path(".git/index.lock")).unwrap());
        stays("unrelated setting", &|| _ = tree.git(".", &["config", "user.name", root]));
        stays("description", &|| tree.write(&[(".git/description", root)]));
    }
}

#[test]
fn what_decides_changes_the_fingerprint() {
    let (tree, user) = with_user();
    let user_settings = format!("[core]\nexcludesFile = {}\n", user.path("config/more").display());
    for root in [".", "sub/root"] {
        let changes = |what: &str, act: &dyn Fn()| check(&tree, root, what, true, act);
        changes("branch switch", &|| _ = tree.git(".", &["switch", "-qc", "next"]));
        changes("back", &|| _ = tree.git(".", &["switch", "-q", "-"]));
        tree.git(".", &["branch", "-D", "next"]);
        changes("add", &|| _ = tree.git(".", &["add", "-f", "sub/root/b.gen"]));
        changes("rm", &|| _ = tree.git(".", &["rm", "-q", "--cached", "sub/root/b.gen"]));
        changes("info/exclude", &|| tree.write(&[(".git/info/exclude", "*.x\n")]));
        changes("no info/exclude", &|| fs::remove_file(tree.path(".git/info/exclude")).unwrap());
        changes("user's file", &|| user.write(&[("config/ignore", "*.bak\n")]));
        changes("user's file back", &|| user.write(&[("config/ignore", "*.swp\n")]));
        changes("user's setting", &|| user.write(&[("settings", &user_settings)]));
        changes("file of the setting", &|| user.write(&[("config/more", "*.y\n")]));
        changes("excludesFile", &|| _ = tree.git(".", &["config", "core.excludesFile", "/q"]));
        changes("no excludesFile", &|| {
            _ = tree.git(".", &["config", "--unset", "core.excludesFile"])
        });
        changes("ignoreCase", &|| _ = tree.git(".", &["config", "core.ignoreCase", "true"]));
        tree.git(".", &["config", "core.ignoreCase", "false"]);
        user.write(&[("settings", "")]);
        fs::remove_file(user.path("config/more")).unwrap();
    }
    for name in [".gitignore", "sub/.gitignore", "sub/.sextantignore"] {
        check(&tree, "sub/root", name, true, || tree.write(&[(name, "*.other\n")]));
        check(&tree, ".", name, false, || tree.write(&[(name, "*.another\n")]));
    }
    check(&tree, "sub/root", "a repository in between", true, || {
        tree.git("sub", &["init", "-q"]);
    });
}

#[test]
fn inner_repositories_count() {
    let (tree, _user) = with_user();
    tree.write(&[("inner/i.py", ""), ("soon/.git/", ""), ("soon/s.py", "")]);
    tree.git("inner", &["init", "-q"]);
    tree.git("inner", &["add", "-A"]);
    tree.git("inner", &["commit", "-qm", "one"]);
    tree.git(".", &["worktree", "add", "-q", "trees/f"]);
    let folders = tree.walk(".", &WalkConfig::STANDARD).outside.folders().to_vec();
    let watched = |path: &str| folders.contains(&tree.path(path));
    assert!(watched("inner/.git") && watched("inner/.git/info") && watched("soon/.git"));
    assert!(!watched(".git/worktrees/f"));
    check(&tree, ".", "tracked", true, || _ = tree.git("inner", &["rm", "-q", "--cached", "i.py"]));
    check(&tree, ".", "switch in a copy", false, || {
        tree.git("trees/f", &["switch", "-qc", "another"]);
    });
    check(&tree, ".", "a repository is ready", true, || _ = tree.git("soon", &["init", "-q"]));
    check(&tree, ".", "no copy any more", true, || {
        fs::remove_dir_all(tree.path(".git/worktrees/f")).unwrap();
    });
}

#[test]
fn folders_are_few_and_there() {
    let (mut tree, user) = with_user();
    let folders =
        |tree: &Tree, root: &str| tree.walk(root, &WalkConfig::STANDARD).outside.folders().to_vec();
    let own = [user.path("config"), tree.path(".git"), tree.path(".git/info")];
    let sorted = |more: &[PathBuf]| {
        let mut folders = [&own[..], more].concat();
        folders.sort();
        folders
    };
    assert_eq!(folders(&tree, "."), sorted(&[]));
    assert_eq!(folders(&tree, "sub/root"), sorted(&[tree.top.clone(), tree.path("sub")]));
    tree.environment = GitEnvironment::default();
    fs::remove_dir_all(tree.path(".git/info")).unwrap();
    assert_eq!(folders(&tree, "."), [tree.path(".git")]);
    fs::remove_dir_all(tree.path(".git")).unwrap();
    assert!(folders(&tree, ".").is_empty());
    let Partial::Walked(part) = tree.walk_within(".", &WalkConfig::STANDARD, &["sub"]) else {
        panic!("the part is known");
    };
    assert_eq!(part.outside, Outside::default());
}

#[test]
fn a_work_tree_has_its_own_head_and_index() {
    let (tree, _user) = with_user();
    tree.git(".", &["worktree", "add", "-q", "trees/f"]);
    check(&tree, "trees/f", "switch in the repository", false, || {
        tree.git(".", &["switch", "-qc", "another"]);
    });
    check(&tree, "trees/f", "switch in the work tree", true, || {
        tree.git("trees/f", &["switch", "-qc", "third"]);
    });
    let outside = tree.walk("trees/f", &WalkConfig::STANDARD).outside;
    assert!(outside.folders().contains(&tree.path(".git/worktrees/f")));
}

#[cfg(unix)]
#[test]
fn pipes_in_the_place_of_gits_files_are_not_opened() {
    let files = [
        ".git/info/exclude",
        ".git/config",
        ".git/index",
        ".git/HEAD",
        ".git/commondir",
        "in/.git",
        "user",
        "settings",
        ".sextantignore",
    ];
    for file in files {
        let mut tree = Tree::repository(&[("a.py", ""), ("in/b.py", "")]);
        tree.environment.default_excludes_file = Some(tree.path("user"));
        tree.environment.config_files = vec![tree.path("settings")];
        let _ = fs::remove_file(tree.path(file));
        assert!(Command::new("mkfifo").arg(tree.path(file)).status().unwrap().success());
        tree.check(".", &WalkConfig::STANDARD, &["a.py", "in/b.py"]);
        let outside = tree.walk(".", &WalkConfig::STANDARD).outside;
        assert_eq!(outside.fingerprint(), outside.fingerprint(), "{file}");
    }
}

#[test]
fn files_above_the_bound_are_not_read() {
    let tree = Tree::repository(&[("a.gen", ""), ("ignored", "*.gen\n")]);
    let settings = format!("[core]\nexcludesFile = {}\n", tree.path("ignored").display());
    tree.write(&[(".git/config", &settings)]);
    tree.check(".", &GIT_ONLY, &["ignored"]);
    let padding = "#".repeat(1 << 20);
    tree.write(&[(".git/config", &format!("{settings}{padding}"))]);
    tree.check(".", &GIT_ONLY, &["a.gen", "ignored"]);
}
