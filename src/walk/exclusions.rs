//! Which paths are left out when nobody says anything?
//!
//! In: the name of a file or folder, and its path relative to the root. Out: why it is left out by default, if it
//! is. Names are compared without regard to case. Nothing above the root is looked at: a workspace that lives below
//! a folder named `out` is indexed whole. Pure.

use std::borrow::Cow;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::exclusion_tables as tables;

type Kinds = HashMap<&'static str, &'static str, foldhash::fast::RandomState>;

fn by_name(table: &[(&'static str, &'static [&'static str])]) -> Kinds {
    table.iter().flat_map(|(kind, names)| names.iter().map(move |name| (*name, *kind))).collect()
}

static FOLDERS: LazyLock<Kinds> = LazyLock::new(|| by_name(tables::FOLDERS));
static FILES: LazyLock<Kinds> = LazyLock::new(|| by_name(tables::FILES));
static EXTENSIONS: LazyLock<Kinds> = LazyLock::new(|| by_name(tables::EXTENSIONS));
static SECRET_NAMES: LazyLock<Kinds> = LazyLock::new(|| {
    by_name(&[("file", tables::SECRET_FILES), ("folder", tables::SECRET_FOLDERS)])
});
static SECRET_EXTENSIONS: LazyLock<Kinds> =
    LazyLock::new(|| by_name(&[("key or credential file", tables::SECRET_EXTENSIONS)]));

/// Why a folder or file that nobody searches is left out.
pub(super) fn default_exclusion(name: &str, is_folder: bool) -> Option<String> {
    let lower = lower_case(name);
    if is_folder {
        if let Some(kind) = FOLDERS.get(&*lower) {
            return Some(format!("default exclusion: {kind} folder {name}"));
        }
        let is_dependency = tables::FOLDERS_IN_THIS_CASE.contains(&name);
        let is_archive = tables::FOLDER_SUFFIXES.iter().any(|suffix| lower.ends_with(suffix));
        return (is_dependency || is_archive)
            .then(|| format!("default exclusion: dependency folder {name}"));
    }
    if let Some(kind) = FILES.get(&*lower) {
        return Some(format!("default exclusion: {kind} {name}"));
    }
    if lower.starts_with(".~lock.") && lower.ends_with('#') {
        return Some("default exclusion: lock file of an office program".to_owned());
    }
    if tables::MINIFIED_SUFFIXES.iter().any(|suffix| lower.ends_with(suffix)) {
        return Some("default exclusion: minified file".to_owned());
    }
    let extension = extension(&lower)?;
    let kind = EXTENSIONS.get(extension)?;
    let noun = if kind.ends_with(" file") { "" } else { " file" };
    Some(format!("default exclusion: {kind}{noun} (.{extension})"))
}

/// Whether a rule whose last part is `pattern` speaks of secrets: a plain name, or a pattern that reads like the name of
/// one, such as `*.pem`.
pub(super) fn speaks_of_secrets(pattern: &str) -> bool {
    let is_plain = !pattern.contains(['*', '?', '[']);
    is_plain || secret(pattern, pattern, false).is_some()
}

/// How every reason begins that is about secrets.
pub const SECRETS: &str = "may hold secrets";

/// Why a folder or file is taken to hold secrets. `path`: relative to the root.
pub(super) fn secret(path: &str, name: &str, is_folder: bool) -> Option<String> {
    let lower = lower_case(name);
    let what = if is_folder {
        (SECRET_NAMES.get(&*lower) == Some(&"folder")).then(|| format!("folder {name}"))
    } else {
        secret_file(path, &lower).map(|kind| format!("{kind} {name}"))
    }?;
    Some(format!("{SECRETS}: {what}"))
}

fn secret_file(path: &str, lower_name: &str) -> Option<&'static str> {
    if SECRET_NAMES.get(lower_name) == Some(&"file") {
        return Some("file");
    }
    if lower_name.starts_with(".env.") || lower_name.ends_with(".env") {
        let is_template =
            tables::SECRET_TEMPLATE_SUFFIXES.iter().any(|suffix| lower_name.ends_with(suffix));
        return (!is_template).then_some("environment file");
    }
    if let Some(extension) = extension(lower_name)
        && let Some(kind) = SECRET_EXTENSIONS.get(extension)
    {
        return Some(kind);
    }
    if is_private_key_or_account(lower_name) {
        return Some("key or credential file");
    }
    let lower_path = lower_case(path);
    let ends_path = |end: &&str| {
        lower_path
            .strip_suffix(*end)
            .is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    tables::SECRET_PATHS.iter().any(ends_path).then_some("credential file")
}

/// `id_rsa_work` but not `id_rsa.pub` or `id_rsa.py`; `my-service-account-1.json`; `client_secret_123.json`.
fn is_private_key_or_account(lower_name: &str) -> bool {
    let is_key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"]
        .iter()
        .any(|start| lower_name.starts_with(start));
    if is_key {
        return !lower_name.contains('.');
    }
    lower_name.strip_suffix(".json").is_some_and(|stem| {
        stem.starts_with("client_secret_")
            || stem.contains("service-account-key")
            || stem.contains("service_account_key")
            || stem.contains("serviceaccountkey")
            || stem.contains("firebase-adminsdk")
    })
}

/// The last extension. A name that only starts with a dot has one too: `.log` is a log.
fn extension(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(_, extension)| extension)
}

fn lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        let (path, is_folder) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        let name = path.rsplit('/').next().unwrap();
        let found = secret(path, name, is_folder).or_else(|| default_exclusion(name, is_folder));
        assert_eq!(found.as_deref(), expected, "{path}");
    }

    #[test]
    fn folders() {
        check("a/node_modules/", Some("default exclusion: dependency folder node_modules"));
        check("Node_Modules/", Some("default exclusion: dependency folder Node_Modules"));
        check("DIST/", Some("default exclusion: build output folder DIST"));
        check("Pods/", Some("default exclusion: dependency folder Pods"));
        check("foo.asar/", Some("default exclusion: dependency folder foo.asar"));
        check("pods/", None);
        check(".github/", None);
        check("target/", None);
        check("dist", None);
        check(".ssh/", Some("may hold secrets: folder .ssh"));
    }

    #[test]
    fn files() {
        check("x/Package-Lock.json", Some("default exclusion: lock file Package-Lock.json"));
        check("uv.lock", Some("default exclusion: lock file (.lock)"));
        check(".~lock.plan.ods#", Some("default exclusion: lock file of an office program"));
        check(".DS_Store", Some("default exclusion: system file .DS_Store"));
        check("jquery.MIN.js", Some("default exclusion: minified file"));
        check("a.js.map", Some("default exclusion: source map file (.map)"));
        check("logo.SVG", Some("default exclusion: image file (.svg)"));
        check("Main.class", Some("default exclusion: compiled file (.class)"));
        check("min.js", None);
        check("package.json", None);
        check("Makefile", None);
        check("project.gpr", None);
    }

    #[test]
    fn secrets() {
        for path in [
            ".env",
            ".env.local",
            "deploy/prod.env",
            "certs/server.PEM",
            "id_rsa",
            "id_ed25519_work",
            ".netrc",
            ".npmrc",
            ".git-credentials",
            "home/.aws/credentials",
            ".docker/config.json",
            ".kube/config",
            "x/service-account.json",
            "my-service-account-key-1.json",
            "client_secret_42.json",
            "passwords.kdbx",
            "release.keystore",
        ] {
            let name = path.rsplit('/').next().unwrap();
            assert!(secret(path, name, false).is_some(), "{path}");
        }
        for path in [
            ".env.example",
            ".env.sample",
            ".env.template",
            "id_rsa.pub",
            "src/id_rsa.py",
            "docker/config.json",
            "a.aws/credentials",
            "env.py",
            "keys.rs",
            "environment.ts",
            "secrets.rs",
        ] {
            let name = path.rsplit('/').next().unwrap();
            assert_eq!(secret(path, name, false), None, "{path}");
        }
    }
}
