//! The settings of a workspace, read by their names ([`crate::config::keys`]).

use napi::ValueType;

use super::arguments::{Argument, Options};
use super::failure::Failure;
use crate::config::keys::{self, KEYS, Kind};
use crate::config::settings::Settings;
use crate::config::{Config, WalkConfig};

/// The settings of a caller who says nothing. Unlike the core's own, they leave the editor half of the machine.
pub fn standard() -> Config {
    Config { settings: Settings::standard(), ..Config::standard() }
}

/// What the caller sets, and the defaults of the rest.
///
/// # Errors
/// A setting that there is not, or that cannot have this value.
pub fn config(argument: &Argument<'_>) -> Result<Config, Failure> {
    // `null` stands for "no options" in a call, not for "no settings".
    if argument.kind() == ValueType::Null {
        return Err(argument.wrong("an object"));
    }
    let mut config = standard();
    let mut set = Vec::new();
    for (name, group) in argument.fields()? {
        if name == "ignore" {
            config.walk = ignore(&group, config.walk)?;
            continue;
        }
        let prefix = format!("{name}.");
        if !KEYS.iter().any(|key| key.name.starts_with(&prefix)) {
            return Err(unknown(argument, &name, groups()));
        }
        read(&name, &group, &mut config.settings, &mut set)?;
    }
    weights(&set, &mut config);
    Ok(config)
}

/// The names of the groups.
fn groups() -> Vec<&'static str> {
    let mut groups = vec!["ignore"];
    for key in KEYS {
        let group = key.name.split('.').next().unwrap_or_default();
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn unknown(argument: &Argument<'_>, field: &str, known: Vec<&str>) -> Failure {
    Failure::argument(
        argument.name().to_owned(),
        format!("an object with the field {field:?}"),
        format!("no fields but {}", known.join(", ")),
    )
}

/// Reads the fields of `group`, whose name in the table is `path`, and notes in `set` which settings they are.
fn read(
    path: &str,
    group: &Argument<'_>,
    settings: &mut Settings,
    set: &mut Vec<&'static str>,
) -> Result<(), Failure> {
    for (name, field) in group.fields()? {
        let path_of_field = format!("{path}.{name}");
        if let Some(key) = KEYS.iter().find(|key| key.name == path_of_field) {
            let wrong = || match key.kind {
                Kind::Secret => Failure::argument(
                    field.name().to_owned(),
                    "not shown".to_owned(),
                    key.kind.expected(),
                ),
                kind => field.wrong(kind.expected()),
            };
            let value = field.setting()?.ok_or_else(wrong)?;
            keys::set(settings, key.name, &value).map_err(|_| wrong())?;
            set.push(key.name);
            continue;
        }
        let below = format!("{path_of_field}.");
        if KEYS.iter().any(|key| key.name.starts_with(&below)) {
            read(&path_of_field, &field, settings, set)?;
            continue;
        }
        let prefix = format!("{path}.");
        let mut known: Vec<&str> = KEYS
            .iter()
            .filter_map(|key| key.name.strip_prefix(&prefix))
            .map(|name| name.split('.').next().unwrap_or(name))
            .collect();
        known.dedup();
        return Err(unknown(group, &name, known));
    }
    Ok(())
}

/// One weight that is left out is what the other leaves of 1.
fn weights(set: &[&str], config: &mut Config) {
    let is_set = |name: &str| set.contains(&name);
    let hybrid = &mut config.settings.hybrid_search;
    match (is_set("hybridSearch.vectorWeight"), is_set("hybridSearch.textWeight")) {
        (true, false) => hybrid.text_weight = 1.0 - hybrid.vector_weight,
        (false, true) => hybrid.vector_weight = 1.0 - hybrid.text_weight,
        _ => {}
    }
}

fn ignore(argument: &Argument<'_>, standard: WalkConfig) -> Result<WalkConfig, Failure> {
    let options = Options::read(
        argument,
        &[
            "config.ignore.gitignore",
            "config.ignore.sextantignore",
            "config.ignore.defaults",
            "config.ignore.secrets",
            "config.ignore.exclude",
        ],
    )?;
    let flag = |name, standard| options.get(name)?.map_or(Ok(standard), |given| given.flag());
    Ok(WalkConfig {
        use_gitignore: flag("config.ignore.gitignore", standard.use_gitignore)?,
        use_sextantignore: flag("config.ignore.sextantignore", standard.use_sextantignore)?,
        use_default_exclusions: flag("config.ignore.defaults", standard.use_default_exclusions)?,
        exclude_secrets: flag("config.ignore.secrets", standard.exclude_secrets)?,
        exclude: match options.get("config.ignore.exclude")? {
            Some(argument) => argument.texts()?,
            None => standard.exclude,
        },
        never_enter: standard.never_enter,
    })
}
