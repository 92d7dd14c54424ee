//! Repositories, submodules and work trees inside the root.

use super::*;

#[test]
fn a_plain_folder_of_repositories() {
    let tree = Tree::new(&[
        ("svc-a/.gitignore", "build/\n"),
        ("svc-a/pkg/.gitignore", "cache/\n"),
        ("svc-a/build/x.py", ""),
        ("svc-a/pkg/cache/y.py", ""),
        ("svc-a/pkg/core.py", ""),
        ("svc-a/other/cache/z.py", ""),
        ("svc-b/build/x.py", ""),
        ("svc-b/pkg/cache/y.py", ""),
    ]);
    tree.git("svc-a", &["init", "-q"]);
    tree.git("svc-b", &["init", "-q"]);
    let common = ["svc-a/other/cache/z.py", "svc-a/pkg/core.py"];
    tree.check(
        ".",
        &GIT_ONLY,
        &[&common[..], &["svc-b/build/x.py", "svc-b/pkg/cache/y.py"]].concat(),
    );
    tree.check(".", &WalkConfig::STANDARD, &[&common[..], &["svc-b/pkg/cache/y.py"]].concat());
    let reason = "default exclusion: build output folder build";
    tree.check_skip(".", &WalkConfig::STANDARD, "svc-b/build", reason);
}

#[test]
fn inner_repositories_are_under_their_own_rules() {
    let tree = Tree::repository(&[
        (".gitignore", "*.gen\n/hidden/\n"),
        ("a.gen", ""),
        ("inner/.gitignore", "*.tmp\n"),
        ("inner/a.gen", ""),
        ("inner/b.tmp", ""),
        ("hidden/c.py", ""),
        ("broken/.git/HEAD", "nothing"),
        ("broken/a.gen", ""),
        ("broken/b.py", ""),
    ]);
    tree.git("inner", &["init", "-q"]);
    tree.git("hidden", &["init", "-q"]);
    tree.check(".", &GIT_ONLY, &["broken/b.py", "inner/a.gen"]);
    tree.check_skip(".", &GIT_ONLY, "hidden", "ignored by .gitignore (line 2: /hidden/)");
}

#[test]
fn submodules_are_walked() {
    let tree = Tree::new(&[("lib/a.py", ""), ("main/b.py", ""), ("main/.gitignore", "/third/\n")]);
    for repository in ["lib", "main"] {
        tree.git(repository, &["init", "-q"]);
        tree.git(repository, &["add", "-A"]);
        tree.git(repository, &["commit", "-qm", "one"]);
    }
    tree.git(
        "main",
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            "-f",
            "../lib",
            "third",
        ],
    );
    tree.check("main", &GIT_ONLY, &[".gitmodules", "b.py", "third/a.py"]);
}

/// A repository `main` with one commit.
fn with_main() -> Tree {
    let tree = Tree::new(&[("main/app/core.py", "")]);
    tree.git("main", &["init", "-q", "-b", "trunk"]);
    tree.git("main", &["add", "-A"]);
    tree.git("main", &["commit", "-qm", "one"]);
    tree
}

#[test]
fn linked_worktrees_below_the_root_are_copies() {
    let tree = with_main();
    for branch in ["f1", "f2"] {
        let folder = format!("worktrees/{branch}");
        tree.git("main", &["worktree", "add", "-q", &folder, "-b", branch]);
    }
    tree.git("main", &["worktree", "add", "-q", "../a-sibling", "-b", "f3"]);
    tree.git("main", &["worktree", "add", "-q", "../a-sibling/agents/x", "-b", "f4"]);
    tree.check("main", &WalkConfig::STANDARD, &["app/core.py"]);
    let shown = tree.path("main").display().to_string();
    let reason = format!("linked work tree of a repository that is indexed already ({shown})");
    tree.check_skip("main", &GIT_ONLY, "worktrees/f1", &reason);
    // The repository itself is taken although a work tree comes earlier in the order.
    tree.check(".", &GIT_ONLY, &["main/app/core.py"]);
    tree.check("a-sibling", &GIT_ONLY, &["app/core.py"]);
    // Where the repository itself is not in sight, one work tree stands for it.
    tree.check("main/worktrees", &GIT_ONLY, &["f1/app/core.py"]);
    tree.check_skip("main/worktrees", &GIT_ONLY, "f2", &reason);
}

#[test]
fn worktrees_of_a_bare_repository() {
    let tree = with_main();
    tree.git(".", &["clone", "-q", "--bare", "main", "project/.bare"]);
    tree.write(&[("project/.git", "gitdir: ./.bare\n"), ("project/notes.md", "")]);
    tree.git("project", &["worktree", "add", "-q", "feature", "-b", "feature"]);
    tree.git("project", &["worktree", "add", "-q", "trunk", "trunk"]);
    tree.check("project", &WalkConfig::STANDARD, &["feature/app/core.py", "notes.md"]);
    let reason = "git's own files (a repository without a work tree)";
    tree.check_skip("project", &WalkConfig::STANDARD, ".bare", reason);
}

#[test]
fn private_excludes_seen_from_a_linked_worktree() {
    let tree = with_main();
    tree.write(&[("main/.git/info/exclude", "private_notes/\n*.mine.py\n")]);
    tree.git("main", &["worktree", "add", "-q", "../wt"]);
    for checkout in ["main", "wt"] {
        tree.write(&[
            (&format!("{checkout}/private_notes/n.py"), ""),
            (&format!("{checkout}/b.mine.py"), ""),
            (&format!("{checkout}/fresh.py"), ""),
        ]);
        tree.check(checkout, &GIT_ONLY, &["app/core.py", "fresh.py"]);
    }
}

#[test]
fn a_folder_with_tracked_files_is_no_repository_of_its_own() {
    let tree = Tree::repository(&[(".gitignore", "*.gen\n"), ("in/a.py", ""), ("in/b.gen", "")]);
    tree.git(".", &["add", "-A"]);
    tree.git("in", &["init", "-q"]);
    tree.check(".", &GIT_ONLY, &["in/a.py"]);
}
