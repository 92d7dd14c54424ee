//! Measures ranking.
//!
//! ```sh
//! cargo run --release -p sextant-benches --bin ranking -- \
//!     [--semble LABELS CHECKOUTS] [--questions FILE CHECKOUTS] [--strategy hybrid|tfidf|embeddings] \
//!     [--set CONSTANT=VALUE]… [--per-repository] [--worst N] [--tune]
//! ```
//!
//! Prints NDCG@10 over repositories by language and category, and for questions with spans by file and by span.
//! `--tune` improves the constants one by one and says what of the gain carries over to repositories that were not
//! looked at (five-fold, by repository).
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

mod report;
mod settings;
mod tune;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sextant::config::Config;
use sextant::config::ranking::{Constants, STANDARD};
use sextant::engine::{Engine, Hit, Strategy};
use sextant::task::CancelToken;
use sextant_benches::ndcg::{DEPTH, ndcg};
use sextant_benches::questions::{self, Question, Repository};
use sextant_benches::workspace;

/// What to measure.
pub struct Arguments {
    semble: Option<(PathBuf, PathBuf)>,
    spans: Option<(PathBuf, PathBuf)>,
    strategy: Strategy,
    constants: Constants,
    per_repository: bool,
    worst: usize,
    tune: bool,
}

/// Score of one question.
pub struct Score {
    category: String,
    by_file: f64,
    by_span: f64,
}

/// Scores of one repository.
pub struct Scores {
    repository: usize,
    questions: Vec<Score>,
}

impl Scores {
    fn mean(&self, of: impl Fn(&Score) -> f64) -> f64 {
        self.questions.iter().map(of).sum::<f64>() / self.questions.len().max(1) as f64
    }
}

fn main() {
    let arguments = parse();
    let mut repositories = Vec::new();
    if let Some((labels, checkouts)) = &arguments.semble {
        repositories.extend(questions::semble(labels, checkouts));
    }
    if let Some((file, checkouts)) = &arguments.spans {
        repositories.extend(questions::with_spans(file, checkouts));
    }
    repositories.retain(|repository| repository.root.is_dir());
    for repository in &repositories {
        let storage = workspace::storage(&repository.name);
        drop(workspace::open(&repository.root, &storage, Config::standard()));
    }
    if arguments.tune {
        tune::tune(&repositories, &arguments);
        return;
    }
    let all = evaluate(&repositories, &arguments.constants, arguments.strategy);
    report::tables(&repositories, &all, arguments.per_repository);
    if arguments.worst > 0 {
        report::worst(&repositories, &arguments);
    }
}

fn parse() -> Arguments {
    let mut arguments = Arguments {
        semble: None,
        spans: None,
        strategy: Strategy::Hybrid,
        constants: STANDARD,
        per_repository: false,
        worst: 0,
        tune: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("{word} wants a value"));
        match word.as_str() {
            "--semble" => arguments.semble = Some((value().into(), value().into())),
            "--questions" => arguments.spans = Some((value().into(), value().into())),
            "--strategy" => {
                arguments.strategy = match value().as_str() {
                    "hybrid" => Strategy::Hybrid,
                    "tfidf" => Strategy::Tfidf,
                    "embeddings" => Strategy::Embeddings,
                    other => panic!("unknown strategy {other}"),
                }
            }
            "--set" => {
                let setting = value();
                let (name, number) = setting.split_once('=').expect("a setting is CONSTANT=VALUE");
                let number = number.parse().expect("a constant is a number");
                settings::set(&mut arguments.constants, name, number);
            }
            "--per-repository" => arguments.per_repository = true,
            "--worst" => arguments.worst = value().parse().expect("a number of questions"),
            "--tune" => arguments.tune = true,
            other => panic!("unknown argument {other}"),
        }
    }
    arguments
}

/// Opens the stored index of a repository with these constants.
pub fn engine(repository: &Repository, constants: &Constants) -> Engine {
    let mut config = Config { ranking: constants.clone(), ..Config::standard() };
    config.settings.hybrid_search.vector_weight = constants.vector_weight;
    config.settings.hybrid_search.text_weight = 1.0 - constants.vector_weight;
    workspace::open_only(&repository.root, &workspace::storage(&repository.name), config)
}

/// Asks all questions of all repositories, two repositories at a time.
pub fn evaluate(
    repositories: &[Repository],
    constants: &Constants,
    strategy: Strategy,
) -> Vec<Scores> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(repository) = repositories.get(at) else { break };
                    let engine = engine(repository, constants);
                    let questions = repository
                        .questions
                        .iter()
                        .map(|question| {
                            score(repository, question, &ask(&engine, question, strategy))
                        })
                        .collect();
                    let scores = Scores { repository: at, questions };
                    all.lock().expect("no thread panicked").push(scores);
                }
            });
        }
    });
    let mut all = all.into_inner().expect("no thread panicked");
    all.sort_by_key(|scores| scores.repository);
    all
}

/// The hits for a question.
pub fn ask(engine: &Engine, question: &Question, strategy: Strategy) -> Vec<Hit> {
    engine
        .search(&CancelToken::new(), &workspace::request(&question.query, DEPTH, strategy))
        .expect("the index was built")
        .hits
}

/// Scores the hits for a question.
pub fn score(repository: &Repository, question: &Question, hits: &[Hit]) -> Score {
    let rank = |matches: &dyn Fn(&Hit) -> bool| hits.iter().position(matches).map(|at| at + 1);
    let spans: Vec<_> = question
        .targets
        .iter()
        .map(|target| {
            rank(&|hit| repository.matches(&hit.path, (hit.start_line, hit.end_line), target))
        })
        .collect();
    let mut files: Vec<&str> = question.targets.iter().map(|t| t.path.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let by_file: Vec<_> = files.iter().map(|path| rank(&|hit| hit.path == *path)).collect();
    Score { category: question.category.clone(), by_span: ndcg(&spans), by_file: ndcg(&by_file) }
}
