//! The best of many scored things.

/// Keeps the `n` best of what is pushed in ascending order of `key`; of equal scores, those with lower keys.
pub struct Top<T> {
    n: usize,
    threshold: f32,
    kept: Vec<(f32, u32, T)>,
}

impl<T: Copy> Top<T> {
    /// An empty list for the `n` best of all scores above `least`.
    pub fn new(n: usize, least: f32) -> Self {
        Self { n, threshold: least, kept: Vec::with_capacity(2 * n) }
    }

    /// Whether `score` is too low to be kept.
    #[inline]
    pub fn rejects(&self, score: f32) -> bool {
        score <= self.threshold
    }

    /// Offers `item`.
    #[inline]
    pub fn push(&mut self, score: f32, key: u32, item: T) {
        if score > self.threshold {
            self.kept.push((score, key, item));
            if self.kept.len() == 2 * self.n {
                self.shrink();
            }
        }
    }

    fn shrink(&mut self) {
        if self.n == 0 {
            self.kept.clear();
            return;
        }
        self.kept.select_nth_unstable_by(self.n - 1, order);
        self.kept.truncate(self.n);
        // A later item with the same score has a higher key than all that are kept.
        self.threshold = self.kept[self.n - 1].0;
    }

    /// The best, best first: score, key, item.
    pub fn into_sorted(mut self) -> Vec<(f32, u32, T)> {
        self.kept.sort_unstable_by(order);
        self.kept.truncate(self.n);
        self.kept
    }
}

fn order<T>(a: &(f32, u32, T), b: &(f32, u32, T)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_a_full_sort(scores in proptest::collection::vec(-3i8..20, 0..200), n in 1usize..9) {
            let mut all: Vec<(f32, u32, ())> =
                scores.iter().zip(0..).map(|(&s, key)| (f32::from(s), key, ())).filter(|s| s.0 > 0.0).collect();
            let mut top = Top::new(n, 0.0);
            for (&score, key) in scores.iter().zip(0..) {
                top.push(f32::from(score), key, ());
            }
            all.sort_by(order);
            all.truncate(n);
            prop_assert_eq!(top.into_sorted(), all);
        }
    }
}
