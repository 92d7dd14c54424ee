//! EM02: texts that are longer than the model takes.

use sextant::embed::provider::{HttpProvider, Role};

use super::server::{DIMENSIONS, Reply, Seen, Server, data, items, status};
use super::{check_right, embed, embedder, settings, texts};

/// What the model takes, in bytes.
const LIMIT: usize = 8192 * 3;
/// How servers say so.
const WORDINGS: &[(u16, &str)] = &[
    (
        400,
        r#"{"error":{"message":"maximum context length is 8192 tokens, requested 9000","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
    ),
    (413, ""),
    (500, r#"{"error":"input is too large to process"}"#),
    (500, r#"{"error":"the input length exceeds the context length"}"#),
    (400, r#"{"error":"input too long"}"#),
];

fn limited(refusal: (u16, &'static str), limit: usize) -> impl Fn(&Seen) -> Reply {
    move |seen| {
        if seen.texts().iter().any(|text| text.len() > limit) {
            status(refusal.0, refusal.1)
        } else {
            data(items(seen, DIMENSIONS))
        }
    }
}

fn long_text(n_bytes: usize) -> String {
    let lines = (0..).map(|n| format!("let line_{n} = {n};\n"));
    let mut text = String::new();
    for line in lines {
        if text.len() >= n_bytes {
            return text;
        }
        text.push_str(&line);
    }
    text
}

fn n_refused(server: &Server, limit: usize) -> usize {
    server.log().iter().filter(|seen| seen.texts().iter().any(|t| t.len() > limit)).count()
}

#[test]
fn em02_one_text_over_the_limit_harms_no_other_and_gets_its_vector_in_pieces() {
    for wording in WORDINGS {
        for n_bytes in [LIMIT + 100, 2 * LIMIT, 4 * LIMIT] {
            for at in [0, 7, 19] {
                let server = Server::start(limited(*wording, LIMIT));
                let mut texts = texts(20);
                texts[at] = long_text(n_bytes);
                let settings = HttpProvider { batch_size: 20, ..settings(&server) };
                let (mut results, outcome) = embed(&embedder(settings), Role::Document, &texts);
                assert_eq!(outcome, Ok(()), "{wording:?}");
                let vector = results.remove(at).unwrap().unwrap();
                let length: f32 = vector.iter().map(|n| n * n).sum();
                assert!((length - 1.0).abs() < 1e-4);
                texts.remove(at);
                check_right(&texts, &results);
                let allowed = (2.0 * 20_f64.log2() + 2.0) as usize;
                let refused = n_refused(&server, LIMIT);
                assert!(refused <= allowed, "{refused} of {allowed} for {wording:?} {n_bytes}");
            }
        }
    }
}

#[test]
fn em02_several_texts_over_the_limit_are_each_found() {
    let server = Server::start(limited(WORDINGS[1], 400));
    let mut texts = texts(64);
    for at in [3, 4, 40] {
        texts[at] = long_text(900);
    }
    let (results, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts);
    assert_eq!(outcome, Ok(()));
    assert!(results.iter().all(|result| matches!(result, Some(Ok(_)))));
    assert!(n_refused(&server, 400) <= 3 * (2 * 6 + 2), "{}", n_refused(&server, 400));
}

#[test]
fn em02_a_text_that_is_refused_in_every_size_is_refused_by_name_and_no_other() {
    let server = Server::start(limited(WORDINGS[2], 40));
    let mut texts: Vec<String> = (0..10).map(|n| format!("text {n}")).collect();
    texts[6] = long_text(3000);
    let (mut results, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts);
    assert_eq!(outcome, Ok(()));
    let refused = results.remove(6).unwrap().unwrap_err();
    assert!(refused.reason.contains("too long"), "{refused:?}");
    texts.remove(6);
    check_right(&texts, &results);
}

#[test]
fn a_batch_that_is_too_large_as_a_whole_is_halved_until_it_fits() {
    let server = Server::start(|seen| {
        if seen.texts().len() > 3 {
            status(422, r#"{"error":"batch size 16 > maximum allowed batch size 3"}"#)
        } else {
            data(items(seen, DIMENSIONS))
        }
    });
    let settings = HttpProvider { batch_size: 16, ..settings(&server) };
    super::check_all_right(&embedder(settings), &texts(32));
}

#[test]
fn a_text_in_pieces_points_where_its_pieces_do() {
    let server = Server::start(limited(WORDINGS[1], 300));
    let text = long_text(1000);
    let (results, outcome) =
        embed(&embedder(settings(&server)), Role::Document, std::slice::from_ref(&text));
    assert_eq!(outcome, Ok(()));
    let vector = results[0].clone().unwrap().unwrap();
    let pieces: Vec<String> =
        server.log().iter().flat_map(Seen::texts).filter(|t| t.len() <= 300).collect();
    assert_eq!(pieces.concat().len(), text.len(), "all of it was sent");
    let mut expected = [0.0; DIMENSIONS];
    for piece in &pieces {
        let vector = super::vector_of(piece, DIMENSIONS);
        let length = vector.iter().map(|n| n * n).sum::<f32>().sqrt();
        for (sum, n) in expected.iter_mut().zip(vector) {
            *sum += n / length * piece.len() as f32;
        }
    }
    let length = expected.iter().map(|n| n * n).sum::<f32>().sqrt();
    let cosine: f32 = expected.iter().zip(&vector).map(|(a, b)| a / length * b).sum();
    assert!(cosine > 0.9999, "{cosine}");
}
