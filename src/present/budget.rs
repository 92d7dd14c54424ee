//! How much of an answer fits, and what was left out?
//!
//! A budget takes the texts of hits in order: whole ones as long as they fit, the first that does not up to its last line
//! end that fits, and nothing after that. Tokens are those of o200k, counted text by text, so they are the tokens of the
//! texts alone; [`render`](super::render) counts a whole prompt. Pure; never fails.

use super::{Fit, fit};
use crate::token::TokenCounter;

/// A bound on the tokens of an answer, and what has become of it.
#[derive(Clone, Debug)]
pub struct Budget {
    counter: TokenCounter,
    limit: Option<usize>,
    is_spent: bool,
    report: BudgetReport,
}

/// What a budget was spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetReport {
    /// o200k tokens of the texts that were taken.
    pub tokens: usize,
    /// Hits of which nothing was taken.
    pub n_omitted: usize,
    /// Lines that the last hit lost; 0 if it is whole.
    pub n_cut_lines: usize,
}

impl Budget {
    /// A budget of `limit` o200k tokens; `None` takes everything and still counts.
    #[must_use]
    pub fn new(limit: Option<usize>) -> Self {
        Self {
            counter: TokenCounter::new(),
            limit,
            is_spent: false,
            report: BudgetReport::default(),
        }
    }

    /// What fits of the next hit. After the first that is not whole, nothing fits.
    pub fn take(&mut self, text: &str) -> Fit {
        let left = self.limit.map_or(usize::MAX, |limit| limit - self.report.tokens);
        let fitting = if self.is_spent { Fit::Nothing } else { fit(text, left, &self.counter) };
        match fitting {
            Fit::Whole(n_tokens) => self.report.tokens += n_tokens,
            Fit::Cut { n_bytes, n_lines } => {
                self.is_spent = true;
                self.report.tokens += self.counter.count(&text[..n_bytes]);
                self.report.n_cut_lines = text.lines().count() - n_lines;
            }
            Fit::Nothing => {
                self.is_spent = true;
                self.report.n_omitted += 1;
            }
        }
        fitting
    }

    /// Whether nothing more is taken.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// What was taken and left out until now.
    #[must_use]
    pub fn report(&self) -> BudgetReport {
        self.report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: Option<usize>, texts: &[&str], expect: BudgetReport) -> Vec<Fit> {
        let mut budget = Budget::new(limit);
        let fits = texts.iter().map(|text| budget.take(text)).collect();
        assert_eq!(budget.report(), expect, "{limit:?} {texts:?}");
        assert!(limit.is_none_or(|limit| expect.tokens <= limit));
        fits
    }

    fn report(tokens: usize, n_omitted: usize, n_cut_lines: usize) -> BudgetReport {
        BudgetReport { tokens, n_omitted, n_cut_lines }
    }

    #[test]
    fn whole_hits_are_taken_then_lines_then_nothing() {
        let (one, three) = ("alpha", "one\ntwo\nthree");
        let counter = TokenCounter::new();
        let (n_one, n_three) = (counter.count(one), counter.count(three));
        let n_two_lines = counter.count("one\ntwo\n");
        check(None, &[one, three], report(n_one + n_three, 0, 0));
        check(Some(n_one + n_three), &[one, three], report(n_one + n_three, 0, 0));
        let fits =
            check(Some(n_one + n_three - 1), &[one, three, one], report(n_one + n_two_lines, 1, 1));
        assert_eq!(fits[1..], [Fit::Cut { n_bytes: 8, n_lines: 2 }, Fit::Nothing]);
        check(Some(n_one), &[one, three, ""], report(n_one, 2, 0));
        check(Some(0), &[one], report(0, 1, 0));
        check(Some(0), &[], report(0, 0, 0));
    }
}
