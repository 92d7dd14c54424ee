//! How much less does a hit count because its file has not changed for long?
//!
//! In: scores and the files' times of modification. Out: scores, each times 2^(−age / half-life): half after one half-life,
//! a quarter after two. Off unless asked for. The age is that of the file's last change, not of its indexing: indexing anew
//! does not make old code young. Pure; never fails.
//!
//! Source: CodeBuddy's documented temporal decay, e^(−λ·age) with λ = ln 2 / half-life. It takes the time of indexing.

/// Nanoseconds of a day.
const NS_PER_DAY: f64 = 86_400e9;

/// More half-lives than this change nothing: the score would become 0, and files that are all old would lose their order.
const MAX_HALF_LIVES: f64 = 64.0;

/// Days from `modified_ns` to `now_ns`, both in nanoseconds since 1970; with fractions, and 0 for a file of the future.
#[must_use]
pub fn age_days(modified_ns: i64, now_ns: i64) -> f64 {
    (now_ns.saturating_sub(modified_ns) as f64 / NS_PER_DAY).max(0.0)
}

/// What a score is multiplied by, above 0 and at most 1. `half_life_days` of 0, less, or no number is no decay.
#[must_use]
pub fn factor(age_days: f64, half_life_days: f64) -> f64 {
    if half_life_days > 0.0 {
        (-(age_days.max(0.0) / half_life_days).min(MAX_HALF_LIVES)).exp2()
    } else {
        1.0
    }
}

/// The new score of each of `hits`, in their order: (score, time of modification in nanoseconds since 1970). A score below
/// 0 stays as it is: it would rise.
#[must_use]
pub fn decay(hits: &[(f32, i64)], now_ns: i64, half_life_days: f64) -> Vec<f32> {
    let one = |&(score, modified_ns): &(f32, i64)| {
        if score > 0.0 {
            (f64::from(score) * factor(age_days(modified_ns, now_ns), half_life_days)) as f32
        } else {
            score
        }
    };
    hits.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000_000;

    #[test]
    fn a_score_halves_with_each_half_life() {
        let now = 20_000 * DAY;
        let cases: &[(i64, f64, f32)] = &[
            (now, 30.0, 1.0),
            (now - 30 * DAY, 30.0, 0.5),
            (now - 60 * DAY, 30.0, 0.25),
            (now - DAY / 2, 0.5, 0.5),
            (now - DAY, 30.0, 0.977_16),
            (now + 90 * DAY, 30.0, 1.0),
            (now - 60 * DAY, 0.0, 1.0),
            (now - 60 * DAY, -1.0, 1.0),
            (now - 60 * DAY, f64::NAN, 1.0),
            (now - 60 * DAY, f64::INFINITY, 1.0),
        ];
        for &(modified, half_life, expect) in cases {
            let found = decay(&[(1.0, modified)], now, half_life)[0];
            assert!((found - expect).abs() < 1e-5, "{modified} {half_life}: {found}");
        }
    }

    #[test]
    fn files_that_are_all_old_keep_their_order() {
        let found = decay(&[(0.9, 0), (0.4, 0), (0.0, 0), (-0.5, 0)], 20_000 * DAY, 1.0);
        assert!(found[0] > found[1] && found[1] > 0.0, "{found:?}");
        assert_eq!(found[2..], [0.0, -0.5]);
    }

    #[test]
    fn times_at_the_ends_of_the_range_are_ages_too() {
        assert_eq!(age_days(i64::MAX, i64::MIN), 0.0);
        assert!(age_days(i64::MIN, i64::MAX) > 100_000.0);
    }
}
