//! NDCG@10 with binary gains.
//!
//! A target's rank is that of the first result that matches it; a rank that several targets share counts once. The ideal
//! has the targets at the top.

/// Results looked at.
pub const DEPTH: usize = 10;

/// `ranks`: for each target the 1-based rank of the first matching result, if any.
#[must_use]
pub fn ndcg(ranks: &[Option<usize>]) -> f64 {
    let gain = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
    let mut hit: Vec<usize> = ranks.iter().flatten().copied().filter(|&r| r <= DEPTH).collect();
    hit.sort_unstable();
    hit.dedup();
    let ideal: f64 = (1..=ranks.len().min(DEPTH)).map(gain).sum();
    if ideal > 0.0 { hit.into_iter().map(gain).sum::<f64>() / ideal } else { 0.0 }
}
