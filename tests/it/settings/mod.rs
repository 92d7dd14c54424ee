//! Every setting changes what is done, and is documented.
//!
//! Each part lists the settings that its tests set by name; together they are all of [`KEYS`], so that a setting without
//! a test fails here.

mod asking;
mod live;
pub mod providing;
pub mod ranking;
mod working;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sextant::config::Config;
use sextant::config::keys::{self, KEYS, Kind, Value};
use sextant::config::settings::Settings;
use sextant::engine::{Attempt, Engine, Outcome, Parts, SearchResponse};

use crate::support::Place;
use crate::{cascade, threads};

/// What may be written as a value of a setting.
pub trait AsSetting {
    fn as_value(&self) -> Value;
}

impl AsSetting for bool {
    fn as_value(&self) -> Value {
        Value::Flag(*self)
    }
}

impl AsSetting for f64 {
    fn as_value(&self) -> Value {
        Value::Number(*self)
    }
}

impl AsSetting for i32 {
    fn as_value(&self) -> Value {
        Value::Number(f64::from(*self))
    }
}

impl AsSetting for &str {
    fn as_value(&self) -> Value {
        Value::Text((*self).to_owned())
    }
}

impl AsSetting for String {
    fn as_value(&self) -> Value {
        Value::Text(self.clone())
    }
}

/// Sets these settings by name.
#[track_caller]
pub fn set(config: &mut Config, settings: &[(&str, &dyn AsSetting)]) {
    for (name, value) in settings {
        keys::set(&mut config.settings, name, &value.as_value()).unwrap();
    }
}

/// The standard settings but for these.
#[track_caller]
pub fn config(settings: &[(&str, &dyn AsSetting)]) -> Config {
    let mut config = Config::standard();
    set(&mut config, settings);
    config
}

/// Opens a workspace with these settings.
#[track_caller]
pub fn open(place: &Place, settings: &[(&str, &dyn AsSetting)], parts: Parts) -> Engine {
    let mut options = place.options();
    set(&mut options.config, settings);
    options.parts = parts;
    Engine::open(options).unwrap()
}

/// Gives an open workspace the standard settings but for these.
#[track_caller]
pub fn configure(engine: &Engine, settings: &[(&str, &dyn AsSetting)]) {
    engine.configure(&config(settings)).unwrap();
}

/// What came of trying `strategy`, the last time.
#[track_caller]
pub fn tried<'r>(response: &'r SearchResponse, strategy: &str) -> &'r Attempt {
    let mut of_strategy = response.tried.iter().filter(|tried| tried.strategy == strategy);
    of_strategy.next_back().unwrap_or_else(|| panic!("no {strategy}: {:?}", response.tried))
}

/// `strategy` was left out because of this setting.
#[track_caller]
pub fn check_off(response: &SearchResponse, strategy: &str, setting: &str) {
    let tried = tried(response, strategy);
    assert_eq!(tried.outcome, Outcome::Skipped, "{tried:?}");
    assert_eq!(tried.reason, format!("{setting} is off"));
}

/// The paths of the hits, best first.
pub fn paths(response: &SearchResponse) -> Vec<&str> {
    response.hits.iter().map(|hit| hit.path.as_str()).collect()
}

#[test]
fn every_setting_has_a_test() {
    let parts: &[(&[&str], &str)] = &[
        (asking::KEYS, include_str!("asking.rs")),
        (providing::KEYS, include_str!("providing.rs")),
        (ranking::KEYS, include_str!("ranking.rs")),
        (working::KEYS, include_str!("working.rs")),
        (
            cascade::KEYS,
            concat!(include_str!("../cascade/mod.rs"), include_str!("../cascade/whole.rs")),
        ),
        (cascade::remote::KEYS, include_str!("../cascade/remote.rs")),
        (threads::KEYS, include_str!("../child.rs")),
    ];
    let mut tested = BTreeSet::new();
    for (keys, source) in parts {
        // What stands in the list itself is no use of it.
        let tests = source.split_once("];").map_or(*source, |(_, tests)| tests);
        for key in *keys {
            assert!(tests.contains(&format!("\"{key}\"")), "{key} is listed and not set");
            assert!(tested.insert(*key), "{key} is listed twice");
        }
    }
    let all: BTreeSet<&str> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(tested, all);
}

/// A row for each setting.
fn table() -> String {
    let standard = Settings::standard();
    let mut table =
        String::from("| Setting | Values | Default | What it does |\n|---|---|---|---|\n");
    for key in KEYS {
        let values = match key.kind {
            Kind::Flag => "`true`, `false`".to_owned(),
            Kind::Integer(min, max, unit) => format!("{min} to {max} {unit}"),
            Kind::Number(min, max) => format!("{min} to {max}"),
            Kind::Choice(names) => {
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            }
            Kind::Text => "text".to_owned(),
            Kind::Secret => "text, shown nowhere".to_owned(),
        };
        let default = match key.get(&standard) {
            Value::Flag(flag) => format!("`{flag}`"),
            Value::Number(number) => number.to_string(),
            Value::Text(text) if text.is_empty() => "empty".to_owned(),
            Value::Text(text) => format!("`{text}`"),
        };
        let about = key.about.replace('|', "\\|");
        writeln!(table, "| `{}` | {values} | {default} | {about} |", key.name).unwrap();
    }
    table
}

#[test]
fn settings_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/settings.md");
    let expected = format!(
        "# Settings

Programs that use the Node package set these in `config`, where a dot is a step inwards: `{{ vectorDb: {{ batchSize: 20 }} }}`. In
VS Code they are `sextant.*` in the settings, as in `sextant.vectorDb.batchSize`. A value of another type or out of range is
refused with the name, the value and what would be right. All take effect with the next run and search, without opening
the workspace again.

The table is written from `src/config/keys.rs` by a test: `UPDATE_DOCS=1 cargo test --test it settings_are_documented`.

{}",
        table()
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "docs/settings.md is stale; see its own third paragraph");
}
