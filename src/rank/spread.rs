//! Which results are too far below the best to be shown?
//!
//! In: scores, higher is better, in any order. Out: the positions of those that stay, in their order. A share of a best
//! score of 0 or less says nothing, so nothing is cut there. Pure; never fails.

/// Keeps what scores at least `top × share`, `share` between 0 and 1; no number keeps all. Source:
/// VS Code Copilot Chat 0.34, which keeps 0.65 of the best after its last ranking.
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
    fn what_has_the_share_of_the_best_stays() {
        let cases: &[(&[f32], f32, &[usize])] = &[
            (&[8.0, 2.0, 1.9], 0.25, &[0, 1]),
            (&[1.9, 8.0, 2.0], 0.25, &[1, 2]),
            (&[8.0, 8.0, 7.9], 1.0, &[0, 1]),
            (&[8.0, 0.0, -1.0], 0.0, &[0, 1]),
            (&[8.0, 1.0], -1.0, &[0, 1]),
            (&[8.0, 1.0], 2.0, &[0]),
            (&[8.0, 1.0], f32::NAN, &[0, 1]),
            (&[0.0, 0.0], 0.65, &[0, 1]),
            (&[-1.0, -2.0], 0.65, &[0, 1]),
            (&[f32::NAN, 4.0, 1.0], 0.25, &[1, 2]),
            (&[1.0, 0.65, 0.649], 0.65, &[0, 1]),
            (&[], 0.65, &[]),
        ];
        for (scores, share, expect) in cases {
            assert_eq!(at_least(scores, *share), *expect, "{scores:?} {share}");
        }
    }
}
