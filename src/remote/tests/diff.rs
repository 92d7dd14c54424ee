//! What git says has changed, on real repositories.

use std::fs;
use std::time::{Duration, Instant};

use super::super::diff::{Diff, DiffError, diff, diff_with};
use super::super::git::{Git, GitError};
use super::super::limits::RemoteLimits;
use super::repo::Repo;
use super::repository;
use crate::task::CancelToken;

#[track_caller]
fn changes(repo: &Repo, commit: &str) -> Diff {
    let limits = RemoteLimits::standard();
    diff(&CancelToken::new(), &repository(&repo.top), Some(commit), &limits, |_| true).unwrap()
}

#[track_caller]
fn check(repo: &Repo, commit: &str, changed: &[&str], gone: &[&str]) {
    let diff = changes(repo, commit);
    assert_eq!(diff.changed, changed);
    assert_eq!(diff.gone.iter().map(String::as_str).collect::<Vec<_>>(), gone);
    assert!(!diff.maybe_outdated);
}

fn reason(result: Result<Diff, DiffError>) -> String {
    match result.unwrap_err() {
        DiffError::Unknown { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_sort_of_change_counts() {
    let repo = Repo::new(&[
        ("same.rs", "1"),
        ("edited.rs", "1"),
        ("staged.rs", "1"),
        ("committed.rs", "1"),
        ("deleted.rs", "1"),
        ("deleted_staged.rs", "1"),
        ("renamed.rs", "a long enough text to be known again\n"),
        ("untracked_now.rs", "1"),
        (".gitignore", "ignored.rs\n"),
    ]);
    let indexed = repo.head();
    check(&repo, &indexed, &[], &[]);
    repo.write("committed.rs", "2");
    repo.commit();
    repo.write("edited.rs", "2");
    repo.write("staged.rs", "2");
    repo.git(&["add", "staged.rs"]);
    repo.remove("deleted.rs");
    repo.git(&["rm", "-q", "deleted_staged.rs"]);
    repo.git(&["mv", "renamed.rs", "new_name.rs"]);
    repo.git(&["rm", "-q", "--cached", "untracked_now.rs"]);
    repo.write("new.rs", "1");
    repo.write("sub/new.rs", "1");
    repo.write("ignored.rs", "1");
    check(
        &repo,
        &indexed,
        &[
            "committed.rs",
            "edited.rs",
            "new.rs",
            "new_name.rs",
            "staged.rs",
            "sub/new.rs",
            "untracked_now.rs",
        ],
        &["deleted.rs", "deleted_staged.rs", "renamed.rs"],
    );
}

#[test]
fn a_file_that_was_only_touched_has_not_changed() {
    let repo = Repo::new(&[("same.rs", "1")]);
    let file = fs::File::options().write(true).open(repo.top.join("same.rs")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    check(&repo, &repo.head(), &[], &[]);
}

#[test]
fn only_files_of_the_index_count() {
    let repo = Repo::new(&[]);
    repo.write("a.rs", "1");
    repo.write("b.bin", "1");
    let limits = RemoteLimits::standard();
    let only_rust = |path: &str| path.ends_with(".rs");
    let commit = repo.head();
    let repository = repository(&repo.top);
    let diff = diff(&CancelToken::new(), &repository, Some(&commit), &limits, only_rust).unwrap();
    assert_eq!(diff.changed, ["a.rs"]);
}

#[cfg(unix)]
#[test]
fn odd_names_are_names() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let names =
        ["a b.rs", "new\nline.rs", "quo\"te.rs", "tab\t.rs", "grün.rs", "-option", ":(top)x"];
    let repo = Repo::new(&[("-option", "1"), ("a b.rs", "1")]);
    let indexed = repo.head();
    for name in names {
        repo.write(name, "2");
    }
    // Not every file system takes this name.
    let _ = fs::write(repo.top.join(OsStr::from_bytes(b"not-\xff-utf8.rs")), "1");
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    check(&repo, &indexed, &sorted, &[]);
}

#[test]
fn a_part_of_a_repository_sees_its_own_changes() {
    let repo = Repo::new(&[("app/a.rs", "1"), ("lib/b.rs", "1"), ("app/gone.rs", "1")]);
    let indexed = repo.head();
    repo.write("app/a.rs", "2");
    repo.write("app/new.rs", "2");
    repo.write("lib/b.rs", "2");
    repo.write("lib/new.rs", "2");
    repo.remove("app/gone.rs");
    for top in [repo.top.clone(), repo.top.join("app")] {
        let mut part = repository(&top);
        part.prefix = "app/".into();
        let limits = RemoteLimits::standard();
        let diff = diff(&CancelToken::new(), &part, Some(&indexed), &limits, |_| true).unwrap();
        assert_eq!(diff.changed, ["a.rs", "new.rs"]);
        assert_eq!(diff.gone.into_iter().collect::<Vec<_>>(), ["gone.rs"]);
    }
}

#[test]
fn a_commit_that_is_not_here_is_replaced_by_the_upstream() {
    let repo = Repo::new(&[("a.rs", "1")]);
    repo.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    repo.git(&["remote", "add", "origin", "https://git.example/acme/app.git"]);
    let missing = "0123456789abcdef0123456789abcdef01234567";
    let limits = RemoteLimits::standard();
    let ask = |commit: Option<&str>| {
        diff(&CancelToken::new(), &repository(&repo.top), commit, &limits, |_| true)
    };
    assert!(reason(ask(Some(missing))).contains("run git fetch"));
    assert!(reason(ask(None)).contains("no upstream"));
    repo.git(&["config", "branch.main.remote", "origin"]);
    repo.git(&["config", "branch.main.merge", "refs/heads/main"]);
    repo.write("a.rs", "2");
    repo.commit();
    for commit in [Some(missing), None, Some("main"), Some("--output=stolen"), Some("")] {
        let diff = ask(commit).unwrap();
        assert!(diff.maybe_outdated, "{commit:?}");
        assert_eq!(diff.changed, ["a.rs"]);
    }
    assert!(!repo.top.join("stolen").exists());
}

#[test]
fn too_many_paths_are_too_large_a_difference() {
    let repo = Repo::new(&[("a", "1"), ("b", "1")]);
    let commit = repo.head();
    repo.write("a", "2");
    repo.write("b", "2");
    repo.write("c", "2");
    let with = |max_examined_paths| {
        let limits = RemoteLimits { max_examined_paths, ..RemoteLimits::standard() };
        // Paths that are not in the index count as well.
        diff(&CancelToken::new(), &repository(&repo.top), Some(&commit), &limits, |_| false)
    };
    assert!(with(3).is_ok());
    for limit in [0, 1, 2] {
        assert_eq!(with(limit), Err(DiffError::TooLarge { limit }));
    }
}

#[cfg(unix)]
#[test]
fn no_program_of_the_repository_is_run() {
    use std::os::unix::fs::PermissionsExt;
    let repo = Repo::new(&[("a.rs", "1"), (".gitattributes", "*.rs filter=evil diff=evil\n")]);
    let commit = repo.head();
    let evil = repo.top.join(".git/evil");
    let mark = repo.top.join(".git/mark");
    fs::write(&evil, format!("#!/bin/sh\necho ran >> '{}'\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    let evil = evil.to_str().unwrap();
    fs::create_dir_all(repo.top.join(".git/hooks")).unwrap();
    fs::copy(evil, repo.top.join(".git/hooks/post-index-change")).unwrap();
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "core.sshCommand",
        "alias.diff",
    ] {
        repo.git(&["config", setting, evil]);
    }
    repo.git(&["config", "filter.evil.required", "true"]);
    let _ = fs::remove_file(&mark);
    repo.write("a.rs", "22");
    check(&repo, &commit, &["a.rs"], &[]);
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());
    // A name that the command line cannot say is not trusted.
    repo.git(&["config", "filter.ev=il.clean", evil]);
    let limits = RemoteLimits::standard();
    let result =
        diff(&CancelToken::new(), &repository(&repo.top), Some(&commit), &limits, |_| true);
    assert!(reason(result).contains("switched off"));
}

#[test]
fn without_git_or_a_repository_there_is_a_reason() {
    let repo = Repo::new(&[]);
    let cancel = CancelToken::new();
    let missing = Git::new(&cancel, &repo.top, 5_000).with_program("sextant-no-such-git");
    let ours = repository(&repo.top);
    let result = diff_with(&missing, &ours, Some(&repo.head()), 10, |_| true);
    assert!(reason(result).contains("install git"));
    let outside = tempfile::tempdir().unwrap();
    let limits = RemoteLimits::standard();
    let nowhere = repository(outside.path());
    let result = diff(&cancel, &nowhere, Some(&repo.head()), &limits, |_| true);
    assert!(reason(result).contains("not a git repository"));
}

#[cfg(unix)]
#[test]
fn a_git_that_hangs_is_ended() {
    use std::os::unix::fs::PermissionsExt;
    let repo = Repo::new(&[]);
    let program = repo.top.join("slow-git");
    fs::write(&program, "#!/bin/sh\nexec sleep 60\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    let cancel = CancelToken::new();
    let begun = Instant::now();
    let git = Git::new(&cancel, &repo.top, 30).with_program(program);
    assert_eq!(git.run(&["x"], 1), Err(GitError::TimedOut { limit_ms: 30 }));
    let git = Git::new(&cancel, &repo.top, 60_000).with_program(program);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| git.run(&["x"], 1));
        cancel.cancel();
        assert_eq!(run.join().unwrap(), Err(GitError::Cancelled));
    });
    assert!(begun.elapsed() < Duration::from_secs(30));
}
