//! Which of git's settings are in force?
//!
//! In: configuration files, in git's order of increasing precedence. Out: the few values that decide which files
//! are ignored. `include.path` is followed; conditional includes are followed for `gitdir:` conditions without
//! wildcards. A line that git would refuse ends the reading of that file. Included files are bounded in depth and in
//! number.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::walk::regular;

/// How deep files may include files; git allows as many.
const MAX_INCLUDE_DEPTH: usize = 10;

/// How many included files are read in all. git sets no bound; files that include each other ten deep would come to
/// any number.
const MAX_INCLUDED_FILES: usize = 64;

/// Where git's settings come from, outside a repository. Resolved once, passed in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitEnvironment {
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Configuration files in the order they are read; later ones win. Those that do not exist are passed over.
    pub config_files: Vec<PathBuf>,
    /// The ignore file that is used when `core.excludesFile` is not set.
    pub default_excludes_file: Option<PathBuf>,
    /// Settings that win over all files, as dotted key and value.
    pub overrides: Vec<(String, String)>,
}

impl GitEnvironment {
    /// Reads the environment of this process, as git does.
    #[must_use]
    pub fn from_process() -> Self {
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self::from_variables(path)
    }

    /// As [`GitEnvironment::from_process`], of the given environment.
    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
        let xdg = variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| home.as_ref().map(|home| home.join(".config")))
            .map(|folder| folder.join("git"));
        let mut config_files = Vec::new();
        let no_system = variable("GIT_CONFIG_NOSYSTEM")
            .is_some_and(|value| parse_bool(Some(&value.to_string_lossy())));
        if !no_system {
            config_files.extend(match variable("GIT_CONFIG_SYSTEM") {
                Some(file) => vec![PathBuf::from(file)],
                None => system_config_files(&variable),
            });
        }
        match variable("GIT_CONFIG_GLOBAL") {
            Some(file) => config_files.push(file.into()),
            None => {
                config_files.extend(xdg.iter().map(|folder| folder.join("config")));
                config_files.extend(home.iter().map(|home| home.join(".gitconfig")));
            }
        }
        let count: usize = variable("GIT_CONFIG_COUNT")
            .and_then(|count| count.to_str().and_then(|count| count.parse().ok()))
            .unwrap_or(0);
        let overrides = (0..count.min(1000))
            .filter_map(|nth| {
                let text = |name: &str| Some(variable(name)?.to_string_lossy().into_owned());
                let key = text(&format!("GIT_CONFIG_KEY_{nth}"))?;
                Some((key, text(&format!("GIT_CONFIG_VALUE_{nth}")).unwrap_or_default()))
            })
            .collect();
        let default_excludes_file = xdg.map(|folder| folder.join("ignore"));
        Self { home, config_files, default_excludes_file, overrides }
    }
}

fn system_config_files(variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    if cfg!(windows) {
        let programs = variable("ProgramFiles").map(PathBuf::from);
        programs.map(|folder| folder.join("Git/etc/gitconfig")).into_iter().collect()
    } else {
        // git is built with one of these; a machine seldom has more than one.
        ["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"]
            .map(PathBuf::from)
            .to_vec()
    }
}

/// The settings that bear on ignore rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// `core.ignoreCase`.
    pub(super) ignore_case: bool,
    /// `core.bare`.
    pub(super) bare: bool,
    /// `core.excludesFile`, or else the default one.
    pub(super) excludes_file: Option<PathBuf>,
    /// `core.worktree`, counted from git's folder.
    pub(super) worktree: Option<PathBuf>,
    /// `extensions.worktreeConfig`.
    worktree_config: bool,
    /// `extensions.objectFormat` is `sha256`.
    pub(super) sha256: bool,
}

impl Settings {
    /// The settings outside any repository.
    pub(super) fn outside(environment: &GitEnvironment) -> Self {
        Self::read(environment, None)
    }

    /// The settings of the repository with this git folder and this common folder.
    pub(super) fn of(environment: &GitEnvironment, git_dir: &Path, common_dir: &Path) -> Self {
        Self::read(environment, Some((git_dir, common_dir)))
    }

    fn read(environment: &GitEnvironment, repository: Option<(&Path, &Path)>) -> Self {
        let mut settings =
            Self { excludes_file: environment.default_excludes_file.clone(), ..Self::default() };
        let reader = Reader {
            home: environment.home.as_deref(),
            git_dir: repository.map(|(git_dir, _)| git_dir),
            n_included: Cell::new(0),
        };
        for file in &environment.config_files {
            reader.read_file(file, &mut settings, 0);
        }
        if let Some((git_dir, common_dir)) = repository {
            reader.read_file(&common_dir.join("config"), &mut settings, 0);
            if settings.worktree_config {
                reader.read_file(&git_dir.join("config.worktree"), &mut settings, 0);
            }
        }
        for (key, value) in &environment.overrides {
            reader.apply(&key.to_ascii_lowercase(), Some(value), &mut settings);
        }
        settings
    }
}

struct Reader<'a> {
    home: Option<&'a Path>,
    git_dir: Option<&'a Path>,
    n_included: Cell<usize>,
}

impl Reader<'_> {
    fn read_file(&self, file: &Path, settings: &mut Settings, depth: usize) {
        let Some(content) = regular::read(file, regular::MAX_SETTINGS_BYTES) else { return };
        for (key, value) in parse(&String::from_utf8_lossy(&content)) {
            let is_include = key == "include.path"
                || key
                    .strip_prefix("includeif.")
                    .and_then(|key| key.strip_suffix(".path"))
                    .is_some_and(|condition| self.holds(condition, file));
            if !is_include {
                self.apply(&key, value.as_deref(), settings);
            } else if let Some(included) = value.filter(|_| depth < MAX_INCLUDE_DEPTH)
                && self.n_included.get() < MAX_INCLUDED_FILES
            {
                self.n_included.set(self.n_included.get() + 1);
                let folder = file.parent().unwrap_or(Path::new(""));
                self.read_file(&folder.join(self.expand_home(&included)), settings, depth + 1);
            }
        }
    }

    /// Whether the condition of an `includeIf` holds.
    fn holds(&self, condition: &str, file: &Path) -> bool {
        let (pattern, fold_case) = match condition.split_once(':') {
            Some(("gitdir", pattern)) => (pattern, false),
            Some(("gitdir/i", pattern)) => (pattern, true),
            _ => return false,
        };
        let Some(git_dir) = self.git_dir else { return false };
        let mut pattern = match pattern.strip_prefix("./") {
            Some(rest) => file.parent().unwrap_or(Path::new("")).join(rest),
            None => self.expand_home(pattern),
        }
        .to_string_lossy()
        .into_owned();
        if !pattern.starts_with('/') && !Path::new(&pattern).is_absolute() {
            pattern.insert_str(0, "**/");
        }
        if pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let glob = super::super::glob::Glob::new(pattern.as_bytes(), fold_case);
        glob.matches(git_dir.to_string_lossy().as_bytes())
    }

    fn expand_home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        }
    }

    fn apply(&self, key: &str, value: Option<&str>, settings: &mut Settings) {
        match key {
            "core.ignorecase" => settings.ignore_case = parse_bool(value),
            "core.bare" => settings.bare = parse_bool(value),
            "core.excludesfile" => {
                settings.excludes_file =
                    value.filter(|value| !value.is_empty()).map(|value| self.expand_home(value));
            }
            "core.worktree" => {
                settings.worktree =
                    value.filter(|value| !value.is_empty()).map(|value| self.expand_home(value));
            }
            "extensions.worktreeconfig" => settings.worktree_config = parse_bool(value),
            "extensions.objectformat" => {
                settings.sha256 = value.is_some_and(|value| value.eq_ignore_ascii_case("sha256"));
            }
            _ => {}
        }
    }
}

/// git's idea of a truth value; a key without a value is true.
fn parse_bool(value: Option<&str>) -> bool {
    let Some(value) = value else { return true };
    ["true", "yes", "on"].iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.parse::<i64>().is_ok_and(|number| number != 0)
}

/// The settings of a file in order, as dotted keys (in lower case but for the subsection) and values.
fn parse(text: &str) -> Vec<(String, Option<String>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut letters = text.chars().peekable();
    let mut section = String::new();
    let mut found = Vec::new();
    while let Some(letter) = letters.next() {
        match letter {
            '#' | ';' => while letters.next_if(|&letter| letter != '\n').is_some() {},
            '[' => match parse_section(&mut letters) {
                Some(name) => section = name,
                None => return found,
            },
            _ if letter.is_ascii_whitespace() => {}
            _ if letter.is_ascii_alphabetic() && !section.is_empty() => {
                let mut key = format!("{section}.{}", letter.to_ascii_lowercase());
                while let Some(letter) =
                    letters.next_if(|&letter| letter.is_ascii_alphanumeric() || letter == '-')
                {
                    key.push(letter.to_ascii_lowercase());
                }
                while letters.next_if(|&letter| letter == ' ' || letter == '\t').is_some() {}
                match letters.next() {
                    None | Some('\n') => found.push((key, None)),
                    Some('=') => match parse_value(&mut letters) {
                        Some(value) => found.push((key, Some(value))),
                        None => return found,
                    },
                    Some(_) => return found,
                }
            }
            _ => return found,
        }
    }
    found
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The rest of a section's header, after the bracket.
fn parse_section(letters: &mut Letters<'_>) -> Option<String> {
    let mut name = String::new();
    while let Some(letter) =
        letters.next_if(|&letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.'))
    {
        name.push(letter.to_ascii_lowercase());
    }
    while letters.next_if(|&letter| letter == ' ' || letter == '\t').is_some() {}
    if letters.next_if_eq(&'"').is_some() {
        name.push('.');
        loop {
            match letters.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => name.push(letters.next()?),
                letter => name.push(letter),
            }
        }
    }
    (letters.next()? == ']').then_some(name)
}

/// The rest of a line, after the equals sign.
fn parse_value(letters: &mut Letters<'_>) -> Option<String> {
    let mut value = String::new();
    let mut quoted = false;
    // White space at the end does not count, unless it was quoted.
    let mut kept_bytes = 0;
    loop {
        match letters.next() {
            None | Some('\n') if quoted => return None,
            None | Some('\n') => break,
            Some('"') => {
                quoted = !quoted;
                kept_bytes = value.len();
            }
            Some('\\') => {
                match letters.next()? {
                    '\n' => continue,
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    letter @ ('\\' | '"') => value.push(letter),
                    _ => return None,
                }
                kept_bytes = value.len();
            }
            Some('#' | ';') if !quoted => {
                while letters.next_if(|&letter| letter != '\n').is_some() {}
            }
            Some(letter) if letter.is_ascii_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(letter);
                }
            }
            Some(letter) => {
                value.push(letter);
                kept_bytes = value.len();
            }
        }
    }
    value.truncate(kept_bytes);
    Some(value)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Option<&str>)]) {
        let found = parse(text);
        let found: Vec<_> = found.iter().map(|(k, v)| (k.as_str(), v.as_deref())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sections_keys_and_values() {
        check(
            "[core]\n\tignoreCase = true ; why\n  bare\n[Remote \"A.b\"] url= x\\ty\n# c\n",
            &[
                ("core.ignorecase", Some("true")),
                ("core.bare", None),
                ("remote.A.b.url", Some("x\ty")),
            ],
        );
        check(
            "[a]\nb = \"one # two \" three  \nc = x\\\n  y\r\n",
            &[("a.b", Some("one # two  three")), ("a.c", Some("x  y"))],
        );
        check("[a]\nb = 1\n!\nc = 2", &[("a.b", Some("1"))]);
        check("[a\nb = 1", &[]);
    }

    #[test]
    fn truth_values() {
        for (value, expected) in [
            (None, true),
            (Some("TRUE"), true),
            (Some("on"), true),
            (Some("1"), true),
            (Some(""), false),
            (Some("no"), false),
            (Some("0"), false),
        ] {
            assert_eq!(parse_bool(value), expected, "{value:?}");
        }
    }

    #[test]
    fn later_files_and_includes_win() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let first = write(
            "first",
            "[core]\nexcludesFile = ~/mine\n[include]\npath = more\n[includeIf \"gitdir:/w/\"]\npath = work\n",
        );
        write("more", "[core]\nignoreCase = yes\n");
        write("work", "[core]\nexcludesFile = /work-ignore\n");
        let mut environment = GitEnvironment {
            home: Some("/home/u".into()),
            config_files: vec![first],
            ..GitEnvironment::default()
        };
        let settings = Settings::outside(&environment);
        assert_eq!(settings.excludes_file, Some("/home/u/mine".into()));
        assert!(settings.ignore_case);
        let at_work = Settings::of(&environment, Path::new("/w/a/.git"), Path::new("/w/a/.git"));
        assert_eq!(at_work.excludes_file, Some("/work-ignore".into()));
        environment.overrides.push(("core.ignoreCase".into(), "false".into()));
        assert!(!Settings::outside(&environment).ignore_case);
    }

    #[test]
    fn files_that_include_each_other_end_soon() {
        let folder = tempfile::tempdir().unwrap();
        let fan_out: String = (0..50).map(|nth| format!("[include]\npath = f{nth}\n")).collect();
        for nth in 0..50 {
            fs::write(folder.path().join(format!("f{nth}")), &fan_out).unwrap();
        }
        let last = folder.path().join("last");
        fs::write(&last, "[core]\nignoreCase = yes\n").unwrap();
        let environment = GitEnvironment {
            config_files: vec![folder.path().join("f0"), last],
            ..GitEnvironment::default()
        };
        // A file that is not included counts whatever came before it.
        assert!(Settings::outside(&environment).ignore_case);
    }

    #[test]
    fn the_environment_names_the_files() {
        let environment = |pairs: &[(&str, &str)]| {
            GitEnvironment::from_variables(|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            })
        };
        let plain = environment(&[("HOME", "/h"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        assert_eq!(
            plain.config_files,
            [Path::new("/h/.config/git/config"), "/h/.gitconfig".as_ref()]
        );
        assert_eq!(plain.default_excludes_file, Some("/h/.config/git/ignore".into()));
        let moved = environment(&[
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "/x"),
            ("GIT_CONFIG_SYSTEM", "/s"),
            ("GIT_CONFIG_GLOBAL", "/g"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.bare"),
            ("GIT_CONFIG_VALUE_0", "1"),
        ]);
        assert_eq!(moved.config_files, [Path::new("/s"), "/g".as_ref()]);
        assert_eq!(moved.default_excludes_file, Some("/x/git/ignore".into()));
        assert_eq!(moved.overrides, [("core.bare".to_owned(), "1".to_owned())]);
    }
}
