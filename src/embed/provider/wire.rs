//! Bodies of requests and answers, in both protocols.
//!
//! In: texts; bytes of an answer. Out: JSON; one vector a text, in the order of the texts, or what is wrong with the
//! answer as a whole. Pure. An answer is matched by `index` where it has one, else by position; with another number of
//! vectors, or with an index twice or out of range, all of it is wrong.

use base64::Engine as _;
use serde_json::{Value, json};

use super::Role;
use super::settings::{ProviderKind, bare_model};

/// A vector, or what is wrong with this one.
pub(super) type Vectors = Vec<Result<Vec<f32>, Unfit>>;

/// What is wrong with one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// Some of its numbers are none.
    NotFinite {
        /// Its length all the same.
        dimensions: usize,
    },
    /// It points nowhere.
    Zero {
        /// Its length.
        dimensions: usize,
    },
}

impl Unfit {
    pub(super) fn dimensions(self) -> usize {
        match self {
            Self::NotFinite { dimensions } | Self::Zero { dimensions } => dimensions,
        }
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::NotFinite { .. } => "the model gave a vector with numbers that are not finite",
            Self::Zero { .. } => "the model gave a vector of zeros",
        }
    }
}

/// The JSON that asks for the vectors of `texts`.
pub(super) fn request(
    kind: ProviderKind,
    model: &str,
    dimensions: Option<usize>,
    role: Role,
    texts: &[&str],
) -> Vec<u8> {
    let body = match kind {
        ProviderKind::OpenAi => {
            let mut body = json!({ "model": model, "input": texts, "encoding_format": "float" });
            if let Some(dimensions) = dimensions {
                body["dimensions"] = dimensions.into();
            }
            body
        }
        ProviderKind::Gemini => {
            let name = format!("models/{}", bare_model(model));
            let task = match role {
                Role::Document => "RETRIEVAL_DOCUMENT",
                // Models before gemini-embedding do not know the task for code.
                Role::Query if model.contains("gemini") => "CODE_RETRIEVAL_QUERY",
                Role::Query => "RETRIEVAL_QUERY",
            };
            let requests: Vec<Value> = texts
                .iter()
                .map(|text| {
                    let content = json!({ "parts": [{ "text": text }] });
                    let mut one = json!({ "model": name, "content": content, "taskType": task });
                    if let Some(dimensions) = dimensions {
                        one["outputDimensionality"] = dimensions.into();
                    }
                    one
                })
                .collect();
            json!({ "requests": requests })
        }
    };
    body.to_string().into_bytes()
}

/// The vectors of `n_texts` texts in an answer, not yet normalised.
///
/// # Errors
/// What is wrong with it, if it cannot be trusted as a whole.
pub(super) fn vectors(kind: ProviderKind, n_texts: usize, body: &[u8]) -> Result<Vectors, String> {
    let answer = parse(body)?;
    let key = match kind {
        ProviderKind::OpenAi => "data",
        ProviderKind::Gemini => "embeddings",
    };
    let Some(items) = answer.get(key).and_then(Value::as_array) else {
        return Err(match message(body) {
            Some(message) => format!("it has no {key}: {message}"),
            None => format!("it has no {key}"),
        });
    };
    if items.len() != n_texts {
        return Err(format!("it has {} vectors for {n_texts} texts", items.len()));
    }
    let mut placed: Vec<Option<Result<Vec<f32>, Unfit>>> = vec![None; n_texts];
    let has_index = items.iter().any(|item| item.get("index").is_some_and(|i| !i.is_null()));
    for (position, item) in items.iter().enumerate() {
        let at = if has_index { index(item, n_texts)? } else { position };
        if placed[at].is_some() {
            return Err(format!("it has the index {at} twice"));
        }
        let vector = match kind {
            ProviderKind::OpenAi => item.get("embedding"),
            ProviderKind::Gemini => item.get("values"),
        };
        placed[at] = Some(read_vector(vector.unwrap_or(&Value::Null))?);
    }
    placed
        .into_iter()
        .map(|vector| vector.ok_or_else(|| "a vector is missing".to_owned()))
        .collect()
}

fn index(item: &Value, n_texts: usize) -> Result<usize, String> {
    let index = item.get("index").unwrap_or(&Value::Null);
    let at = index.as_u64().and_then(|at| usize::try_from(at).ok());
    at.filter(|at| *at < n_texts)
        .ok_or_else(|| format!("it has the index {index} for {n_texts} texts"))
}

/// JSON, also with the numbers that Python's serializer makes and JSON does not know.
fn parse(body: &[u8]) -> Result<Value, String> {
    match serde_json::from_slice(body) {
        Ok(value) => Ok(value),
        Err(error) => {
            let text = String::from_utf8_lossy(body);
            let patched = text
                .replace("-Infinity", "null")
                .replace("Infinity", "null")
                .replace("NaN", "null");
            serde_json::from_str(&patched).map_err(|_| format!("it is no JSON: {error}"))
        }
    }
}

fn read_vector(value: &Value) -> Result<Result<Vec<f32>, Unfit>, String> {
    let vector: Vec<f32> = match value {
        Value::Array(numbers) => numbers
            .iter()
            .map(|number| match number {
                Value::Null => Ok(f32::NAN),
                other => other
                    .as_f64()
                    .map(|n| n as f32)
                    .ok_or_else(|| "a vector holds something that is no number".to_owned()),
            })
            .collect::<Result<_, _>>()?,
        Value::String(text) => base64_floats(text)?,
        _ => return Err("an item has no vector".to_owned()),
    };
    let dimensions = vector.len();
    if dimensions == 0 {
        return Err("a vector is empty".to_owned());
    }
    if vector.iter().any(|n| !n.is_finite()) {
        return Ok(Err(Unfit::NotFinite { dimensions }));
    }
    if vector.iter().all(|n| *n == 0.0) {
        return Ok(Err(Unfit::Zero { dimensions }));
    }
    Ok(Ok(vector))
}

/// Little-endian 32-bit floats in base64, as OpenAI gives them for `encoding_format: base64`.
fn base64_floats(text: &str) -> Result<Vec<f32>, String> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|_| "a vector is text, but no base64".to_owned())?;
    let (floats, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("a vector in base64 ends within a number".to_owned());
    }
    Ok(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

/// What a server says in an answer that is none, in the places where servers say it.
pub(super) fn message(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(&Value::Null);
    let places = [
        error.get("message"),
        Some(error),
        value.get("message"),
        value.get("detail"),
        value.get("error_description"),
    ];
    let said = places.into_iter().flatten().find(|place| !place.is_null())?;
    Some(said.as_str().map_or_else(|| said.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openai(n_texts: usize, body: &str) -> Result<Vectors, String> {
        vectors(ProviderKind::OpenAi, n_texts, body.as_bytes())
    }

    #[test]
    fn vectors_are_placed_by_index_else_by_position() {
        let by_index = r#"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}"#;
        let expected = vec![Ok(vec![1.0, 0.0]), Ok(vec![0.0, 1.0])];
        assert_eq!(openai(2, by_index), Ok(expected.clone()));
        let by_position = r#"{"data":[{"embedding":[1,0]},{"embedding":[0,1]}]}"#;
        assert_eq!(openai(2, by_position), Ok(expected));
    }

    #[test]
    fn what_is_wrong_as_a_whole_is_said() {
        for (body, word) in [
            (r#"{"data":[{"index":0,"embedding":[1]}]}"#, "1 vectors for 2 texts"),
            (r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#, "twice"),
            (r#"{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}"#, "index 2"),
            (r#"{"data":[{"index":0,"embedding":[1]},{"embedding":[1]}]}"#, "index null"),
            (r#"{"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]}"#, "index -1"),
            (r#"{"data":[{"embedding":[]},{"embedding":[1]}]}"#, "empty"),
            (r#"{"data":[{"embedding":["a"]},{"embedding":[1]}]}"#, "no number"),
            (r#"{"data":[{},{"embedding":[1]}]}"#, "no vector"),
            (r#"{"error":{"message":"model not loaded"}}"#, "model not loaded"),
            ("<html>", "no JSON"),
            (r#"{"data":[{"embedding":"AACAPwA="},{"embedding":[1]}]}"#, "within a number"),
        ] {
            let error = openai(2, body).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn unfit_vectors_spoil_only_themselves() {
        let body = r#"{"data":[{"embedding":[NaN,1]},{"embedding":[0,0]},{"embedding":[1e39,1]},{"embedding":"AACAPwAAAEA="}]}"#;
        let expected = vec![
            Err(Unfit::NotFinite { dimensions: 2 }),
            Err(Unfit::Zero { dimensions: 2 }),
            Err(Unfit::NotFinite { dimensions: 2 }),
            Ok(vec![1.0, 2.0]),
        ];
        assert_eq!(openai(4, body), Ok(expected));
    }

    #[test]
    fn gemini_is_asked_in_its_own_words() {
        let body =
            request(ProviderKind::Gemini, "gemini-embedding-001", Some(8), Role::Query, &["a"]);
        let body: Value = serde_json::from_slice(&body).unwrap();
        let one = &body["requests"][0];
        assert_eq!(one["model"], "models/gemini-embedding-001");
        assert_eq!(one["content"]["parts"][0]["text"], "a");
        assert_eq!(one["taskType"], "CODE_RETRIEVAL_QUERY");
        assert_eq!(one["outputDimensionality"], 8);
        let answer = br#"{"embeddings":[{"values":[1,0]}]}"#;
        assert_eq!(vectors(ProviderKind::Gemini, 1, answer), Ok(vec![Ok(vec![1.0, 0.0])]));
    }

    #[test]
    fn messages_are_found_where_servers_put_them() {
        for body in [
            r#"{"error":{"message":"no"}}"#,
            r#"{"error":"no"}"#,
            r#"{"message":"no"}"#,
            r#"{"detail":"no"}"#,
            r#"[{"error":{"message":"no"}}]"#,
        ] {
            assert_eq!(message(body.as_bytes()).as_deref(), Some("no"), "{body}");
        }
        assert_eq!(message(b"no"), None);
    }
}
