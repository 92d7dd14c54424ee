//! What the TypeScript declarations say about settings is what the table of settings says. With `UPDATE_DOCS=1` the
//! declarations are written anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sextant::config::keys::{KEYS, Key, Kind, Value};
use sextant::config::settings::Settings;

const START: &str = "/* Settings: written by `UPDATE_DOCS=1 cargo test --test it declared`. */\n";
const END: &str = "/* End of settings. */\n";

/// Groups in the order of the table, and what each is about.
const GROUPS: [(&str, &str, &str); 5] = [
    ("vectorDb", "VectorDbConfig", "The index and its vectors."),
    (
        "hybridSearch",
        "HybridSearchConfig",
        "How hybrid search ranks. A weight that is left out is what the other leaves of 1.",
    ),
    ("cascade", "CascadeConfig", "Which way of searching is taken."),
    ("embedding", "EmbeddingConfig", "The provider of vectors, if it is not the embedded model."),
    ("query", "QueryConfig", "What a language model is asked for, if there is one."),
];

fn declared(key: &Key) -> String {
    match key.kind {
        Kind::Flag => "boolean".into(),
        Kind::Integer(..) | Kind::Number(..) => "number".into(),
        Kind::Text | Kind::Secret => "string".into(),
        Kind::Choice(names) => {
            names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(" | ")
        }
    }
}

fn about(key: &Key) -> String {
    let range = match key.kind {
        Kind::Integer(min, max, unit) => format!(" From {min} to {max} {unit};"),
        Kind::Number(min, max) => format!(" From {min} to {max};"),
        _ => String::new(),
    };
    let standard = match key.get(&Settings::standard()) {
        Value::Flag(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) if text.is_empty() => {
            return format!("{}{}", key.about, range.trim_end_matches(';'));
        }
        Value::Text(text) => format!("'{text}'"),
    };
    let by_default = if range.is_empty() {
        format!(" Default: {standard}.")
    } else {
        format!("{range} {standard} by default.")
    };
    format!("{}{by_default}", key.about)
}

fn declarations() -> String {
    let mut text = String::new();
    for (group, name, group_about) in GROUPS {
        let mut flat = Vec::new();
        let mut nested: BTreeMap<&str, Vec<(&str, &Key)>> = BTreeMap::new();
        for key in KEYS {
            match key.name.split('.').collect::<Vec<_>>()[..] {
                [of, field] if of == group => flat.push((field, key)),
                [of, inner, field] if of == group => {
                    nested.entry(inner).or_default().push((field, key))
                }
                _ => {}
            }
        }
        writeln!(text, "/** {group_about} */\nexport interface {name} {{").unwrap();
        for (field, key) in flat {
            writeln!(text, "  /** {} */\n  {field}?: {}", about(key), declared(key)).unwrap();
        }
        for (inner, fields) in nested {
            writeln!(text, "  {inner}?: {{").unwrap();
            for (field, key) in fields {
                writeln!(text, "    /** {} */\n    {field}?: {}", about(key), declared(key))
                    .unwrap();
            }
            writeln!(text, "  }}").unwrap();
        }
        writeln!(text, "}}\n").unwrap();
    }
    text
}

#[test]
fn every_setting_is_declared() {
    for key in KEYS {
        let group = key.name.split('.').next().unwrap();
        assert!(GROUPS.iter().any(|(name, ..)| *name == group), "{}", key.name);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/binding/options.d.ts");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(START).expect("the start of the settings");
    let (found, after) = rest.split_once(END).expect("the end of the settings");
    let expected = declarations();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{START}{expected}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(found, expected, "run `UPDATE_DOCS=1 cargo test --test it declared`");
}
