//! What kind of answer does a question want?
//!
//! In: a question. Out: one of few categories, told by a language model in a call of its own with a short answer: a name of
//! a category, ended by the stop text. An answer that is not clearly one category is none.
//!
//! Source: the detection of intents of VS Code Copilot Chat 0.34, whose limits of 20 tokens and `;` are kept. Its
//! categories are parts of that product; these are ours.

use super::RewriteLimits;
use super::model::{Completion, Message, Purpose, Role};
use crate::query::Intent;

/// Kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchIntent {
    /// The place where something is done or defined.
    FindCode,
    /// How something works; needs more of its surroundings.
    Explain,
    /// Tests of something.
    FindTests,
    /// Places that use something.
    FindUsage,
    /// The project as a whole.
    Overview,
    /// Settings, builds, dependencies.
    Config,
    /// None of these, or no question about the code.
    Other,
}

impl SearchIntent {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::FindCode,
        Self::Explain,
        Self::FindTests,
        Self::FindUsage,
        Self::Overview,
        Self::Config,
        Self::Other,
    ];

    /// Stable lower-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FindCode => "find-code",
            Self::Explain => "explain",
            Self::FindTests => "find-tests",
            Self::FindUsage => "find-usage",
            Self::Overview => "overview",
            Self::Config => "config",
            Self::Other => "other",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::FindCode => "where something is done or defined",
            Self::Explain => "how or why something works",
            Self::FindTests => "tests or fixtures of something",
            Self::FindUsage => "what calls or uses something",
            Self::Overview => "the project as a whole: its purpose, parts, architecture",
            Self::Config => "settings, build, dependencies, deployment",
            Self::Other => "anything else",
        }
    }

    /// Adds the kinds of files that this intent asks for; takes none away.
    pub fn add_to(self, files: &mut Intent) {
        match self {
            Self::FindTests => files.tests = true,
            Self::Overview => files.docs = true,
            Self::Config => files.config = true,
            Self::FindCode | Self::Explain | Self::FindUsage | Self::Other => {}
        }
    }
}

/// The request for the intent of `question`.
pub(super) fn request(question: &str, limits: &RewriteLimits) -> Completion {
    let mut system = String::from(
        "You sort messages about a code base by the kind of answer they want. The kinds are:\n",
    );
    for intent in SearchIntent::ALL {
        system.push_str(&format!("- {}: {}\n", intent.name(), intent.meaning()));
    }
    let stop = &limits.intent_stop;
    system.push_str(&format!(
        "Reply with the name of one kind, followed by \"{stop}\", and nothing else. Do not answer the message."
    ));
    Completion {
        messages: vec![
            Message { role: Role::System, content: system },
            Message { role: Role::User, content: question.to_owned() },
        ],
        max_tokens: limits.intent_tokens,
        stop: if stop.is_empty() { Vec::new() } else { vec![stop.clone()] },
        temperature: None,
        purpose: Purpose::Intent,
    }
}

/// The category that an answer names; `None` if it names none, or more than one, or talks.
pub(super) fn parse(answer: &str, stop: &str) -> Option<SearchIntent> {
    // A model without stop texts writes on.
    let answer = if stop.is_empty() { answer } else { answer.split(stop).next().unwrap_or(answer) };
    let line = answer.trim().lines().next().unwrap_or("").to_lowercase();
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
    let words: Vec<&str> = words
        .into_iter()
        .filter(|word| !matches!(*word, "" | "category" | "kind" | "intent" | "the" | "is"))
        .collect();
    let named = words.join("-");
    SearchIntent::ALL.into_iter().find(|intent| intent.name() == named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_one_category_or_none() {
        let cases = [
            ("find-code;", Some(SearchIntent::FindCode)),
            ("find-tests", Some(SearchIntent::FindTests)),
            ("Category: **Find Usage**\n", Some(SearchIntent::FindUsage)),
            ("The intent is `overview`.", Some(SearchIntent::Overview)),
            ("config; explain;", Some(SearchIntent::Config)),
            ("explain;\nbecause", Some(SearchIntent::Explain)),
            ("find_code", Some(SearchIntent::FindCode)),
            ("other", Some(SearchIntent::Other)),
            ("I cannot explain", None),
            ("explain or config", None),
            ("", None),
            (";", None),
            ("1", None),
        ];
        for (answer, expect) in cases {
            assert_eq!(parse(answer, ";"), expect, "{answer:?}");
        }
    }
}
