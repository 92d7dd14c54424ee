//! Links, permissions, names and limits of the system.

use super::*;

#[test]
fn errors_of_the_root() {
    let tree = Tree::new(&[("file", "")]);
    let open = |path: &str| {
        let environment = GitEnvironment::default();
        walk_in(&CancelToken::new(), &tree.path(path), &WalkConfig::STANDARD, &environment)
    };
    assert!(matches!(open("missing"), Err(WalkError::Missing { .. })));
    assert!(matches!(open("file"), Err(WalkError::NotAFolder { .. })));
    assert!(matches!(open("file/below"), Err(WalkError::NotAFolder { .. })));
    let cancel = CancelToken::new();
    cancel.cancel();
    let environment = GitEnvironment::default();
    let cancelled = walk_in(&cancel, &tree.top, &WalkConfig::STANDARD, &environment);
    assert!(matches!(cancelled, Err(WalkError::Cancelled(_))));
}

#[test]
fn files_are_ordered_by_path_and_have_size_and_time() {
    let tree = Tree::new(&[("a/x", "12"), ("a-b/x", ""), ("a.txt", ""), ("B", ""), ("ä", "")]);
    tree.check(".", &GIT_ONLY, &["B", "a-b/x", "a.txt", "a/x", "ä"]);
    let walk = tree.walk(".", &GIT_ONLY);
    let modified = fs::metadata(tree.path("a/x")).unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    assert_eq!((walk.files[3].size, i128::from(walk.files[3].mtime_ns)), (2, since.cast_signed()));
}

#[test]
fn names_in_two_unicode_forms_stay_two_files() {
    let names = ["k\u{e4}se.py", "ka\u{308}se.py"];
    let tree = Tree::new(&names.map(|name| (name, "")));
    // A system that takes the two for one keeps one file.
    let n_files = fs::read_dir(&tree.top).unwrap().count();
    assert_eq!(tree.walk(".", &GIT_ONLY).files.len(), n_files);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::process::CommandExt;

    use super::*;

    #[test]
    fn links_are_never_followed() {
        let tree = Tree::new(&[("a/keep.py", ""), ("x/in.py", ""), ("y/", "")]);
        symlink("..", tree.path("a/up")).unwrap();
        symlink("self", tree.path("self")).unwrap();
        symlink("../y", tree.path("x/l")).unwrap();
        symlink("../x", tree.path("y/l")).unwrap();
        symlink("keep.py", tree.path("a/other.py")).unwrap();
        tree.check(".", &WalkConfig::STANDARD, &["a/keep.py", "x/in.py"]);
        let reason = "symbolic link; links are not followed";
        for path in ["a/up", "a/other.py", "self", "x/l", "y/l"] {
            tree.check_skip(".", &WalkConfig::STANDARD, path, reason);
        }
        // A link as the root is the folder that it leads to.
        tree.check("y/l", &WalkConfig::STANDARD, &["in.py"]);
    }

    #[test]
    fn a_link_as_ignore_file_is_not_followed() {
        let tree = Tree::repository(&[("rules", "*.py\n"), ("a.py", "")]);
        symlink("rules", tree.path(".gitignore")).unwrap();
        tree.check(".", &GIT_ONLY, &["a.py", "rules"]);
    }

    #[test]
    fn pipes_and_sockets_are_not_opened() {
        let tree = Tree::new(&[("a.py", "")]);
        let made =
            Command::new("mkfifo").args([tree.path("p.py"), tree.path(".gitignore")]).status();
        assert!(made.unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(tree.path("s.py")).unwrap();
        tree.check(".", &WalkConfig::STANDARD, &["a.py"]);
        tree.check_skip(".", &GIT_ONLY, "p.py", "not a regular file (named pipe)");
        tree.check_skip(".", &GIT_ONLY, "s.py", "not a regular file (socket)");
    }

    #[test]
    fn names_that_are_not_utf8_are_reported() {
        let tree = Tree::new(&[("keep.py", ""), ("zlast.py", "")]);
        let names = [&b"x\xff.py"[..], b"x\xfe.py", b"caf\xe9.py", b"d\xc3\x28r"];
        for name in &names[..3] {
            if fs::write(tree.top.join(OsStr::from_bytes(name)), "").is_err() {
                return; // This file system has no such names.
            }
        }
        let folder = tree.top.join(OsStr::from_bytes(names[3]));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("inner.py"), "").unwrap();
        tree.check(".", &WalkConfig::STANDARD, &["keep.py", "zlast.py"]);
        let skipped = tree.walk(".", &WalkConfig::STANDARD).skipped;
        let paths: Vec<&str> = skipped.iter().map(|skip| skip.path.as_str()).collect();
        assert_eq!(paths, ["caf\u{fffd}.py", "d\u{fffd}(r", "x\u{fffd}.py", "x\u{fffd}.py"]);
        assert!(skipped.iter().all(|skip| skip.reason == "name is not valid UTF-8"));
    }

    #[test]
    fn paths_beyond_the_limit_are_reported_and_the_rest_is_found() {
        let tree = Tree::new(&[("zlast.py", ""), ("aaa.py", "")]);
        // Built from inside, since no path reaches that deep: mkdir and cd, one level after the other.
        let script = "for i in a b c d e f g h i j k l m n o p q r s; do \
            n=$(printf \"%0250d\" 0 | tr 0 $i); mkdir $n && cd -P $n && : > f.py || exit 1; done";
        let built = Command::new("sh").current_dir(&tree.top).args(["-c", script]).status();
        assert!(built.unwrap().success());
        let walk = tree.walk(".", &WalkConfig::STANDARD);
        let longest = walk.files.iter().map(|file| file.path.len()).max().unwrap();
        let limit = usize::try_from(libc::PATH_MAX).unwrap();
        assert!(longest + tree.top.as_os_str().len() > limit - 300, "{longest}");
        assert!(longest + tree.top.as_os_str().len() + 1 < limit, "{longest}");
        assert_eq!(walk.files.last().unwrap().path, "zlast.py");
        assert!(!walk.skipped.is_empty());
        let reason = "path is longer than the system allows";
        assert!(
            walk.skipped.iter().all(|skip| skip.reason == reason),
            "{:?}",
            walk.skipped[0].reason
        );
        for file in &walk.files {
            assert!(fs::metadata(tree.path(&file.path)).is_ok());
        }
    }

    /// Names the tree of the parent process to the child that runs without root's rights.
    const LOCKED_TREE: &str = "SEXTANT_TEST_LOCKED_TREE";

    #[test]
    fn what_cannot_be_read_is_reported() {
        if let Some(top) = std::env::var_os(LOCKED_TREE) {
            return check_locked(Path::new(&top));
        }
        let tree = Tree::new(&[("a_first.py", ""), ("locked_dir/x.py", ""), ("z_last.py", "")]);
        fs::set_permissions(&tree.top, fs::Permissions::from_mode(0o755)).unwrap();
        let lock = |mode| {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(tree.path("locked_dir"), mode).unwrap();
        };
        lock(0o000);
        if fs::read_dir(tree.path("locked_dir")).is_err() {
            check_locked(&tree.top);
        } else {
            // Root may read everything: ask as nobody.
            let copy = tree.path("copy-of-this-test");
            fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
            let output = Command::new(&copy)
                .args(["--exact", "walk::tests::system::unix::what_cannot_be_read_is_reported"])
                .current_dir("/")
                .env(LOCKED_TREE, &tree.top)
                .uid(65534)
                .gid(65534)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
        }
        lock(0o755);
    }

    #[track_caller]
    fn check_locked(top: &Path) {
        let config = WalkConfig { exclude: vec!["copy-of-this-test".into()], ..GIT_ONLY };
        let environment = GitEnvironment::default();
        let walk = walk_in(&CancelToken::new(), top, &config, &environment).unwrap();
        let found: Vec<&str> = walk.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(found, ["a_first.py", "z_last.py"]);
        let locked = Skip { path: "locked_dir".into(), reason: "permission denied".into() };
        assert!(walk.skipped.contains(&locked), "{:?}", walk.skipped);
        let root = walk_in(&CancelToken::new(), &top.join("locked_dir"), &config, &environment);
        assert!(matches!(root, Err(WalkError::Unreadable { .. })));
    }

    /// Names the tree of the parent process to the child that may open few files.
    const DEEP_TREE: &str = "SEXTANT_TEST_DEEP_TREE";

    #[test]
    fn few_files_are_open_at_a_time() {
        if let Some(top) = std::env::var_os(DEEP_TREE) {
            let environment = GitEnvironment::default();
            let walk = walk_in(&CancelToken::new(), Path::new(&top), &GIT_ONLY, &environment);
            return assert_eq!(walk.unwrap().files.len(), 501);
        }
        let deep = format!("{}a.py", "d/".repeat(200));
        let wide: Vec<String> = (0..500).map(|nth| format!("w/k{nth}/a.py")).collect();
        let mut files: Vec<(&str, &str)> = wide.iter().map(|name| (name.as_str(), "")).collect();
        files.push((&deep, ""));
        let tree = Tree::new(&files);
        let output = Command::new("sh")
            .args(["-c", "ulimit -n 16; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "walk::tests::system::unix::few_files_are_open_at_a_time"])
            .env(DEEP_TREE, &tree.top)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
    }
}
