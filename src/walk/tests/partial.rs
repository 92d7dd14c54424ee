//! Parts of a root.

use super::*;

/// Checks which files and skips a part has; None: the whole is needed.
#[track_caller]
fn check(tree: &Tree, root: &str, paths: &[&str], expected: Option<&[&str]>) {
    let found = match tree.walk_within(root, &WalkConfig::STANDARD, paths) {
        Partial::NeedsWhole => None,
        Partial::Walked(walk) => {
            let mut found: Vec<String> = walk.files.into_iter().map(|file| file.path).collect();
            found.extend(walk.skipped.into_iter().map(|skip| format!("-{}", skip.path)));
            Some(found)
        }
    };
    let expected = expected.map(<[&str]>::to_vec);
    let found = found.as_ref().map(|found| found.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(found, expected, "{paths:?}");
}

#[test]
fn a_part_is_what_its_paths_cover() {
    let tree = Tree::repository(&[
        (".gitignore", "hid/\n*.gen\n"),
        ("a/x.py", ""),
        ("a/y.gen", ""),
        ("a/b/z.py", ""),
        ("hid/kept.py", ""),
        ("hid/loose.py", ""),
        ("node_modules/m/i.py", ""),
    ]);
    tree.git(".", &["add", "-f", "hid/kept.py"]);
    check(&tree, ".", &[], Some(&[]));
    check(&tree, ".", &["a/x.py"], Some(&["a/x.py"]));
    check(&tree, ".", &["a"], Some(&["a/b/z.py", "a/x.py", "-a/y.gen"]));
    check(&tree, ".", &["a/gone.py", "a/b/gone/too"], Some(&[]));
    check(&tree, ".", &["hid/kept.py", "hid/loose.py"], Some(&["hid/kept.py", "-hid/loose.py"]));
    check(&tree, ".", &["node_modules/m/i.py"], Some(&[]));
    check(&tree, ".", &["node_modules"], Some(&["-node_modules"]));
    let Partial::Walked(whole) = tree.walk_within(".", &WalkConfig::STANDARD, &[""]) else {
        panic!("the whole is known");
    };
    let full = tree.walk(".", &WalkConfig::STANDARD);
    assert_eq!((whole.files, whole.skipped), (full.files, full.skipped));
}

#[test]
fn what_decides_about_other_paths_needs_the_whole() {
    let tree = Tree::repository(&[("a/x.py", ""), ("a/.gitignore", ""), ("bare/b.py", "")]);
    for path in [".gitignore", "a/.gitignore", "q/.sextantignore", ".git", "a/.git/HEAD", ".GIT"] {
        check(&tree, ".", &["a/x.py", path], None);
    }
    // An ignore file decides about nothing outside of its folder.
    check(&tree, ".", &["a"], Some(&["a/.gitignore", "a/x.py"]));
    tree.write(&[("bare/HEAD", "ref: refs/heads/a\n"), ("bare/objects/", ""), ("bare/refs/", "")]);
    check(&tree, ".", &["bare/HEAD", "bare/objects", "bare/refs"], None);
    check(&tree, ".", &["bare"], Some(&["-bare"]));
    check(&tree, ".", &["bare/b.py"], Some(&[]));
}

#[test]
fn folders_are_those_that_were_listed() {
    let tree = Tree::repository(&[
        (".gitignore", "hid/\n"),
        ("a/b/x.py", ""),
        ("a-b/", ""),
        ("hid/x.py", ""),
        ("node_modules/x.py", ""),
        ("in/.git/HEAD", ""),
    ]);
    let folders = tree.walk(".", &WalkConfig::STANDARD).folders;
    assert_eq!(folders, ["", "a", "a-b", "a/b", "in"]);
    let Partial::Walked(part) = tree.walk_within(".", &WalkConfig::STANDARD, &["a/b", "hid"])
    else {
        panic!("the part is known");
    };
    assert_eq!(part.folders, ["a/b"]);
}

/// A repository with a submodule, an inner repository and linked work trees.
fn with_repositories() -> Tree {
    let tree = Tree::new(&[("lib/l.py", ""), ("main/a/x.py", ""), ("main/top.py", "")]);
    for repository in ["lib", "main"] {
        tree.git(repository, &["init", "-q"]);
        tree.git(repository, &["add", "-A"]);
        tree.git(repository, &["commit", "-qm", "one"]);
    }
    let add = ["submodule", "--quiet", "add", "../lib", "third"];
    tree.git("main", &[&["-c", "protocol.file.allow=always"][..], &add].concat());
    tree.git("main", &["worktree", "add", "-q", "trees/f1"]);
    tree.write(&[("main/inner/i.py", ""), ("main/inner/.gitignore", "*.gen\n")]);
    tree.git("main/inner", &["init", "-q"]);
    tree.write(&[("main/inner/d/n.gen", ""), ("main/inner/d/n.py", "")]);
    tree
}

#[test]
fn repositories_on_the_way_are_entered() {
    let tree = with_repositories();
    check(&tree, "main", &["third/l.py", "a"], Some(&["a/x.py", "third/l.py"]));
    check(&tree, "main", &["inner/d"], Some(&["inner/d/n.py", "-inner/d/n.gen"]));
    check(&tree, "main", &["trees/f1/a/x.py"], Some(&[]));
    check(&tree, "main", &["trees"], Some(&["-trees/f1"]));
    // Seen from above, the repository itself goes before its work trees wherever it is.
    tree.git("main", &["worktree", "add", "-q", "../a-tree"]);
    check(&tree, ".", &["main/a/x.py"], Some(&["main/a/x.py"]));
    check(&tree, ".", &["a-tree/a/x.py"], None);
    check(&tree, ".", &["a-tree/a/x.py", "main/a/x.py"], Some(&["main/a/x.py"]));
}

#[test]
fn repositories_that_come_need_the_whole() {
    let tree = with_repositories();
    check(&tree, "main", &["inner"], None);
    check(&tree, ".", &["main"], None);
    tree.write(&[("main/new/.git/", ""), ("main/new/n.py", "")]);
    check(&tree, "main", &["new"], None);
    check(&tree, "main", &["new/n.py"], Some(&["new/n.py"]));
}

#[test]
fn repositories_that_go_need_the_whole_if_others_stand_back() {
    let tree = with_repositories();
    tree.git("main", &["worktree", "add", "-q", "../a-tree"]);
    let needs_whole = |root: &str, path: &str| {
        let mut scope = Scope::default();
        scope.add(path);
        tree.walk(root, &WalkConfig::STANDARD).outside.needs_whole(&scope)
    };
    assert!(needs_whole(".", "main") && !needs_whole(".", "main/a") && !needs_whole(".", "lib"));
    assert!(!needs_whole(".", "a-tree") && !needs_whole("main", "inner"));
}

#[test]
fn a_sub_folder_of_a_repository_needs_a_file_elsewhere() {
    let tree = with_repositories();
    // The work tree stands for the repository if there is nothing else below the root.
    tree.git("main", &["worktree", "add", "-q", "sub/f2"]);
    check(&tree, "main/sub", &["x.py"], None);
    tree.write(&[("main/sub/x.py", ""), ("main/sub/y.log", "")]);
    check(&tree, "main/sub", &["x.py"], None);
    tree.write(&[("main/sub/z.py", "")]);
    check(&tree, "main/sub", &["x.py", "f2"], Some(&["x.py", "-f2"]));
}
