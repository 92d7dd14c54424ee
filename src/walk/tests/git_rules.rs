//! Ignore files as git reads them.

use super::*;

#[test]
fn allow_lists() {
    let tree = Tree::new(&[
        ("r1/.gitignore", "*\n!.gitignore\n!/src/\n!/src/**\n"),
        ("r1/src/app/main.py", ""),
        ("r1/src/x/y/z.py", ""),
        ("r1/junk.py", ""),
        ("r1/lib/j.py", ""),
        ("r2/.gitignore", "/*\n!/*/\n!/.gitignore\n"),
        ("r2/pkg/mod.py", ""),
        ("r2/scratch.py", ""),
        ("r3/.gitignore", "*\n!*/\n!*.py\n!.gitignore\n"),
        ("r3/a/b/c.py", ""),
        ("r3/a/b/c.txt", ""),
        ("r4/.gitignore", "*\n!*.py\n!.gitignore\n"),
        ("r4/top.py", ""),
        ("r4/a/inner.py", ""),
    ]);
    for repository in ["r1", "r2", "r3", "r4"] {
        tree.git(repository, &["init", "-q"]);
    }
    tree.check("r1", &GIT_ONLY, &["src/app/main.py", "src/x/y/z.py"]);
    tree.check("r2", &GIT_ONLY, &["pkg/mod.py"]);
    tree.check("r3", &GIT_ONLY, &["a/b/c.py"]);
    tree.check("r4", &GIT_ONLY, &["top.py"]);
    tree.check(
        ".",
        &WalkConfig::STANDARD,
        &["r1/src/app/main.py", "r1/src/x/y/z.py", "r2/pkg/mod.py", "r3/a/b/c.py", "r4/top.py"],
    );
    tree.check_skip(".", &GIT_ONLY, "r4/a", "ignored by r4/.gitignore (line 1: *)");
}

#[test]
fn a_sub_folder_is_under_the_rules_of_its_parents() {
    let tree = Tree::repository(&[
        (".gitignore", "**/bar/*\n/foo/private/\nfoo/tmp?/\n"),
        ("foo/.gitignore", "x/deep\n"),
        ("foo/bar/baz.py", ""),
        ("foo/private/p.py", ""),
        ("foo/tmp1/t.py", ""),
        ("foo/ok.py", ""),
        ("foo/mine.py", ""),
        ("foo/x/private/p.py", ""),
        ("foo/x/bar/b.py", ""),
        ("foo/x/deep/d.py", ""),
    ]);
    tree.write(&[(".git/info/exclude", "/foo/mine.py\n")]);
    tree.check(".", &GIT_ONLY, &["foo/ok.py", "foo/x/private/p.py"]);
    tree.check("foo", &GIT_ONLY, &["ok.py", "x/private/p.py"]);
    tree.check("foo/x", &GIT_ONLY, &["private/p.py"]);
    tree.check_skip(
        "foo/x",
        &GIT_ONLY,
        "bar/b.py",
        "ignored by ../../.gitignore (line 1: **/bar/*)",
    );
    tree.check_skip("foo/x", &GIT_ONLY, "deep", "ignored by ../.gitignore (line 1: x/deep)");
}

#[test]
fn a_root_that_git_ignores_was_opened_on_purpose() {
    let tree = Tree::repository(&[
        (".gitignore", "*\n"),
        ("kept/tracked.py", ""),
        ("kept/loose.py", ""),
        ("scratch/a.py", ""),
        ("scratch/b.tmp", ""),
        ("scratch/.gitignore", "*.tmp\n"),
    ]);
    tree.git(".", &["add", "-f", "kept/tracked.py"]);
    tree.check(".", &GIT_ONLY, &["kept/tracked.py"]);
    tree.check("kept", &GIT_ONLY, &["tracked.py"]);
    tree.check("scratch", &GIT_ONLY, &["a.py"]);
}

#[test]
fn windows_editors() {
    let tree = Tree::repository(&[
        (".gitignore", "\u{feff}first.py\r\nbuild9/\r\n*.tmp.py\r\n"),
        ("first.py", ""),
        ("build9/b.py", ""),
        ("c.tmp.py", ""),
        ("tests/example/file.py", ""),
    ]);
    tree.check(".", &WalkConfig::STANDARD, &["tests/example/file.py"]);
    tree.check_skip(".", &GIT_ONLY, "build9", "ignored by .gitignore (line 2: build9/)");
}

#[test]
fn odd_lines_do_not_disable_the_others() {
    let tree = Tree::repository(&[
        (".gitignore", "/{{tpl.name}}.py\na{b,c}.py\n[abc\nfoo\\\nafter.py\n"),
        ("{{tpl.name}}.py", ""),
        ("a{b,c}.py", ""),
        ("after.py", ""),
        ("ab.py", ""),
        ("ac.py", ""),
        ("a.py", ""),
        ("foo", ""),
        ("tpl.name.py", ""),
    ]);
    tree.check(".", &GIT_ONLY, &["a.py", "ab.py", "ac.py", "foo", "tpl.name.py"]);
}

#[test]
fn letter_case_follows_the_repository() {
    let tree = Tree::new(&[]);
    for (repository, ignore_case) in [("ci", "true"), ("cs", "false")] {
        tree.write(&[(&format!("{repository}/"), "")]);
        tree.git(repository, &["init", "-q"]);
        tree.git(repository, &["config", "core.ignorecase", ignore_case]);
        tree.write(&[
            (&format!("{repository}/.gitignore"), "GENERATED/\n*.Tmp.py\n"),
            (&format!("{repository}/generated/g.py"), ""),
            (&format!("{repository}/x.tmp.py"), ""),
            (&format!("{repository}/main.py"), ""),
        ]);
    }
    tree.check("ci", &GIT_ONLY, &["main.py"]);
    tree.check("cs", &GIT_ONLY, &["generated/g.py", "main.py", "x.tmp.py"]);
}

#[test]
fn rules_edited_between_two_walks() {
    let tree = Tree::repository(&[(".gitignore", "other/\n"), ("a.py", ""), ("sub/b.py", "")]);
    tree.check(".", &GIT_ONLY, &["a.py", "sub/b.py"]);
    tree.write(&[(".gitignore", "other/\na.py\n"), ("sub/.gitignore", "*\n")]);
    tree.check(".", &GIT_ONLY, &[]);
    tree.write(&[(".gitignore", "other/\n"), ("sub/.gitignore", "")]);
    tree.check(".", &GIT_ONLY, &["a.py", "sub/b.py"]);
}

#[test]
fn the_users_ignore_file_applies_last() {
    let mut tree = Tree::repository(&[
        ("a.swp", ""),
        ("b.bak", ""),
        ("c.py", ""),
        ("keep/d.swp", ""),
        ("keep/.gitignore", "!*.swp\n"),
    ]);
    let elsewhere = Tree::new(&[
        ("config", "[core]\n\texcludesFile = ignored-names\n"),
        ("default", "*.py\n"),
        ("ignored-names", "*.swp\n"),
    ]);
    let content =
        format!("[core]\n\texcludesFile = {}\n", elsewhere.path("ignored-names").display());
    elsewhere.write(&[("config", &content)]);
    tree.environment.default_excludes_file = Some(elsewhere.path("default"));
    tree.check(".", &GIT_ONLY, &["a.swp", "b.bak", "keep/d.swp"]);
    tree.environment.config_files = vec![elsewhere.path("config"), elsewhere.path("missing")];
    tree.check(".", &GIT_ONLY, &["b.bak", "c.py", "keep/d.swp"]);
    tree.write(&[(".git/info/exclude", "!a.swp\n*.bak\n")]);
    tree.check(".", &GIT_ONLY, &["a.swp", "c.py", "keep/d.swp"]);
    tree.check_skip(".", &GIT_ONLY, "b.bak", "ignored by .git/info/exclude (line 2: *.bak)");
}

#[test]
fn tracked_files_count_whatever_the_rules() {
    let files = [
        (".gitignore", "*.gen\n/vendored/\n"),
        ("a.gen", ""),
        ("b.gen", ""),
        ("vendored/in.c", ""),
        ("vendored/loose.c", ""),
        ("vendored/deep/er/in.c", ""),
        ("vendored/other/loose.c", ""),
    ];
    let tree = Tree::repository(&files);
    let tracked = ["a.gen", "vendored/in.c", "vendored/deep/er/in.c"];
    tree.git(".", &[&["add", "-f"][..], &tracked].concat());
    let expected = ["a.gen", "vendored/deep/er/in.c", "vendored/in.c"];
    for setup in [
        &["update-index", "--index-version", "3"][..],
        &["update-index", "--index-version", "4"],
        &["update-index", "--skip-worktree", "a.gen"],
        &["update-index", "--no-skip-worktree", "a.gen"],
        &["update-index", "--split-index"],
    ] {
        tree.git(".", setup);
        tree.check(".", &GIT_ONLY, &expected);
    }
    tree.check_skip(".", &GIT_ONLY, "vendored/other", "ignored by .gitignore (line 2: /vendored/)");
    // On top of a shared index: one entry more, one less, one changed.
    tree.write(&[("a.gen", "changed")]);
    tree.git(".", &["add", "-f", "b.gen", "a.gen"]);
    tree.git(".", &["rm", "-q", "--cached", "vendored/in.c"]);
    tree.check(".", &GIT_ONLY, &["a.gen", "b.gen", "vendored/deep/er/in.c"]);
    tree.git(".", &["config", "core.ignorecase", "true"]);
    fs::rename(tree.path("a.gen"), tree.path("A.GEN")).unwrap();
    tree.check(".", &GIT_ONLY, &["A.GEN", "b.gen", "vendored/deep/er/in.c"]);
}

#[test]
fn repositories_of_the_longer_hash() {
    let tree = Tree::new(&[(".gitignore", "*.gen\n"), ("a.gen", ""), ("b.gen", "")]);
    tree.git(".", &["init", "-q", "--object-format=sha256"]);
    tree.git(".", &["add", "-f", "a.gen"]);
    tree.check(".", &GIT_ONLY, &["a.gen"]);
}

#[test]
fn outside_of_repositories_ignore_files_apply_too() {
    let mut tree = Tree::new(&[
        (".gitignore", "*.gen\n"),
        ("a.gen", ""),
        ("b.py", ""),
        ("sub/.gitignore", "/b.py\n!c.gen\n"),
        ("sub/b.py", ""),
        ("sub/c.gen", ""),
        ("sub/d.swp", ""),
    ]);
    let elsewhere = Tree::new(&[("ignore", "*.swp\n")]);
    tree.environment.default_excludes_file = Some(elsewhere.path("ignore"));
    tree.check(".", &GIT_ONLY, &["b.py", "sub/c.gen"]);
    tree.check("sub", &GIT_ONLY, &["c.gen"]);
    let config = WalkConfig { use_gitignore: false, ..GIT_ONLY };
    tree.check(".", &config, &["a.gen", "b.py", "sub/b.py", "sub/c.gen", "sub/d.swp"]);
}
