//! The sources of settings: their values are checked against the compiled-in file, and merged as they are added.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use marketplace_text::similar_names::most_similar;
use toml::{Table, Value, de::DeTable};

use super::{
    defaults::DEFAULTS,
    marks, ranges,
    relations::{self, Contradiction},
    settings::Settings,
    settings_error::SettingsError,
    texts,
};
use crate::domain::money::Cents;

/// Origin of the values in the first layer.
const COMPILED_IN: &str = "marketplace.toml (compiled in)";

/// The settings that are request budgets.
pub(super) const BUDGET_KEYS: [&str; 8] = [
    "limits.catalog",
    "limits.history",
    "limits.sales",
    "limits.purchases",
    "limits.quality_checks",
    "limits.uploads",
    "limits.other",
    "limits.address",
];

impl Default for Settings {
    fn default() -> Settings {
        SettingsSources::new().resolve().expect("the compiled-in settings are valid")
    }
}

/// The values of all sources, merged as they are added, each with its origin.
#[derive(Clone, Debug)]
pub struct SettingsSources {
    values: Table,
    pub(super) origins: BTreeMap<String, String>,
    /// Keys that a variable or a flag has set.
    set_for_process: BTreeSet<String>,
    /// What is said about variables that override a settings file.
    pub(super) overrides: Vec<String>,
    /// What is said about sources that may not be what their author wants.
    warnings: Vec<String>,
    /// The files that contain secrets, with their origins, by the key of the secret.
    pub(super) secret_files: BTreeMap<String, SecretFile>,
}

/// A file that contains a secret.
#[derive(Clone, Debug)]
pub(super) struct SecretFile {
    pub(super) path: PathBuf,
    /// Where the path comes from.
    pub(super) origin: String,
}

impl Default for SettingsSources {
    fn default() -> SettingsSources {
        SettingsSources::new()
    }
}

impl SettingsSources {
    /// Creates the values of the compiled-in file.
    pub fn new() -> SettingsSources {
        let values = DEFAULTS.parse().expect("the compiled-in settings are valid TOML");
        SettingsSources {
            values,
            origins: BTreeMap::new(),
            set_for_process: BTreeSet::new(),
            overrides: Vec::new(),
            warnings: Vec::new(),
            secret_files: BTreeMap::new(),
        }
    }

    /// Adds a settings file. Its values replace earlier ones.
    pub fn add_file(&mut self, path: &Path, text: &str) -> Result<(), SettingsError> {
        let at = |offset: usize| {
            let line = text[..offset.min(text.len())].matches('\n').count() + 1;
            format!("{}:{line}", path.display())
        };
        let table = DeTable::parse(text).map_err(|error| SettingsError {
            origin: at(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        let mut secrets = Vec::new();
        for (section, body) in table.get_ref() {
            let origin = at(section.span().start);
            let section_name: &str = section.get_ref();
            let known = self.values.get(section_name).is_some_and(Value::is_table);
            let Some(body) = body.get_ref().as_table().filter(|_| known) else {
                return Err(self.unknown_section(origin, section_name));
            };
            for (key, value) in body {
                let text = &text[value.span()];
                // No setting is a table, and the text of one may be only its heading.
                let is_table = value.get_ref().as_table().is_some();
                let parsed = if is_table { Ok(Value::Table(Table::new())) } else { parse_value(text) };
                let value =
                    parsed.map_err(|message| SettingsError { origin: at(value.span().start), message })?;
                let key_name = format!("{section_name}.{}", key.get_ref());
                if value.as_str() != Some("") {
                    secrets.extend(marks::secrets().find(|secret| *secret == key_name));
                }
                self.set_value(&key_name, value, at(key.span().start))?;
            }
        }
        self.warn_of_secrets_in(path, &secrets);
        Ok(())
    }

    /// Whether a variable or a flag, and not only a settings file, has set a key.
    pub fn is_set_for_process(&self, key: &str) -> bool {
        self.set_for_process.contains(key)
    }

    /// Returns a warning for each variable that overrides a different value in a settings file: the author of the file may not
    /// know about it.
    pub fn overrides(&self) -> &[String] {
        &self.overrides
    }

    /// Adds warnings about the sources.
    pub fn add_warnings(&mut self, warnings: impl IntoIterator<Item = String>) {
        self.warnings.extend(warnings);
    }

    /// Returns the warnings about the sources, except for those of [`SettingsSources::overrides`].
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Sets one value as the top layer, from a variable or a flag. `origin` names the source in error messages.
    pub fn set(&mut self, key: &str, value: Value, origin: String) -> Result<(), SettingsError> {
        self.set_value(key, value, origin)?;
        self.set_for_process.insert(key.to_owned());
        Ok(())
    }

    pub(super) fn set_value(&mut self, key: &str, value: Value, origin: String) -> Result<(), SettingsError> {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        let Some(Value::Table(known)) = self.values.get(section) else {
            return Err(self.unknown_section(origin, section));
        };
        if name.is_empty() {
            let example = known.keys().next().map_or("", String::as_str);
            let message = format!("{section} is a section; name its keys, as in {section}.{example}");
            return Err(SettingsError { origin, message });
        }
        let Some(default) = known.get(name) else {
            if let Some(secret) = marks::secret_of_file_key(key) {
                return self.add_secret_file(secret, key, value, origin);
            }
            let names: Vec<String> = known.keys().cloned().collect();
            let message = format!("unknown key {name:?} in [{section}]{}", suggestion(name, &names));
            return Err(SettingsError { origin, message });
        };
        let value = match (default, value) {
            (Value::Float(_), Value::Integer(whole)) => Value::Float(whole as f64),
            (_, value) => value,
        };
        if default.type_str() != value.type_str() {
            let (right, wrong) = (default.type_str(), value.type_str());
            let message =
                format!("{key} must be of type {right}, not {wrong}; write it as {}", example(default));
            return Err(SettingsError { origin, message });
        }
        if let Some(Value::Table(section)) = self.values.get_mut(section) {
            section.insert(name.to_owned(), value);
        }
        self.origins.insert(key.to_owned(), origin);
        Ok(())
    }

    /// Applies the demo settings: fixture keys are accepted, budgets are off, webhooks may have private addresses,
    /// events are kept forever, a host of repositories that cannot be reached is not tried again, and there is a
    /// sandbox. Except for fixture keys, values that a file, a variable, or a flag sets are kept, even if they are the
    /// defaults.
    pub fn apply_demo(&mut self) -> Result<(), SettingsError> {
        let budgets = BUDGET_KEYS.into_iter().map(|key| (key, Value::Integer(0)));
        let others = [
            ("repositories.attempts", Value::Integer(1)),
            ("webhooks.allow_private_addresses", Value::Boolean(true)),
            // The history of the demo is older than what a market keeps by default.
            ("events.keep_days", Value::Integer(0)),
            ("sandbox.enabled", Value::Boolean(true)),
        ];
        for (key, value) in budgets.chain(others) {
            if !self.origins.contains_key(key) {
                self.set(key, value, "--demo".to_owned())?;
            }
        }
        self.set("keys.allow_fixture_keys", true.into(), "--demo".to_owned())
    }

    /// Checks every setting that can be judged without the network, and returns the settings.
    pub fn resolve(self) -> Result<Settings, SettingsError> {
        for (key, min, max) in ranges::RANGES {
            let value = self.value(key).map_or(Ok(()), |value| ranges::check(value, min, max));
            value.map_err(|problem| self.invalid_value(key, &problem))?;
        }
        for (key, rule) in texts::RULES {
            for text in self.texts(key) {
                rule(text).map_err(|problem| self.invalid_value(key, &problem))?;
            }
        }
        let values = Value::Table(self.values.clone());
        let mut settings: Settings = serde_path_to_error::deserialize(values).map_err(|error| {
            // A value of a list belongs to the key of the list.
            let path = error.path().to_string();
            let key = path.split('[').next().unwrap_or_default();
            self.invalid_value(key, &format!("is invalid: {}", error.inner().message()))
        })?;
        if Cents::from_dollars(settings.quality.credits_per_run).is_none() {
            let value = settings.quality.credits_per_run;
            let problem = format!("must be an amount in dollars and cents, such as 4.99, but is {value}");
            return Err(self.invalid_value("quality.credits_per_run", &problem));
        }
        if let Some(Contradiction { keys, message }) = relations::find_contradiction(&settings) {
            return Err(SettingsError { origin: self.origin(keys), message });
        }
        settings.trim_urls();
        settings.origins = Arc::new(self.origins);
        Ok(settings)
    }

    /// Returns the texts of a setting: one, or those of a list.
    fn texts(&self, key: &str) -> Vec<&str> {
        match self.value(key) {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the error of a setting. In its text, `message` follows the key.
    fn invalid_value(&self, key: &str, message: &str) -> SettingsError {
        SettingsError { origin: self.origin(&[key]), message: format!("{key} {message}") }
    }

    /// Returns the origin of the first of these keys that was set.
    pub fn origin(&self, keys: &[&str]) -> String {
        let origin = keys.iter().find_map(|key| self.origins.get(*key));
        origin.map_or(COMPILED_IN, String::as_str).to_owned()
    }

    /// Takes a value of other sources, with its origin.
    pub(super) fn copy_value(&mut self, from: &SettingsSources, key: &str) {
        let Some((section, name)) = key.split_once('.') else { return };
        if let (Some(Value::Table(section)), Some(value)) = (self.values.get_mut(section), from.value(key)) {
            section.insert(name.to_owned(), value.clone());
        }
        match from.origins.get(key) {
            Some(origin) => self.origins.insert(key.to_owned(), origin.clone()),
            None => self.origins.remove(key),
        };
    }

    fn unknown_section(&self, origin: String, section: &str) -> SettingsError {
        let sections: Vec<String> = self.values.keys().cloned().collect();
        let message = if self.values.contains_key(section) {
            format!("{section} is a section; write its keys below a line [{section}]")
        } else {
            format!("unknown section [{section}]{}", suggestion(section, &sections))
        };
        SettingsError { origin, message }
    }

    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        let (section, name) = key.split_once('.')?;
        self.values.get(section)?.get(name)
    }

    /// Returns all keys as `section.name`.
    pub(super) fn keys(&self) -> Vec<String> {
        let sections = self.values.iter().filter_map(|(section, body)| Some((section, body.as_table()?)));
        sections.flat_map(|(section, body)| body.keys().map(move |key| format!("{section}.{key}"))).collect()
    }
}

/// Parses a value of a settings file. Fails with a message.
pub(super) fn parse_value(text: &str) -> Result<Value, String> {
    let table = toml::from_str::<Table>(&format!("v = {text}")).ok();
    table.and_then(|mut table| table.remove("v")).ok_or_else(|| format!("cannot parse {text}"))
}

/// Returns an example of a value with the type of a default.
fn example(default: &Value) -> String {
    match default {
        Value::Array(values) if values.is_empty() => "[\"first\", \"second\"]".to_owned(),
        other => other.to_string(),
    }
}

/// Returns a hint that suggests the known name most similar to `name`, or lists all if none is similar.
fn suggestion(name: &str, known: &[String]) -> String {
    match most_similar(name, known) {
        Some(best) => format!("; did you mean {best:?}?"),
        None => format!("; expected one of {}", known.join(", ")),
    }
}
