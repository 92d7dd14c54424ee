//! Every constant of retrieval and ranking, each with the measurement that chose it.
//!
//! They are one structure, so that the evaluation in benches/ can vary them; nothing else does.

/// The constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Candidates taken from each list.
    pub candidates: usize,
    /// BM25 saturation.
    pub k1: f32,
    /// BM25 length normalisation.
    pub b: f32,
    /// Occurrences that a term in a defined name counts for.
    pub symbol_field: f32,
    /// Occurrences that a term in signature or doc comment counts for.
    pub head_field: f32,
    /// What a term of the path counts for, beside one of a chunk that occurs without end.
    pub path_field: f32,
    /// Weight of the whole of a compound identifier beside its parts.
    pub compound_weight: f32,
    /// Share of the semantic list in hybrid search.
    pub vector_weight: f32,
    /// Share of the file's mean vector in a chunk's semantic score.
    pub file_mean_share: f32,
    /// Added for defining exactly the name that is asked for.
    pub exact_definition: f32,
    /// The same where the name stands within a question.
    pub exact_definition_in_question: f32,
    /// Added, at most, for defining a name whose words the question has.
    pub definition_words: f32,
    /// Added, at most, for words of the question in the file's stem.
    pub stem_words: f32,
    /// Added, at most, for words of the question in the folders' names.
    pub folder_words: f32,
    /// Added, at most, for other good chunks of the same file.
    pub agreement: f32,
    /// Factors for files that the question does not ask for.
    pub tests_factor: f32,
    /// Examples, demos, samples.
    pub examples_factor: f32,
    /// Prose.
    pub docs_factor: f32,
    /// Configuration and data.
    pub config_factor: f32,
    /// Benchmarks.
    pub benchmarks_factor: f32,
    /// Type declaration files.
    pub types_factor: f32,
    /// Generated code.
    pub generated_factor: f32,
    /// Third-party code in the tree, and code kept for compatibility.
    pub vendored_factor: f32,
    /// Chunks without a definition in files that mostly re-export.
    pub reexport_factor: f32,
    /// Factor for each hit that a file has already.
    pub repeat_factor: f32,
}

/// The constants in use.
pub const STANDARD: Constants = Constants {
    candidates: 120,
    k1: 1.2,
    b: 0.6,
    symbol_field: 3.0,
    head_field: 1.0,
    path_field: 0.8,
    compound_weight: 0.7,
    vector_weight: 0.5,
    file_mean_share: 0.4,
    exact_definition: 1.0,
    exact_definition_in_question: 0.4,
    definition_words: 0.3,
    stem_words: 0.3,
    folder_words: 0.05,
    agreement: 0.15,
    tests_factor: 0.5,
    examples_factor: 0.5,
    docs_factor: 0.6,
    config_factor: 0.7,
    benchmarks_factor: 0.5,
    types_factor: 0.7,
    generated_factor: 0.5,
    vendored_factor: 0.5,
    reexport_factor: 0.6,
    repeat_factor: 0.4,
};
