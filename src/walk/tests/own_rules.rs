//! The default exclusions, the secrets, .sextantignore and the caller's rules.

use super::*;

#[test]
fn sextantignore_has_the_last_word() {
    let tree = Tree::repository(&[
        (".gitignore", "*.gen\n/docs/\n"),
        (".sextantignore", "!docs/\n!a.gen\n!build/\nfixtures/\n"),
        ("a.gen", ""),
        ("b.gen", ""),
        ("docs/x.md", ""),
        ("build/tool.py", ""),
        ("dist/out.py", ""),
        ("fixtures/f.py", ""),
        ("sub/.sextantignore", "!fixtures/\n/own.py\n"),
        ("sub/fixtures/f.py", ""),
        ("sub/own.py", ""),
    ]);
    let standard = WalkConfig::STANDARD;
    tree.check(".", &standard, &["a.gen", "build/tool.py", "docs/x.md", "sub/fixtures/f.py"]);
    tree.check("sub", &standard, &["fixtures/f.py"]);
    tree.check("docs", &standard, &["x.md"]);
    let reason = "ignored by .sextantignore (line 4: fixtures/)";
    tree.check_skip(".", &standard, "fixtures", reason);
    let config = WalkConfig { use_sextantignore: false, ..standard };
    tree.check(".", &config, &["fixtures/f.py", "sub/fixtures/f.py", "sub/own.py"]);
}

#[test]
fn a_wide_negation_does_not_open_dependencies_or_secrets() {
    let tree = Tree::new(&[
        (".sextantignore", "*\n!*/\n!*.py\n!*.json\n"),
        ("a.py", ""),
        ("b.txt", ""),
        ("prod.env", ""),
        ("credentials.json", ""),
        ("x.json", ""),
        ("node_modules/m.py", ""),
    ]);
    tree.check(".", &WalkConfig::STANDARD, &["a.py", "x.json"]);
    tree.write(&[(".sextantignore", "!node_modules/\n!*.env\n!credentials.json\n")]);
    tree.check(
        ".",
        &WalkConfig::STANDARD,
        &["a.py", "b.txt", "credentials.json", "node_modules/m.py", "prod.env", "x.json"],
    );
}

#[test]
fn the_callers_rules_come_before_gits() {
    let tree = Tree::repository(&[
        (".gitignore", "*.gen\n"),
        ("a.gen", ""),
        ("b.py", ""),
        ("sub/c.py", ""),
        ("sub/d.py", ""),
        ("sub/.sextantignore", "!d.py\n"),
    ]);
    let config =
        WalkConfig { exclude: vec!["!*.gen".into(), "/sub/*.py".into()], ..WalkConfig::STANDARD };
    tree.check(".", &config, &["a.gen", "b.py", "sub/d.py"]);
    tree.check_skip(".", &config, "sub/c.py", "ignored by the setting exclude (line 2: /sub/*.py)");
    tree.check("sub", &config, &["c.py", "d.py"]);
}

#[test]
fn defaults_and_secrets_can_be_turned_off() {
    let tree = Tree::new(&[
        (".env", ""),
        (".env.example", ""),
        (".github/workflows/ci.yml", ""),
        ("Cargo.lock", ""),
        ("Node_Modules/m.js", ""),
        ("a.min.js", ""),
        ("logo.png", ""),
        ("main.rs", ""),
        ("out/gen.rs", ""),
    ]);
    let standard = WalkConfig::STANDARD;
    tree.check(".", &standard, &[".env.example", ".github/workflows/ci.yml", "main.rs"]);
    tree.check_skip(".", &standard, ".env", "may hold secrets: file .env");
    tree.check_skip(".", &standard, "logo.png", "default exclusion: image file (.png)");
    let config = WalkConfig { exclude_secrets: false, ..standard.clone() };
    tree.check(".", &config, &[".env", ".env.example", ".github/workflows/ci.yml", "main.rs"]);
    let config = WalkConfig { use_default_exclusions: false, ..standard };
    assert_eq!(tree.walk(".", &config).files.len(), 8);
}

#[test]
fn what_is_above_the_root_is_not_looked_at() {
    let tree = Tree::new(&[("out/node_modules/dist/src/a.py", ""), ("out/node_modules/b.py", "")]);
    tree.check("out/node_modules", &WalkConfig::STANDARD, &["b.py"]);
    tree.check("out/node_modules/dist", &WalkConfig::STANDARD, &["src/a.py"]);
}

#[test]
fn tracked_files_in_default_exclusions_are_left_out() {
    let tree = Tree::repository(&[("dist/a.py", ""), ("b.py", "")]);
    tree.git(".", &["add", "-A"]);
    tree.check(".", &WalkConfig::STANDARD, &["b.py"]);
}

#[test]
fn some_folders_are_never_entered() {
    let tree = Tree::repository(&[
        (".sextantignore", "!inner/\n!store/\n"),
        ("a/inner/x.py", ""),
        ("inner/x.py", ""),
        ("inner-not/x.py", ""),
        ("a/store", ""),
    ]);
    tree.git(".", &["add", "-A"]);
    let never_enter = vec!["inner".into(), "a/store".into()];
    let config =
        WalkConfig { never_enter, exclude: vec!["!inner/".into()], ..WalkConfig::STANDARD };
    tree.check(".", &config, &["a/inner/x.py", "a/store", "inner-not/x.py"]);
    let reason = "left out: another folder of the workspace or the index's own";
    tree.check_skip(".", &config, "inner", reason);
}
