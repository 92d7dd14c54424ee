//! The two sets of questions with their right answers.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Where an answer is.
#[derive(Clone, Debug)]
pub struct Target {
    /// File, as the label spells it.
    pub path: String,
    /// 1-based lines, if the label has any.
    pub lines: Option<(u64, u64)>,
}

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// In the asker's words.
    pub query: String,
    /// Kind of question, for the table.
    pub category: String,
    /// Right answers.
    pub targets: Vec<Target>,
}

/// A repository and its questions.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Name, for the table.
    pub name: String,
    /// Language, for the table.
    pub language: String,
    /// Folder to index.
    pub root: std::path::PathBuf,
    /// The benchmark's sub-folder, which labels may or may not spell out.
    pub prefix: String,
    /// Whether a result counts once its path ends like the label's (semble's own rule).
    pub by_suffix: bool,
    /// The questions.
    pub questions: Vec<Question>,
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{} is not JSON: {error}", path.display()))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// The semble half: `labels` holds manifest.json and annotations/, `checkouts` a folder for each repository.
#[must_use]
pub fn semble(labels: &Path, checkouts: &Path) -> Vec<Repository> {
    let manifest = read(&labels.join("manifest.json"));
    manifest
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| {
            let name = text(entry, "name");
            let prefix = text(entry, "benchmark_root");
            let dropped: Vec<u64> = entry["dropped_queries"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_u64)
                .collect();
            let labels = read(&labels.join(format!("annotations/{name}.json")));
            let questions = (0u64..)
                .zip(labels.as_array().into_iter().flatten())
                .filter(|(at, _)| !dropped.contains(at))
                .map(|(_, label)| semble_question(label))
                .collect();
            Repository {
                root: checkouts.join(&name).join(&prefix),
                language: text(entry, "language"),
                name,
                prefix,
                by_suffix: true,
                questions,
            }
        })
        .collect()
}

fn semble_question(label: &Value) -> Question {
    let query = text(label, "query");
    let inferred = if !query.trim().contains(' ') {
        "symbol"
    } else if query.to_lowercase().starts_with("how ") {
        "architecture"
    } else {
        "semantic"
    };
    let targets = ["relevant", "secondary"]
        .iter()
        .flat_map(|key| label[key].as_array().into_iter().flatten())
        .map(|target| match target.as_str() {
            Some(path) => Target { path: path.to_owned(), lines: None },
            None => Target {
                path: text(target, "path"),
                lines: target["start_line"].as_u64().zip(target["end_line"].as_u64()),
            },
        })
        .collect();
    let category = label["category"].as_str().unwrap_or(inferred).to_owned();
    Question { query, category, targets }
}

/// questions.jsonl: `checkouts` holds a folder `<owner>+<name>` for each repository. Targets have lines.
#[must_use]
pub fn with_spans(file: &Path, checkouts: &Path) -> Vec<Repository> {
    let lines = fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
    let mut repositories: Vec<Repository> = Vec::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).expect("a line is a JSON object");
        let name = text(&value, "repo");
        let question = Question {
            query: text(&value, "query"),
            category: text(&value, "kind"),
            targets: value["expected"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|target| Target {
                    path: text(target, "path"),
                    lines: target["startLine"].as_u64().zip(target["endLine"].as_u64()),
                })
                .collect(),
        };
        match repositories.iter_mut().find(|repository| repository.name == name) {
            Some(repository) => repository.questions.push(question),
            None => repositories.push(Repository {
                root: checkouts.join(name.replace('/', "+")),
                language: String::new(),
                name,
                prefix: String::new(),
                by_suffix: false,
                questions: vec![question],
            }),
        }
    }
    repositories
}

impl Repository {
    /// Whether a result at `path` with these lines is `target`.
    #[must_use]
    pub fn matches(&self, path: &str, lines: (u32, u32), target: &Target) -> bool {
        let path_fits = if self.by_suffix {
            let prefix = format!("{}/", self.prefix.trim_matches('/'));
            let label = target.path.as_str();
            let ends = |long: &str, short: &str| long.ends_with(&format!("/{short}"));
            path == label
                || ends(path, label)
                || ends(label, path)
                || label.strip_prefix(&prefix) == Some(path)
        } else {
            path == target.path
        };
        let lines_fit = target
            .lines
            .is_none_or(|(start, end)| u64::from(lines.0) <= end && u64::from(lines.1) >= start);
        path_fits && lines_fit
    }
}
