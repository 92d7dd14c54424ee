//! The best of a long list of scores.

/// The `n` best positive scores of `scores` whose index `passes`, best first; equal scores by lower index.
pub fn best(scores: &[f32], n: usize, passes: impl Fn(u32) -> bool) -> Vec<(u32, f32)> {
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let mut kept: Vec<(u32, f32)> = Vec::with_capacity(2 * n);
    let mut threshold = 0.0;
    for (index, &score) in (0u32..).zip(scores) {
        if score > threshold && passes(index) {
            kept.push((index, score));
            if kept.len() == 2 * n {
                kept.select_nth_unstable_by(n - 1, order);
                kept.truncate(n);
                // A later index with the same score would come after all that are kept.
                threshold = kept[n - 1].1;
            }
        }
    }
    kept.sort_unstable_by(order);
    kept.truncate(n);
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_a_full_sort(scores in proptest::collection::vec(-3i8..20, 0..200), n in 1usize..9) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let mut all: Vec<(u32, f32)> =
                (0..).zip(scores.iter().copied()).filter(|&(i, s)| s > 0.0 && i % 3 != 0).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all.truncate(n);
            prop_assert_eq!(best(&scores, n, |i| i % 3 != 0), all);
        }
    }
}
