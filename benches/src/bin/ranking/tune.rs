//! Coordinate search over the constants, with an honest account of what carries over.

use sextant::config::ranking::Constants;
use sextant_benches::questions::Repository;

use crate::settings::SETTINGS;
use crate::{Arguments, Scores, evaluate};

const FOLDS: usize = 5;
/// Factors that each constant is tried at.
const STEPS: [f32; 4] = [0.5, 0.75, 1.33, 2.0];
/// A smaller gain is noise.
const LEAST_GAIN: f64 = 0.0004;

/// Mean over the repositories `chosen` picks; both sets of questions count by their repositories.
fn objective(all: &[Scores], chosen: impl Fn(usize) -> bool) -> f64 {
    let values: Vec<f64> = all
        .iter()
        .filter(|scores| chosen(scores.repository))
        .map(|scores| scores.mean(|s| s.by_span))
        .collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Improves on all repositories and, for each fold, on those outside the fold; prints both.
pub fn tune(repositories: &[Repository], arguments: &Arguments) {
    let start = evaluate(repositories, &arguments.constants, arguments.strategy);
    // Every setting is scored once on all repositories; the folds choose among the same runs.
    let mut trials: Vec<(String, Constants, Vec<Scores>)> = Vec::new();
    let mut best = arguments.constants.clone();
    let mut best_scores = objective(&start, |_| true);
    println!("start {best_scores:.4}");
    let mut fold_choices: Vec<Vec<String>> = vec![Vec::new(); FOLDS];
    for setting in SETTINGS {
        let current = (setting.get)(&best);
        let base = evaluate(repositories, &best, arguments.strategy);
        trials.clear();
        for step in STEPS {
            let value = if setting.name.ends_with("_factor")
                || setting.name.ends_with("_weight")
                || setting.name == "b"
            {
                (current * step).min(1.0)
            } else {
                current * step
            };
            let mut constants = best.clone();
            (setting.set)(&mut constants, value);
            let scores = evaluate(repositories, &constants, arguments.strategy);
            trials.push((format!("{}={value:.3}", setting.name), constants, scores));
        }
        for (fold, choices) in fold_choices.iter_mut().enumerate() {
            let inside = |repository: usize| repository % FOLDS == fold;
            let trained = |scores: &[Scores]| objective(scores, |r| !inside(r));
            let choice = trials.iter().max_by(|a, b| trained(&a.2).total_cmp(&trained(&b.2)));
            if let Some((name, _, scores)) =
                choice.filter(|c| trained(&c.2) > trained(&base) + LEAST_GAIN)
            {
                let held_out = objective(scores, inside) - objective(&base, inside);
                choices.push(format!("{name} held out {held_out:+.4}"));
            }
        }
        let choice = trials
            .iter()
            .max_by(|a, b| objective(&a.2, |_| true).total_cmp(&objective(&b.2, |_| true)));
        let list: Vec<String> =
            trials.iter().map(|t| format!("{} {:.4}", t.0, objective(&t.2, |_| true))).collect();
        println!("{} at {current:.3} {best_scores:.4}: {}", setting.name, list.join("  "));
        if let Some((name, constants, scores)) = choice {
            let value = objective(scores, |_| true);
            if value > best_scores + LEAST_GAIN {
                println!("  -> {name}");
                best = constants.clone();
                best_scores = value;
            }
        }
    }
    println!("end {best_scores:.4}");
    println!("{best:#?}");
    for (fold, choices) in fold_choices.iter().enumerate() {
        println!("fold {fold}: {}", choices.join("; "));
    }
}
