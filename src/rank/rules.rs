//! The score of each candidate.

use std::collections::HashMap;

use super::{Facts, paths};
use crate::chunk::ChunkKind;
use crate::config::ranking::Constants;
use crate::config::ranking::Weights;
use crate::query::{Query, QueryTerm};
use crate::term::{TermSplitter, fold_identifier, runs};

/// What a name in another spelling counts for: so much less that `FromRequest` beats `from_request` even where the latter
/// stands beside uses of the former. The questions of the evaluation do not tell 0.6 from 0.8.
const OTHER_SPELLING: f32 = 0.6;

/// A candidate's score and its parts.
#[derive(Clone, Debug)]
pub struct Scored {
    /// Higher is better.
    pub score: f32,
    /// By name.
    pub parts: Vec<(&'static str, f64)>,
}

/// Words of names, as the terms of the query that they are.
struct WordMatcher<'q> {
    query: &'q Query,
    splitter: TermSplitter,
    known: HashMap<String, (u64, u32), foldhash::fast::FixedState>,
}

impl<'q> WordMatcher<'q> {
    fn new(query: &'q Query) -> Self {
        Self { query, splitter: TermSplitter::new(), known: HashMap::default() }
    }

    /// The query's terms in `name` (a bit each), and the number of the name's words.
    fn matches(&mut self, name: &str) -> (u64, u32) {
        if let Some(&known) = self.known.get(name) {
            return known;
        }
        let mut matched = 0u64;
        let mut n_words = 0;
        let Self { query, splitter, .. } = self;
        runs(name, |_, run| {
            // Stemming is dear, and no stem begins otherwise than its word.
            let mut likely = Vec::new();
            splitter.split_unstemmed(run, |part| {
                n_words += 1;
                let first = part.chars().next();
                if query.terms.iter().any(|term| term.term.chars().next() == first) {
                    likely.push(part.to_owned());
                }
            });
            for part in likely {
                let stem = splitter.stem(&part);
                let is_stem = |t: &&QueryTerm| t.term == *stem || t.term == part;
                for term in query.terms.iter().filter(|t| !t.is_compound).filter(is_stem) {
                    let at = query.terms.iter().position(|t| std::ptr::eq(t, term));
                    matched |= at.map_or(0, |at| 1 << at);
                }
            }
        });
        self.known.insert(name.to_owned(), (matched, n_words));
        (matched, n_words)
    }

    /// What the terms of `matched` (a bit each) weigh together: their number, where all are words of the question.
    fn weight(&self, matched: u64) -> f32 {
        let is_matched = |at: usize| matched & (1 << at) != 0;
        let terms = self.query.terms.iter().enumerate();
        terms.filter(|&(at, _)| is_matched(at)).map(|(_, term)| term.weight).sum()
    }
}

/// Scores all candidates.
pub fn score(
    query: &Query,
    candidates: &[Facts],
    weights: Weights,
    constants: &Constants,
) -> Vec<Scored> {
    let mut words = WordMatcher::new(query);
    // A word of the question weighs 1; a variation of a keyword makes a match less complete only as far as it counts.
    let of_words = query.terms.iter().filter(|term| !term.is_compound);
    let n_words = of_words.map(|term| term.weight).sum::<f32>().max(1.0);
    let base = |facts: &Facts| weights.text * facts.lexical + weights.vector * facts.semantic;
    let mut file_totals: HashMap<u32, f32> = HashMap::new();
    for facts in candidates {
        *file_totals.entry(facts.file).or_default() += base(facts);
    }
    let best_total = file_totals.values().fold(0f32, |max, &total| max.max(total));
    candidates
        .iter()
        .map(|facts| {
            let mut parts: Vec<(&'static str, f64)> = Vec::with_capacity(8);
            let mut add = |name, value: f32| {
                if value != 0.0 {
                    parts.push((name, f64::from(value)));
                }
                value
            };
            let mut score = add("lexical", weights.text * facts.lexical)
                + add("semantic", weights.vector * facts.semantic);
            score += add("definition", definition(query, facts, &mut words, n_words, constants));
            score += add("path", path_words(facts, &mut words, n_words, constants));
            let total = file_totals.get(&facts.file).copied().unwrap_or_default();
            if best_total > 0.0 {
                score += add("file", constants.agreement * total / best_total);
            }
            let (factor, why) = paths::factor(
                &facts.path,
                facts.language,
                facts.is_generated,
                query.intent,
                constants,
            );
            score *= factor;
            if let Some(why) = why {
                parts.push((why, f64::from(factor)));
            }
            if is_reexport(facts) {
                score *= constants.reexport_factor;
                parts.push(("re-export", f64::from(constants.reexport_factor)));
            }
            Scored { score, parts }
        })
        .collect()
}

/// For defining what is asked for.
fn definition(
    query: &Query,
    facts: &Facts,
    words: &mut WordMatcher<'_>,
    n_words: f32,
    constants: &Constants,
) -> f32 {
    let exact = if query.is_symbol {
        constants.exact_definition
    } else {
        constants.exact_definition_in_question
    };
    let mut best = 0f32;
    for symbol in &facts.symbols {
        let value = if let Some(likeness) = likeness(query, symbol) {
            exact * likeness
        } else {
            let (matched, n_parts) = words.matches(symbol);
            let n_matched = words.weight(matched);
            let of_name = n_matched / (n_parts as f32).max(1.0);
            let of_query = n_matched / n_words;
            constants.definition_words * of_name * of_query.sqrt()
        };
        best = best.max(value);
    }
    best
}

/// How well `symbol` is one of the names asked for: 1 as written, less in other letter case or separators.
fn likeness(query: &Query, symbol: &str) -> Option<f32> {
    if query.identifiers.is_empty() {
        return None;
    }
    let last = symbol.rsplit(['.', ':', '#']).next().filter(|l| !l.is_empty()).unwrap_or(symbol);
    if query.identifiers.iter().any(|identifier| identifier.name == last) {
        return Some(1.0);
    }
    let folded = fold_identifier(last);
    query.identifiers.iter().any(|identifier| identifier.folded == folded).then_some(OTHER_SPELLING)
}

/// For words of the question in the path.
fn path_words(
    facts: &Facts,
    words: &mut WordMatcher<'_>,
    n_words: f32,
    constants: &Constants,
) -> f32 {
    let (folders, name) = facts.path.rsplit_once('/').unwrap_or(("", &facts.path));
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    // A file such as index.js or mod.rs is named by its folder.
    let stem = match stem {
        "index" | "mod" | "__init__" | "init" | "main" | "lib" => {
            folders.rsplit('/').next().filter(|f| !f.is_empty()).unwrap_or(stem)
        }
        _ => stem,
    };
    let (in_stem, n_parts) = words.matches(stem);
    let of_stem = words.weight(in_stem) / (n_parts as f32).max(1.0);
    let of_query = words.weight(in_stem) / n_words;
    let (in_folders, _) = words.matches(folders);
    let in_folders = words.weight(in_folders & !in_stem) / n_words;
    constants.stem_words * of_stem * of_query.sqrt() + constants.folder_words * in_folders
}

/// A chunk of imports and exports in a file whose work that is.
fn is_reexport(facts: &Facts) -> bool {
    let name = facts.path.rsplit('/').next().unwrap_or(&facts.path);
    let is_index = matches!(
        name,
        "__init__.py" | "index.ts" | "index.js" | "index.tsx" | "index.mjs" | "mod.rs" | "lib.rs"
    );
    is_index
        && facts.symbols.is_empty()
        && matches!(facts.kind, ChunkKind::Block | ChunkKind::Export | ChunkKind::FullFile)
}
