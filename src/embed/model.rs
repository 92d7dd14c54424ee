//! The embedded static model: a weighted sum of word vectors.
//!
//! `models/model.safetensors` holds `embeddings` (int8 `[V, 256]`), `scales` (f16 `[V]`; a row's values are
//! `int8 * scale`) and `query_weights` (f16 `[V]`). A vector is the sum over the distinct rows of a text of
//! `sqrt(count) * scale * row`, times the row's query weight for a query, brought to unit length.

use std::sync::OnceLock;

use safetensors::SafeTensors;

use super::DIM;
use super::pieces::Vocabulary;

static TABLE: &[u8] = include_bytes!("../../models/model.safetensors");
static VOCABULARY: &str = include_str!("../../models/vocab.txt");

/// The model, unpacked.
pub struct StaticModel {
    vocabulary: Vocabulary,
    /// Row-major `[V, DIM]`.
    rows: &'static [i8],
    scales: Vec<f32>,
    query_weights: Vec<f32>,
}

/// The model, unpacked at the first call (a few milliseconds).
pub fn static_model() -> &'static StaticModel {
    static MODEL: OnceLock<StaticModel> = OnceLock::new();
    MODEL.get_or_init(StaticModel::load)
}

impl StaticModel {
    fn load() -> Self {
        let tensors = SafeTensors::deserialize(TABLE).expect("the compiled-in model is intact");
        let data = |name: &str| {
            tensors.tensor(name).expect("the compiled-in model has this tensor").data()
        };
        let halves = |name: &str| -> Vec<f32> {
            data(name)
                .as_chunks::<2>()
                .0
                .iter()
                .map(|&pair| f16_to_f32(u16::from_le_bytes(pair)))
                .collect()
        };
        let bytes = data("embeddings");
        // SAFETY: i8 and u8 have the same size and alignment, and every bit pattern is valid for both.
        let rows = unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<i8>(), bytes.len()) };
        Self {
            vocabulary: Vocabulary::new(VOCABULARY),
            rows,
            scales: halves("scales"),
            query_weights: halves("query_weights"),
        }
    }

    /// The tokenizer's table.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The vector of a document with these rows (any order, with repeats; sorted in place). `None` without a row.
    pub fn document(&self, rows: &mut [u32]) -> Option<[f32; DIM]> {
        self.pool(rows, |_| 1.0)
    }

    /// The vector of a question in the asker's words. `None` if the model knows none of them.
    pub fn query(&self, text: &str) -> Option<[f32; DIM]> {
        let mut rows = Vec::new();
        self.vocabulary.rows(text, &mut rows);
        self.pool(&mut rows, |row| self.query_weights[row])
    }

    fn pool(&self, rows: &mut [u32], weight: impl Fn(usize) -> f32) -> Option<[f32; DIM]> {
        rows.sort_unstable();
        let mut sum = [0f32; DIM];
        for run in rows.chunk_by(|a, b| a == b) {
            let row = run[0] as usize;
            let factor = (run.len() as f32).sqrt() * self.scales[row] * weight(row);
            let values: &[i8; DIM] =
                self.rows[row * DIM..][..DIM].try_into().expect("a row has DIM values");
            for (total, &value) in sum.iter_mut().zip(values) {
                *total += factor * f32::from(value);
            }
        }
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length <= 0.0 {
            return None;
        }
        for value in &mut sum {
            *value /= length;
        }
        Some(sum)
    }
}

/// IEEE 754 half to single precision.
fn f16_to_f32(half: u16) -> f32 {
    let sign = u32::from(half >> 15) << 31;
    let exponent = u32::from((half >> 10) & 0x1f);
    let fraction = u32::from(half & 0x3ff);
    match exponent {
        0 => {
            let magnitude = fraction as f32 * 2f32.powi(-24);
            if sign == 0 { magnitude } else { -magnitude }
        }
        31 => f32::from_bits(sign | 0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(sign | ((exponent + 112) << 23) | (fraction << 13)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Reference {
        text: String,
        ids: Vec<u32>,
        document: Vec<f32>,
        query: Vec<f32>,
    }

    #[track_caller]
    fn assert_close(found: Option<[f32; DIM]>, expected: &[f32]) {
        let found = found.unwrap_or([0.0; DIM]);
        assert_eq!(expected.len(), DIM);
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 2e-6, "{a} is not {b}");
        }
    }

    #[test]
    fn vectors_equal_the_reference_vectors_of_the_model() {
        let model = static_model();
        let mut n = 0;
        for line in include_str!("../../models/reference_vectors.jsonl").lines() {
            let reference: Reference = serde_json::from_str(line).unwrap();
            let mut rows = Vec::new();
            model.vocabulary().rows(&reference.text, &mut rows);
            assert_eq!(rows, reference.ids, "{:?}", reference.text);
            assert_close(model.document(&mut rows), &reference.document);
            assert_close(model.query(&reference.text), &reference.query);
            n += 1;
        }
        assert_eq!(n, 60);
    }
}
