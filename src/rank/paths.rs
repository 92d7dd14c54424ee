//! What kind of file is it, by its path?

use crate::query::Intent;
use crate::source::Language;
use crate::source::language::LanguageClass;

use crate::config::ranking::Constants;

/// Folder names that mark everything below.
const TEST_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "__tests__",
    "testing",
    "spec",
    "specs",
    "fixtures",
    "fixture",
    "testdata",
    "__mocks__",
    "mocks",
    "e2e",
    "testutil",
    "test-utils",
    "__snapshots__",
    "snapshots",
];
const EXAMPLE_FOLDERS: &[&str] = &[
    "example",
    "examples",
    "demo",
    "demos",
    "sample",
    "samples",
    "playground",
    "tutorial",
    "tutorials",
];
const DOC_FOLDERS: &[&str] = &["doc", "docs", "documentation", "website", "site"];
const BENCHMARK_FOLDERS: &[&str] = &["bench", "benches", "benchmark", "benchmarks"];
const VENDORED_FOLDERS: &[&str] = &[
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "deps",
    "external",
    "compat",
    "legacy",
    "deprecated",
    "_vendor",
    "polyfills",
];

/// The factor of a path, and the name of what gave it.
pub fn factor(
    path: &str,
    language: Language,
    is_generated: bool,
    intent: Intent,
    constants: &Constants,
) -> (f32, Option<&'static str>) {
    let lower = path.to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let below = |list: &[&str]| folders.split('/').any(|folder| list.contains(&folder));
    let class = language.class();
    let candidates = [
        (
            !intent.tests && (below(TEST_FOLDERS) || is_test_name(path, name)),
            constants.tests_factor,
            "test",
        ),
        (
            !intent.benchmarks && (below(BENCHMARK_FOLDERS) || name.contains("benchmark")),
            constants.benchmarks_factor,
            "benchmark",
        ),
        (!intent.examples && below(EXAMPLE_FOLDERS), constants.examples_factor, "example"),
        (
            !intent.docs && (below(DOC_FOLDERS) || class == LanguageClass::Prose),
            constants.docs_factor,
            "documentation",
        ),
        (is_generated, constants.generated_factor, "generated"),
        (below(VENDORED_FOLDERS), constants.vendored_factor, "third party"),
        (!intent.types && name.ends_with(".d.ts"), constants.types_factor, "declarations"),
        (
            !intent.config && matches!(class, LanguageClass::Data | LanguageClass::Config),
            constants.config_factor,
            "configuration",
        ),
    ];
    candidates
        .into_iter()
        .filter(|(applies, ..)| *applies)
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or((1.0, None), |(_, factor, name)| (factor, Some(name)))
}

/// `name` is lower case; `path` tells `FooTest.java` from `latest.java`.
fn is_test_name(path: &str, name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let original = path.rsplit('/').next().unwrap_or(path);
    let original_stem = original.split('.').next().unwrap_or(original);
    name.contains(".test.")
        || name.contains(".spec.")
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || stem.ends_with("-test")
        || stem == "test"
        || stem == "tests"
        || stem == "conftest"
        || ["Test", "Tests", "TestCase", "Spec", "IT"].iter().any(|suffix| {
            original_stem
                .strip_suffix(suffix)
                .is_some_and(|rest| rest.chars().last().is_some_and(char::is_lowercase))
        })
}
