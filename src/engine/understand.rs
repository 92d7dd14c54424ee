//! What is meant by a question, with a language model where there is one.

use super::types::SearchRequest;
use super::{Engine, lock};
use crate::config::Config;
use crate::query::Keyword;
use crate::query::rewrite::{
    self, RewriteInput, RewriteLimits, RewriteOptions, RewriteWhen, Rewritten,
};
use crate::task::CancelToken;

impl Engine {
    /// Asks the language model what the settings say. Never fails: without an answer, the question is as it was asked.
    pub(super) fn understand(
        &self,
        cancel: &CancelToken,
        request: &SearchRequest,
        config: &Config,
    ) -> Rewritten {
        let settings = &config.settings.query;
        let model = lock(&self.parts).language_model.clone().filter(|_| request.rewrite);
        let input = RewriteInput {
            question: &request.query,
            history: &request.history,
            scope: &request.attached,
            tree: None,
            has_attachments: !request.attached.is_empty(),
        };
        let options = RewriteOptions {
            when: settings.rewrite,
            wants_keywords: settings.keywords && settings.rewrite != RewriteWhen::Never,
            wants_intent: settings.intent,
            limits: RewriteLimits { time: settings.wait, ..RewriteLimits::standard() },
        };
        let mut rewritten = rewrite::rewrite(cancel, model.as_ref(), &input, &options);
        if !rewritten.is_by_model && !request.keywords.is_empty() {
            let of_caller = request.keywords.iter();
            rewritten.keywords = of_caller
                .map(|word| Keyword { word: word.clone(), variations: Vec::new() })
                .collect();
        }
        rewritten
    }
}
