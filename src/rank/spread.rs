//! Which results are too far below the best to be shown?
//!
//! In: scores, higher is better, in any order. Out: the positions of those that stay, in their order. A share of a best
//! score of 0 or less says nothing, so nothing is cut there. Pure; never fails.

/// How far below the best a result of terms may lie, as a share of the best: 0.75 keeps what has a quarter of it.
/// Source: VS Code Copilot Chat 0.34 (`maxSpread`); unmeasured.
pub const MAX_SPREAD: f32 = 0.75;

/// What share of the best score a result needs in the final list.
/// Source: VS Code Copilot Chat 0.34, after its last ranking; unmeasured.
pub const FINAL_SHARE: f32 = 0.65;

/// Keeps what scores at least `top × (1 − spread)`. `spread` is taken between 0, which keeps the best alone, and 1, which
/// keeps every score that is not below 0; no number keeps all.
#[must_use]
pub fn within_spread(scores: &[f32], spread: f32) -> Vec<usize> {
    at_least(scores, 1.0 - spread.clamp(0.0, 1.0))
}

/// Keeps what scores at least `top × share`, `share` between 0 and 1: the cut of the final list at [`FINAL_SHARE`].
#[must_use]
pub fn at_least(scores: &[f32], share: f32) -> Vec<usize> {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let floor = top * share.clamp(0.0, 1.0);
    let stays = |score: f32| top <= 0.0 || floor.is_nan() || score >= floor;
    (0..scores.len()).filter(|&at| stays(scores[at])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_near_the_best_stay() {
        let cases: &[(&[f32], f32, &[usize])] = &[
            (&[8.0, 2.0, 1.9], 0.75, &[0, 1]),
            (&[1.9, 8.0, 2.0], 0.75, &[1, 2]),
            (&[8.0, 8.0, 7.9], 0.0, &[0, 1]),
            (&[8.0, 0.0, -1.0], 1.0, &[0, 1]),
            (&[8.0, 1.0], 2.0, &[0, 1]),
            (&[8.0, 1.0], -1.0, &[0]),
            (&[8.0, 1.0], f32::NAN, &[0, 1]),
            (&[0.0, 0.0], 0.75, &[0, 1]),
            (&[-1.0, -2.0], 0.75, &[0, 1]),
            (&[f32::NAN, 4.0, 1.0], 0.75, &[1, 2]),
            (&[], 0.75, &[]),
        ];
        for (scores, spread, expect) in cases {
            assert_eq!(within_spread(scores, *spread), *expect, "{scores:?} {spread}");
        }
    }

    #[test]
    fn the_final_cut_is_a_share_of_the_best() {
        assert_eq!(at_least(&[1.0, 0.65, 0.649], FINAL_SHARE), [0, 1]);
        assert_eq!(at_least(&[1.0, 0.1], 0.0), [0, 1]);
        assert_eq!(at_least(&[1.0, 0.1], 1.0), [0]);
    }
}
