//! The tables.

use std::collections::BTreeMap;

use sextant_benches::questions::Repository;

use crate::{Arguments, Score, Scores, ask, engine, score};

/// Mean over repositories, by language, by category; the two sets of questions apart.
pub fn tables(repositories: &[Repository], all: &[Scores], per_repository: bool) {
    for (title, by_suffix) in [("semble half", true), ("questions with spans", false)] {
        let chosen: Vec<&Scores> =
            all.iter().filter(|s| repositories[s.repository].by_suffix == by_suffix).collect();
        if chosen.is_empty() {
            continue;
        }
        println!("## {title}");
        let mean = |of: &dyn Fn(&Score) -> f64| {
            chosen.iter().map(|s| s.mean(of)).sum::<f64>() / chosen.len() as f64
        };
        println!("NDCG@10 {:.4}   by file alone {:.4}", mean(&|s| s.by_span), mean(&|s| s.by_file));
        let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for scores in &chosen {
            let repository = &repositories[scores.repository];
            let mut by_category: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for question in &scores.questions {
                by_category.entry(&question.category).or_default().push(question.by_span);
            }
            for (category, values) in by_category {
                groups.entry(format!("  {category}")).or_default().push(average(&values));
            }
            let own = scores.mean(|s| s.by_span);
            if by_suffix {
                groups.entry(format!(" {}", repository.language)).or_default().push(own);
            }
            if per_repository {
                groups.entry(repository.name.clone()).or_default().push(own);
            }
        }
        for (name, values) in groups {
            println!("{name:<28} {:.3}  ({})", average(&values), values.len());
        }
    }
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The questions with the lowest scores, with what stood first.
pub fn worst(repositories: &[Repository], arguments: &Arguments) {
    let mut list = Vec::new();
    for repository in repositories {
        let engine = engine(repository, &arguments.constants);
        for question in &repository.questions {
            let hits = ask(&engine, question, arguments.strategy);
            let value = score(repository, question, &hits).by_span;
            list.push((value, repository, question, hits));
        }
    }
    list.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (value, repository, question, hits) in list.into_iter().take(arguments.worst) {
        println!("{value:.3} {}: {}", repository.name, question.query);
        for target in &question.targets {
            println!("      wanted {} {:?}", target.path, target.lines);
        }
        for hit in hits.iter().take(3) {
            let name = hit.name.as_deref().unwrap_or("");
            println!(
                "      {:.3} {}:{}-{} {name}",
                hit.score, hit.path, hit.start_line, hit.end_line
            );
        }
    }
}
