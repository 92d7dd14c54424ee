//! What does a server mean that gives no vectors?
//!
//! In: status and body. Out: a [`Refusal`]. Pure. Servers agree on little: the wordings are those of OpenAI, Azure,
//! Gemini, Voyage, Cohere, Mistral, Ollama, llama.cpp, LM Studio, vLLM, text-embeddings-inference and LiteLLM.

use crate::http::Response;
use crate::http::retry::{Verdict, verdict};

use super::wire;

/// Longest piece of an answer that is repeated in a message, in characters.
const MAX_SAID_CHARS: usize = 300;

/// What to do about an answer without vectors.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// Some text, or all together, is longer than the model takes.
    TooLong {
        /// How long it may be and how long it was, in the same unit, if it says so.
        limit: Option<(f64, f64)>,
    },
    /// Too many requests.
    Limited,
    /// Something broke that may be whole again.
    Again,
    /// Perhaps some text is to blame, perhaps all of the request.
    Text,
    /// Nobody gets vectors in this way.
    Final,
}

/// Words for a text that is too long. Each list: all of its words must be there.
const TOO_LONG: &[&[&str]] = &[
    &["context_length_exceeded"],
    &["context length"],
    &["context size"],
    &["context window"],
    &["maximum context"],
    &["max_model_len"],
    &["maximum sequence length"],
    &["max sequence length"],
    &["too large to process"],
    &["input is too large"],
    &["input too large"],
    &["input is too long"],
    &["input too long"],
    &["too many tokens"],
    &["token limit"],
    &["tokens", "exceed"],
    &["tokens", "less than"],
    &["tokens", "at most"],
    &["tokens", "physical batch size"],
    &["maximum", "tokens per request"],
    &["payload", "too large"],
    &["payload", "exceeds"],
    &["request entity too large"],
    &["input length exceeds"],
    &["prompt is too long"],
    &["string_above_max_length"],
    &["array_above_max_length"],
    &["batch size", "exceed"],
    &["batch size", "maximum"],
    &["batch size", "at most"],
    &["at most", "requests can be in one batch"],
];

/// Words for a server error that a text brings about.
const TEXT_TO_BLAME: &[&str] = &["unsupported value: nan", "failed to encode response"];

/// What to do about an answer whose status is not 200.
pub(super) fn refusal(response: &Response) -> Refusal {
    let text = String::from_utf8_lossy(&response.body[..response.body.len().min(16_384)]);
    let text = text.to_lowercase();
    let is_long = || TOO_LONG.iter().any(|words| words.iter().all(|word| text.contains(word)));
    match response.status {
        413 => return Refusal::TooLong { limit: limit(&text) },
        400 | 422 | 500 if is_long() => return Refusal::TooLong { limit: limit(&text) },
        500 if TEXT_TO_BLAME.iter().any(|words| text.contains(words)) => return Refusal::Text,
        _ => {}
    }
    match verdict(response) {
        Verdict::Limited => Refusal::Limited,
        Verdict::Again => Refusal::Again,
        Verdict::Final if matches!(response.status, 400 | 422) && !is_about_settings(&text) => {
            Refusal::Text
        }
        Verdict::Final => Refusal::Final,
    }
}

/// Whether the words are about key, model or parameters, which no other text would change.
fn is_about_settings(text: &str) -> bool {
    ["api key", "api_key", "dimension", "encoding_format", "does not exist", "unknown model"]
        .iter()
        .any(|words| text.contains(words))
}

/// The limit and the length that a message names: the smallest and the greatest number of tokens in it.
fn limit(text: &str) -> Option<(f64, f64)> {
    let numbers: Vec<f64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| (2..10).contains(&digits.len()))
        .filter_map(|digits| digits.parse().ok())
        .filter(|n| *n >= 64.0)
        .collect();
    let [a, b] = numbers.as_slice() else { return None };
    let (limit, found) = (a.min(*b), a.max(*b));
    (found > limit).then_some((limit, found))
}

/// What an answer says, short enough for a message and without line breaks. `scrub` takes keys out of it, before
/// anything is cut: of half a key nobody can tell that it is one.
pub(super) fn said(response: &Response, scrub: impl Fn(&str) -> String) -> String {
    let status = response.status;
    let text = wire::message(&response.body).unwrap_or_else(|| {
        let text = String::from_utf8_lossy(&response.body);
        let text = text.trim();
        if text.starts_with('<') { "a page for browsers".to_owned() } else { text.to_owned() }
    });
    let text = scrub(&text);
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let mut text: String = words.join(" ").chars().take(MAX_SAID_CHARS).collect();
    text.truncate(text.trim_end_matches(['.', ' ']).len());
    if text.is_empty() {
        format!("HTTP status {status}")
    } else {
        format!("HTTP status {status}: {text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, body: &str) -> Response {
        Response { status, body: body.into(), ..Response::default() }
    }

    #[test]
    fn too_long_has_many_wordings() {
        for (status, body) in [
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens, however you requested 9000 tokens","code":"context_length_exceeded"}}"#,
            ),
            (413, ""),
            (500, r#"{"error":"input is too large to process. increase the physical batch size"}"#),
            (500, r#"{"error":"the input length exceeds the context length"}"#),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 512 tokens."}"#,
            ),
            (
                422,
                r#"{"error":"Input validation error: `inputs` must have less than 512 tokens. Given: 600"}"#,
            ),
            (
                400,
                r#"{"error":{"message":"Invalid 'input': maximum request size is 300000 tokens per request."}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch"}}"#,
            ),
        ] {
            let refusal = refusal(&response(status, body));
            assert!(matches!(refusal, Refusal::TooLong { .. }), "{body}: {refusal:?}");
        }
    }

    #[test]
    fn the_limit_is_read_where_it_is_named() {
        let both = "maximum context length is 8192 tokens, requested 9000";
        assert_eq!(limit(both), Some((8192.0, 9000.0)));
        assert_eq!(limit("maximum context length is 512 tokens"), None);
    }

    #[test]
    fn other_refusals_are_told_apart() {
        for (status, body, expected) in [
            (401, "", Refusal::Final),
            (403, "forbidden", Refusal::Final),
            (403, "rate limit reached", Refusal::Limited),
            (404, "", Refusal::Final),
            (400, r#"{"error":"API key not valid"}"#, Refusal::Final),
            (400, r#"{"error":"input contains an invalid character"}"#, Refusal::Text),
            (429, "", Refusal::Limited),
            (500, "", Refusal::Again),
            (
                500,
                r#"{"error":"failed to encode response: json: unsupported value: NaN"}"#,
                Refusal::Text,
            ),
        ] {
            assert_eq!(refusal(&response(status, body)), expected, "{status} {body}");
        }
    }

    #[test]
    fn what_is_said_is_short_and_one_line() {
        let plain = |status, body: &str| said(&response(status, body), str::to_owned);
        assert_eq!(plain(404, r#"{"error":"not\nfound."}"#), "HTTP status 404: not found");
        assert_eq!(plain(502, "<html>Bad Gateway</html>"), "HTTP status 502: a page for browsers");
        assert_eq!(plain(500, ""), "HTTP status 500");
        assert!(plain(500, &"x".repeat(9000)).len() < 400);
        let key = crate::http::Secret::new("sk-abcdef123456");
        let body = format!("{} {}", "x".repeat(MAX_SAID_CHARS - 8), key.expose());
        let text = said(&response(500, &body), |text| key.scrub(text));
        assert!(text.ends_with("x ***"), "{text}");
    }
}
