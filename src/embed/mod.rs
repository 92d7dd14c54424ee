//! Texts to vectors.
//!
//! In: a text. Out: a unit vector of [`DIM`] dimensions, or none where the model knows no word of the text
//! (scripts outside its vocabulary). The embedded model is a bag of sub-words: `models/` holds it, [`model`] runs it
//! and [`quantize`] packs its vectors. Pure: no IO, no state but the table compiled into the program.

pub mod dense;
pub mod model;
pub mod pieces;
pub mod provider;
pub mod quantize;

/// Dimensions of every vector of the embedded model.
pub const DIM: usize = 256;

/// Name and revision of the embedded model; stored with every index and checked before vectors are compared.
pub const MODEL_ID: &str = "codestatic-v2/256/q4";
