//! Which hits say something that those above them do not?
//!
//! Maximal marginal relevance (Carbonell & Goldstein, SIGIR 1998): takes, again and again, the hit with the greatest
//! λ · relevance − (1 − λ) · likeness to what was taken. In: scores and texts. Out: an order of their positions.
//!
//! As CodeBuddy documents it: relevance is the score scaled so that the least is 0 and the best 1 (all equal: 1); likeness
//! is Jaccard's, of the sets of words; a word is a run of letters, marks, digits and `_` of the text in NFC and lower case.
//! Two texts without words are alike (1), one without is like none (0). Equal values go by the higher score, then by
//! position. Off unless asked for. Pure; never fails; time is in O(hits × taken × words).

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A hit that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// Its position in the input.
    pub at: usize,
    /// Relevance, 0 to 1: its scaled score.
    pub relevance: f64,
    /// How like it is to the likest of those taken before, 0 to 1.
    pub likeness: f64,
}

/// The best `limit` of `hits` (score, text), best first. `lambda` is taken between 0, which looks at likeness alone, and 1,
/// which looks at scores alone; no number is 1.
#[must_use]
pub fn diversify(hits: &[(f32, &str)], lambda: f32, limit: usize) -> Vec<Taken> {
    let lambda = if lambda.is_nan() { 1.0 } else { f64::from(lambda.clamp(0.0, 1.0)) };
    let scores: Vec<f64> = hits.iter().map(|&(score, _)| finite(score)).collect();
    let relevances = scaled(&scores);
    let mut numbers = HashMap::new();
    let sets: Vec<Vec<u32>> = if lambda < 1.0 {
        hits.iter().map(|&(_, text)| word_set(text, &mut numbers)).collect()
    } else {
        vec![Vec::new(); hits.len()]
    };
    let value = |at: usize, likeness: f64| lambda * relevances[at] - (1.0 - lambda) * likeness;
    // Position and greatest likeness to what was taken.
    let mut waiting: Vec<(usize, f64)> = (0..hits.len()).map(|at| (at, 0.0)).collect();
    let mut taken: Vec<Taken> = Vec::with_capacity(limit.min(hits.len()));
    while taken.len() < limit {
        let best = (0..waiting.len()).max_by(|&a, &b| {
            let ((at_a, like_a), (at_b, like_b)) = (waiting[a], waiting[b]);
            value(at_a, like_a)
                .total_cmp(&value(at_b, like_b))
                .then_with(|| scores[at_a].total_cmp(&scores[at_b]))
                .then_with(|| at_b.cmp(&at_a))
        });
        let Some(best) = best else { break };
        let (at, likeness) = waiting.swap_remove(best);
        taken.push(Taken { at, relevance: relevances[at], likeness });
        if lambda < 1.0 {
            for (other, likeness) in &mut waiting {
                *likeness = likeness.max(jaccard(&sets[*other], &sets[at]));
            }
        }
    }
    taken
}

/// Scores are compared as they are; what is no number is the least, what is infinite the greatest.
fn finite(score: f32) -> f64 {
    let score = if score.is_nan() { f32::MIN } else { score.clamp(f32::MIN, f32::MAX) };
    // −0 and 0 are one score.
    f64::from(score) + 0.0
}

fn scaled(scores: &[f64]) -> Vec<f64> {
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let range = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
    let scale = |&score: &f64| if range > 0.0 { (score - least) / range } else { 1.0 };
    scores.iter().map(scale).collect()
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = String> {
    let folded = text.nfc().collect::<String>().to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || is_combining_mark(c);
    let words: Vec<String> =
        folded.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    words.into_iter()
}

/// The words as sorted numbers, each once; equal words of all texts are one number.
fn word_set(text: &str, numbers: &mut HashMap<String, u32>) -> Vec<u32> {
    let mut set: Vec<u32> = words(text)
        .map(|word| {
            let next = numbers.len() as u32;
            *numbers.entry(word).or_insert(next)
        })
        .collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// Shared words by all words; both sets sorted.
fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    let (mut at_a, mut at_b, mut n_shared) = (0, 0, 0usize);
    while at_a < a.len() && at_b < b.len() {
        match a[at_a].cmp(&b[at_b]) {
            std::cmp::Ordering::Less => at_a += 1,
            std::cmp::Ordering::Greater => at_b += 1,
            std::cmp::Ordering::Equal => {
                n_shared += 1;
                at_a += 1;
                at_b += 1;
            }
        }
    }
    n_shared as f64 / (a.len() + b.len() - n_shared) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn likeness(a: &str, b: &str) -> f64 {
        let mut numbers = HashMap::new();
        jaccard(&word_set(a, &mut numbers), &word_set(b, &mut numbers))
    }

    #[test]
    fn likeness_is_that_of_sets_of_words() {
        let cases = [
            ("", "", 1.0),
            ("", "a", 0.0),
            ("+-*", "  ", 1.0),
            ("a b", "b c", 1.0 / 3.0),
            ("a a a b", "A, B!", 1.0),
            ("foo_bar", "foo bar", 0.0),
            ("x1", "X1", 1.0),
            ("Caf\u{e9}", "cafe\u{301}", 1.0),
            ("ключ", "КЛЮЧ", 1.0),
            ("q\u{323}", "q", 0.0),
        ];
        for (a, b, expect) in cases {
            assert!((likeness(a, b) - expect).abs() < 1e-12, "{a:?} {b:?}");
        }
    }

    #[track_caller]
    fn check(hits: &[(f32, &str)], lambda: f32, limit: usize, expect: &[usize]) {
        let found: Vec<usize> = diversify(hits, lambda, limit).iter().map(|t| t.at).collect();
        assert_eq!(found, expect, "lambda {lambda}");
    }

    #[test]
    fn what_was_said_before_stands_back() {
        let hits = [(1.0, "read the file"), (0.9, "read the file"), (0.5, "send mail")];
        check(&hits, 0.7, 3, &[0, 1, 2]);
        check(&hits, 0.5, 3, &[0, 2, 1]);
        check(&hits, 1.0, 3, &[0, 1, 2]);
        check(&hits, 7.0, 2, &[0, 1]);
        check(&hits, f32::NAN, 3, &[0, 1, 2]);
        check(&hits, -1.0, 3, &[0, 2, 1]);
        check(&hits, 0.5, 0, &[]);
        check(&[], 0.5, 3, &[]);
        check(&[(1.0, "a"), (1.0, "a"), (1.0, "b")], 0.5, 9, &[0, 2, 1]);
        check(&[(0.2, "a"), (f32::NAN, "b"), (f32::INFINITY, "c")], 1.0, 9, &[2, 0, 1]);
    }

    fn naive(hits: &[(f32, String)], lambda: f32, limit: usize) -> Vec<usize> {
        let lambda = f64::from(lambda);
        let set = |text: &str| -> HashSet<String> { words(text).collect() };
        let jaccard = |a: &str, b: &str| {
            let (a, b) = (set(a), set(b));
            match (a.is_empty(), b.is_empty()) {
                (true, true) => 1.0,
                (true, false) | (false, true) => 0.0,
                _ => a.intersection(&b).count() as f64 / a.union(&b).count() as f64,
            }
        };
        let score = |at: usize| f64::from(hits[at].0);
        let least = hits.iter().map(|hit| f64::from(hit.0)).fold(f64::INFINITY, f64::min);
        let most = hits.iter().map(|hit| f64::from(hit.0)).fold(f64::NEG_INFINITY, f64::max);
        let relevance = |at: usize| {
            if most > least { (score(at) - least) / (most - least) } else { 1.0 }
        };
        let mut taken: Vec<usize> = Vec::new();
        while taken.len() < limit.min(hits.len()) {
            let mut best: Option<(f64, usize)> = None;
            for at in (0..hits.len()).filter(|at| !taken.contains(at)) {
                let likest =
                    taken.iter().map(|&t| jaccard(&hits[at].1, &hits[t].1)).fold(0.0, f64::max);
                let value = lambda * relevance(at) - (1.0 - lambda) * likest;
                let is_better = best.is_none_or(|(known, of)| {
                    value > known || (value == known && score(at) > score(of))
                });
                if is_better {
                    best = Some((value, at));
                }
            }
            taken.extend(best.map(|(_, at)| at));
        }
        taken
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_definition(
            hits in prop::collection::vec((0u8..5, "[abAB_é ,]{0,8}"), 0..12),
            lambda in 0u8..=4,
            limit in 0usize..14,
        ) {
            let hits: Vec<(f32, String)> =
                hits.into_iter().map(|(score, text)| (f32::from(score) / 4.0, text)).collect();
            let lambda = f32::from(lambda) / 4.0;
            let borrowed: Vec<(f32, &str)> = hits.iter().map(|(s, t)| (*s, t.as_str())).collect();
            let found: Vec<usize> =
                diversify(&borrowed, lambda, limit).iter().map(|taken| taken.at).collect();
            prop_assert_eq!(&found, &naive(&hits, lambda, limit));
            if lambda == 1.0 {
                let mut plain: Vec<usize> = (0..hits.len()).collect();
                plain.sort_by(|&a, &b| hits[b].0.total_cmp(&hits[a].0));
                plain.truncate(limit);
                prop_assert_eq!(found, plain);
            }
        }
    }
}
