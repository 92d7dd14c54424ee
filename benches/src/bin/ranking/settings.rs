//! The constants by name, and the values that tuning tries.

use sextant::config::ranking::Constants;

/// A constant that can be varied.
pub struct Setting {
    /// Name of the field.
    pub name: &'static str,
    /// Reads it.
    pub get: fn(&Constants) -> f32,
    /// Writes it.
    pub set: fn(&mut Constants, f32),
}

macro_rules! settings {
    ($($field:ident),* $(,)?) => {
        &[$(Setting {
            name: stringify!($field),
            get: |constants| constants.$field,
            set: |constants, value| constants.$field = value,
        }),*]
    };
}

/// All constants but the number of candidates.
pub const SETTINGS: &[Setting] = settings![
    k1,
    b,
    symbol_field,
    head_field,
    path_field,
    compound_weight,
    vector_weight,
    file_mean_share,
    exact_definition,
    exact_definition_in_question,
    definition_words,
    stem_words,
    folder_words,
    agreement,
    tests_factor,
    examples_factor,
    docs_factor,
    config_factor,
    benchmarks_factor,
    types_factor,
    generated_factor,
    vendored_factor,
    reexport_factor,
    repeat_factor,
];

/// Sets the constant called `name`.
pub fn set(constants: &mut Constants, name: &str, value: f32) {
    if name == "candidates" {
        constants.candidates = value as usize;
        return;
    }
    let setting = SETTINGS
        .iter()
        .find(|setting| setting.name == name)
        .unwrap_or_else(|| panic!("there is no constant {name}"));
    (setting.set)(constants, value);
}
