//! Answers that were given already, kept until something changes.

use std::collections::VecDeque;

use super::types::{SearchRequest, SearchResponse};

/// Answers that are kept.
const KEPT: usize = 64;

/// The last complete answers, newest last.
#[derive(Default)]
pub struct Answers {
    kept: VecDeque<(i64, SearchRequest, SearchResponse)>,
    /// How often all was forgotten.
    n_cleared: u64,
}

impl Answers {
    /// The answer to `request` on the state number `generation`.
    pub fn get(&mut self, generation: i64, request: &SearchRequest) -> Option<SearchResponse> {
        let is_it = |kept: &&(i64, SearchRequest, SearchResponse)| {
            kept.0 == generation && kept.1 == *request
        };
        let (_, _, answer) = self.kept.iter().find(is_it)?;
        Some(SearchResponse { is_cached: true, ..answer.clone() })
    }

    /// How often all was forgotten: what is asked for before that must not be kept after it.
    pub fn n_cleared(&self) -> u64 {
        self.n_cleared
    }

    /// Keeps an answer that was begun when all had been forgotten `n_cleared` times.
    pub fn put(
        &mut self,
        generation: i64,
        request: &SearchRequest,
        answer: &SearchResponse,
        n_cleared: u64,
    ) {
        if n_cleared != self.n_cleared {
            return;
        }
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((generation, request.clone(), answer.clone()));
    }

    /// Forgets all: something changed that is no state of the index.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.n_cleared += 1;
    }
}
