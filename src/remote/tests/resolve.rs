//! Which remote is taken, and what its address says.

use super::super::resolve::{parse, resolve};
use super::super::types::Resolution;
use super::repo::Repo;
use crate::task::CancelToken;

#[track_caller]
fn check(address: &str, url: &str, host: &str, owner: &str, name: &str) {
    let found = parse(address).unwrap();
    assert_eq!(
        (found.url.as_str(), found.host.as_str(), found.owner.as_str(), found.name.as_str()),
        (url, host, owner, name)
    );
}

#[test]
fn addresses_are_read_without_users_and_passwords() {
    let https = "https://git.example/acme/app.git";
    check(https, https, "git.example", "acme", "app");
    check("https://user:secret@Git.example/acme/app.git", https, "git.example", "acme", "app");
    check("git@git.example:acme/app.git", "git.example:acme/app.git", "git.example", "acme", "app");
    check(
        "ssh://git@git.example:2222/group/sub/app",
        "ssh://git.example:2222/group/sub/app",
        "git.example:2222",
        "group/sub",
        "app",
    );
    check(
        "https://git.example/acme/app/?token=secret",
        "https://git.example/acme/app",
        "git.example",
        "acme",
        "app",
    );
    for none in [
        "",
        "/srv/app.git",
        "../app",
        "C:\\app",
        "C:/app/x",
        "file:///srv/app.git",
        "ext::sh -c x/y",
        "https://git.example",
        "https://git.example/app",
        "https:///acme/app",
        "./a:b/c",
    ] {
        assert_eq!(parse(none), None, "{none}");
    }
}

#[track_caller]
fn key(repo: &Repo) -> String {
    match resolve(&CancelToken::new(), &repo.top, 10_000) {
        Resolution::Resolved(repository) => repository.key(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_remote_of_the_branch_is_first_then_origin() {
    let repo = Repo::new(&[("sub/a.rs", "1")]);
    let unresolvable = |reason: &str| Resolution::Unresolvable { reason: reason.into() };
    let found = resolve(&CancelToken::new(), &repo.top, 10_000);
    assert_eq!(found, unresolvable("it has no remote"));
    repo.git(&["remote", "add", "disk", "/srv/app.git"]);
    let found = resolve(&CancelToken::new(), &repo.top, 10_000);
    assert_eq!(found, unresolvable("no remote leads to a server"));
    repo.git(&["remote", "add", "fork", "https://git.example/me/app.git"]);
    assert_eq!(key(&repo), "git.example/me/app");
    repo.git(&["remote", "add", "origin", "https://git.example/Acme/App.git"]);
    assert_eq!(key(&repo), "git.example/acme/app");
    repo.git(&["config", "branch.main.remote", "fork"]);
    assert_eq!(key(&repo), "git.example/me/app");
    match resolve(&CancelToken::new(), &repo.top.join("sub"), 10_000) {
        Resolution::Resolved(repository) => {
            assert_eq!(repository.prefix, "sub/");
            assert_eq!(repository.top, repo.top);
            assert_eq!(repository.in_folder("sub/a.rs"), Some("a.rs"));
            assert_eq!(repository.in_folder("other/a.rs"), None);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_without_repository_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let found = resolve(&CancelToken::new(), folder.path(), 10_000);
    assert_eq!(found, Resolution::NoRepository);
    let cancelled = CancelToken::new();
    cancelled.cancel();
    assert_eq!(resolve(&cancelled, folder.path(), 10_000), Resolution::Checking);
}
