//! Answers that were given already, kept until something changes.

use std::collections::VecDeque;

use super::types::{SearchRequest, SearchResponse};

/// Answers that are kept.
const KEPT: usize = 64;

/// The name of a database, and the number of its state.
pub type State = (u128, i64);

/// The last complete answers, newest last.
#[derive(Default)]
pub struct Answers {
    kept: VecDeque<(State, SearchRequest, SearchResponse)>,
    /// How often all was forgotten.
    n_cleared: u64,
}

impl Answers {
    /// The answer to `request` in this state.
    pub fn get(&mut self, state: State, request: &SearchRequest) -> Option<SearchResponse> {
        let is_it =
            |kept: &&(State, SearchRequest, SearchResponse)| kept.0 == state && kept.1 == *request;
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
        state: State,
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
        self.kept.push_back((state, request.clone(), answer.clone()));
    }

    /// Forgets all: something changed that is no state of the index.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.n_cleared += 1;
    }
}
