//! How much does each list count?
//!
//! In: the two weights of the settings, finite and not below 0, which is checked where they come in. Out: weights of sum 1.
//! Both 0 say that neither list counts; that answers nothing, so the standard weights are taken, with a notice. Pure.

use crate::config::ranking::{STANDARD, Weights};
use crate::notice::Notice;

/// Rescales the weights to sum 1. Both 0: the standard ones and the notice `WEIGHTS_ZERO`.
#[must_use]
pub fn resolve_weights(vector_weight: f32, text_weight: f32) -> (Weights, Option<Notice>) {
    let clean = |weight: f32| if weight > 0.0 { f64::from(weight.min(f32::MAX)) } else { 0.0 };
    let (vector, text) = (clean(vector_weight), clean(text_weight));
    let sum = vector + text;
    if sum > 0.0 {
        // The one from the other, so that the sum is 1 exactly.
        let vector = (vector / sum) as f32;
        return (Weights { vector, text: 1.0 - vector }, None);
    }
    let standard = Weights { vector: STANDARD.vector_weight, text: 1.0 - STANDARD.vector_weight };
    let message = format!(
        "vectorWeight and textWeight are both 0; {} and {} were taken instead",
        standard.vector, standard.text
    );
    (standard, Some(Notice { code: "WEIGHTS_ZERO", message }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_rescaled_to_one() {
        let cases = [
            (0.7, 0.3, 0.7),
            (1.0, 1.0, 0.5),
            (3.0, 1.0, 0.75),
            (0.0, 0.2, 0.0),
            (0.2, 0.0, 1.0),
            (1e-40, 1e-40, 0.5),
            (f32::MAX, f32::MAX, 0.5),
        ];
        for (vector, text, expect) in cases {
            let (weights, notice) = resolve_weights(vector, text);
            assert!((weights.vector - expect).abs() < 1e-6, "{vector} {text}: {weights:?}");
            assert_eq!(weights.vector + weights.text, 1.0);
            assert_eq!(notice, None);
        }
    }

    #[test]
    fn weights_of_nothing_are_the_standard_ones_and_it_is_said() {
        let (weights, notice) = resolve_weights(0.0, -0.0);
        assert_eq!(weights.vector, STANDARD.vector_weight);
        assert_eq!(weights.text, 1.0 - STANDARD.vector_weight);
        assert_eq!(notice.map(|notice| notice.code), Some("WEIGHTS_ZERO"));
    }
}
