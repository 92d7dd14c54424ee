//! What a language model is told, so that it rewrites a question.
//!
//! In: the question and what is known around it. Out: a request: who the model is, the conversation so far, then one
//! message with what to do, an example, the workspace and the question. The newest turns are kept that fit into a budget of
//! o200k tokens. Pure.
//!
//! Source of the two headings, the number of keywords and the limit of the answer: VS Code Copilot Chat 0.34. The words
//! are ours.

use super::model::{Completion, Message, Purpose, Role};
use super::{RewriteInput, RewriteLimits, Turn};
use crate::present::{Fit, fit};
use crate::token::TokenCounter;

pub(super) const SYSTEM: &str = "\
You prepare messages about a code base for a search engine. You cannot see the code and you never answer a message. You \
only say more clearly what is to be searched for.";

const TASK: &str = "\
Rewrite the message below so that it can be understood without this conversation, and name words to search the code for.

Reply in Markdown with these two headings and nothing else:

## Question
The message as one question or request, in its own language and with its own meaning. Write what is meant in the place \
of words that point elsewhere, such as \"it\", \"that\" or \"this\". Leave every identifier, path and quoted text exactly \
as written. Repeat a message that is clear already.

## Keywords
A list of at most {max_keywords} words or names that the code in question is likely to contain, the most relevant first, \
one on each line. A keyword may be followed by other forms of it, separated by commas, such as its plural or a synonym.

Do not answer the message. Do not ask for anything in return.";

pub(super) const EXAMPLE_QUESTION: &str = "Where is the retrying of failed HTTP requests tested?";

const EXAMPLE: &str = "\
Example: after a conversation about failed HTTP requests that are sent again, the message \"and where is that tested?\" \
gives

## Question
Where is the retrying of failed HTTP requests tested?

## Keywords
- retry, retries, retrying
- HTTP request, fetch
- test, spec
- backoff";

/// At most so many selected files are named.
const MAX_SCOPE: usize = 20;
/// A tree of the workspace is cut here at a line end; it should be far smaller.
const MAX_TREE_TOKENS: usize = 2000;
/// What a turn takes beside its texts.
const TURN_TOKENS: usize = 8;

/// The request to rewrite `question`, which is not blank and of bounded length.
pub(super) fn request(
    question: &str,
    input: &RewriteInput<'_>,
    limits: &RewriteLimits,
) -> Completion {
    let counter = TokenCounter::new();
    let message = |role, content: &str| Message { role, content: content.to_owned() };
    let mut messages = vec![message(Role::System, SYSTEM)];
    for turn in prune(input.history, limits.history_tokens, &counter) {
        for (role, content) in [(Role::User, turn.question), (Role::Assistant, turn.answer)] {
            if !content.trim().is_empty() {
                messages.push(message(role, &content));
            }
        }
    }
    let mut last = TASK.replace("{max_keywords}", &limits.max_keywords.to_string());
    last.push_str("\n\n");
    last.push_str(EXAMPLE);
    if !input.scope.is_empty() {
        last.push_str("\n\nThe message is about these files:\n");
        for path in input.scope.iter().take(MAX_SCOPE) {
            let path: String = path.chars().filter(|c| !c.is_control()).collect();
            last.push_str(&format!("- `{path}`\n"));
        }
    }
    if let Some(tree) = input.tree {
        let tree = head(tree, MAX_TREE_TOKENS, &counter);
        last.push_str(&format!("\n\nThe workspace:\n{tree}"));
    }
    last.push_str(&format!("\n\nThe message to rewrite:\n{question}"));
    messages.push(message(Role::User, &last));
    Completion {
        messages,
        max_tokens: max_tokens(question, limits),
        stop: Vec::new(),
        temperature: Some(0.0),
        purpose: Purpose::Rephrase,
    }
}

/// Most tokens of the answer: those of the question and room for the keywords.
pub(super) fn max_tokens(question: &str, limits: &RewriteLimits) -> usize {
    TokenCounter::new().count(question).saturating_add(limits.extra_tokens)
}

/// Whether `line` is one of ours, so that an answer with it only repeats what it was told.
pub(super) fn is_told(line: &str) -> bool {
    /// Shorter lines are anybody's.
    const MIN_CHARS: usize = 25;
    let line = line.trim();
    line.chars().count() >= MIN_CHARS
        && [SYSTEM, TASK].iter().any(|told| {
            told.contains(line)
                || told
                    .lines()
                    .any(|whole| whole.chars().count() >= MIN_CHARS && line.contains(whole))
        })
}

/// The newest turns that fit, oldest first. Of the first that does not, the question and as many lines of the answer are
/// kept as fit: what was said last is what "it" stands for.
fn prune(history: &[Turn], budget: usize, counter: &TokenCounter) -> Vec<Turn> {
    let mut kept: Vec<Turn> = Vec::new();
    let mut left = budget;
    for turn in history.iter().rev() {
        let n_question = counter.count(&turn.question) + TURN_TOKENS;
        if n_question > left {
            break;
        }
        left -= n_question;
        let answer = head(&turn.answer, left, counter);
        left -= counter.count(answer);
        let is_whole = answer.len() == turn.answer.len();
        kept.push(Turn { question: turn.question.clone(), answer: answer.to_owned() });
        if !is_whole {
            break;
        }
    }
    kept.reverse();
    kept
}

/// As many lines of `text` as fit.
fn head<'t>(text: &'t str, budget: usize, counter: &TokenCounter) -> &'t str {
    match fit(text, budget, counter) {
        Fit::Whole(_) => text,
        Fit::Cut { n_bytes, .. } => &text[..n_bytes],
        Fit::Nothing => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(question: &str, answer: &str) -> Turn {
        Turn { question: question.into(), answer: answer.into() }
    }

    #[test]
    fn the_newest_turns_stay() {
        let counter = TokenCounter::new();
        let history = [turn("one", "eins"), turn("two", "zwei\ndrei"), turn("three", "vier")];
        let of =
            |turn: &Turn| counter.count(&turn.question) + counter.count(&turn.answer) + TURN_TOKENS;
        let all = history.iter().map(of).sum();
        let last_two = of(&history[1]) + of(&history[2]);
        assert_eq!(prune(&history, all, &counter), history);
        assert_eq!(prune(&history, last_two, &counter), history[1..]);
        assert_eq!(
            prune(&history, last_two - 1, &counter),
            [turn("two", "zwei\n"), history[2].clone()]
        );
        assert_eq!(prune(&history, of(&history[2]), &counter), history[2..]);
        assert_eq!(prune(&history, 0, &counter), []);
    }
}
