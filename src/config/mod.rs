//! Typed settings in layers: the compiled-in `marketplace.toml`, a settings file, environment variables, and
//! command-line flags. Later layers override earlier ones.
//!
//! An error names its origin (file and line, variable, or flag), the key, and the most similar known key. The
//! compiled-in file defines every key and the type of its value, and each layer is checked against it.

mod agents;
mod listed;
mod listen;
mod ranges;
mod settings;
mod variables;
mod worlds;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use toml::{Table, Value, de::DeTable};

pub use agents::{ANSWER_BYTES, AgentSettings, SchemaDetail, TextDetail, Toolset};
pub use listed::ListedSetting;
pub use listen::parse_listen_address;
pub use settings::{
    ArchiveSettings, BlobKind, BlobSettings, BrowseGateSettings, ChildProcessSettings, ContactSettings,
    DataSettings, EventSettings, FeeSettings, IndexSettings, JobSettings, KeySettings, LimitSettings,
    LogFormat, LogSettings, PayoutSettings, QualitySettings, QuotaSettings, REPOSITORIES_OF_WORLD,
    RepositorySettings, SandboxSettings, Secret, ServerSettings, Settings, WebhookSettings,
};

/// The first layer, which defines every key.
pub const DEFAULTS: &str = include_str!("../../marketplace.toml");

/// Minimum similarity (Jaro-Winkler) of a name that is suggested for an unknown one.
const MIN_SIMILARITY: f64 = 0.7;

/// The settings that are request budgets.
const BUDGET_KEYS: [&str; 8] = [
    "limits.catalog",
    "limits.history",
    "limits.sales",
    "limits.purchases",
    "limits.quality_checks",
    "limits.uploads",
    "limits.other",
    "limits.address",
];

/// An invalid setting.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{origin}: {message}")]
pub struct SettingsError {
    /// Origin of the value: file and line, environment variable, or flag.
    pub origin: String,
    /// The key, what is wrong with it, and what is expected.
    pub message: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Layers::new().resolve().expect("the compiled-in settings are valid")
    }
}

/// A stack of settings layers, merged as they are added, with the origin of each value.
#[derive(Clone, Debug)]
pub struct Layers {
    values: Table,
    origins: BTreeMap<String, String>,
    /// Keys that a variable or a flag has set.
    set_for_process: BTreeSet<String>,
}

impl Default for Layers {
    fn default() -> Layers {
        Layers::new()
    }
}

impl Layers {
    /// Creates a stack that contains only the compiled-in layer.
    pub fn new() -> Layers {
        let values = DEFAULTS.parse().expect("the compiled-in settings are valid TOML");
        Layers { values, origins: BTreeMap::new(), set_for_process: BTreeSet::new() }
    }

    /// Adds a settings file as the top layer.
    pub fn add_file(&mut self, path: &Path, text: &str) -> Result<(), SettingsError> {
        let at = |offset: usize| {
            let line = text[..offset.min(text.len())].matches('\n').count() + 1;
            format!("{}:{line}", path.display())
        };
        let table = DeTable::parse(text).map_err(|error| SettingsError {
            origin: at(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        for (section, body) in table.get_ref() {
            let origin = at(section.span().start);
            let section_name: &str = section.get_ref();
            let known = self.values.get(section_name).is_some_and(Value::is_table);
            let Some(body) = body.get_ref().as_table().filter(|_| known) else {
                return Err(self.unknown_section(origin, section_name));
            };
            for (key, value) in body {
                let text = &text[value.span()];
                let value: Value = toml::from_str::<Table>(&format!("v = {text}"))
                    .ok()
                    .and_then(|mut table| table.remove("v"))
                    .ok_or_else(|| SettingsError {
                        origin: origin.clone(),
                        message: format!("cannot parse {text}"),
                    })?;
                let key_name = format!("{section_name}.{}", key.get_ref());
                self.set_value(&key_name, value, at(key.span().start))?;
            }
        }
        Ok(())
    }

    /// Whether a variable or a flag, and not only a settings file, has set a key.
    pub fn is_set_for_process(&self, key: &str) -> bool {
        self.set_for_process.contains(key)
    }

    /// Sets one value as the top layer, from a variable or a flag. `origin` is where it comes from, as error
    /// messages show it.
    pub fn set(&mut self, key: &str, value: Value, origin: String) -> Result<(), SettingsError> {
        self.set_value(key, value, origin)?;
        self.set_for_process.insert(key.to_owned());
        Ok(())
    }

    fn set_value(&mut self, key: &str, value: Value, origin: String) -> Result<(), SettingsError> {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        let Some(Value::Table(known)) = self.values.get(section) else {
            return Err(self.unknown_section(origin, section));
        };
        let Some(default) = known.get(name) else {
            let names: Vec<String> = known.keys().cloned().collect();
            let message = format!("unknown key {name:?} in [{section}]{}", suggestion(name, &names));
            return Err(SettingsError { origin, message });
        };
        let value = match (default, value) {
            (Value::Float(_), Value::Integer(whole)) => Value::Float(whole as f64),
            (_, value) => value,
        };
        if default.type_str() != value.type_str() {
            let message = format!("{key} must be of type {}, not {}", default.type_str(), value.type_str());
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
    /// sandbox. Except for fixture keys, whatever a file, a variable, or a flag sets is kept, also if it is the default.
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

    /// Checks types and ranges, and returns the settings.
    pub fn resolve(self) -> Result<Settings, SettingsError> {
        let values = Value::Table(self.values.clone());
        let mut settings: Settings = serde_path_to_error::deserialize(values).map_err(|error| {
            // A value of a list belongs to the key of the list.
            let path = error.path().to_string();
            let key = path.split('[').next().unwrap_or_default();
            self.invalid_value(key, &format!("is invalid: {}", error.inner().message()))
        })?;
        let url = settings.server.public_url.trim_end_matches('/').to_owned();
        if !url.is_empty() && !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(
                self.invalid_value("server.public_url", "must start with http:// or https://, or be empty")
            );
        }
        settings.server.public_url = url;
        for host in &settings.server.trusted_hosts {
            if !listen::is_host_without_port(host) {
                let problem = format!(
                    "must have host names or IP addresses without scheme and port, such as market.example, not {host:?}"
                );
                return Err(self.invalid_value("server.trusted_hosts", &problem));
            }
        }
        let (page, email) = (&settings.contact.url, &settings.contact.email);
        let is_page = |url: url::Url| ["https", "http"].contains(&url.scheme());
        if !page.is_empty() && !url::Url::parse(page).is_ok_and(is_page) {
            return Err(self.invalid_value("contact.url", "must be an http or https address, or empty"));
        }
        if !email.is_empty() && !email.contains('@') {
            return Err(self.invalid_value("contact.email", "must be an email address, or empty"));
        }
        for (key, url) in settings.repositories.urls() {
            let parsed = url::Url::parse(url).ok();
            let is_valid = parsed.is_some_and(|url| {
                ["https", "http", "file"].contains(&url.scheme())
                    && url.username().is_empty()
                    && url.password().is_none()
            });
            let is_unset = url.is_empty() && key.ends_with("_api_url");
            if !is_valid && !is_unset {
                let problem = "must start with https://, http://, or file://, without a user or password; \
                    set the token key instead";
                return Err(self.invalid_value(key, problem));
            }
        }
        for (key, value, min, max) in settings.ranges() {
            if !(min..=max).contains(&value) {
                return Err(
                    self.invalid_value(key, &format!("must be between {min} and {max}, but is {value}"))
                );
            }
        }
        Ok(settings)
    }

    fn invalid_value(&self, key: &str, message: &str) -> SettingsError {
        let origin =
            self.origins.get(key).cloned().unwrap_or_else(|| "marketplace.toml (compiled in)".to_owned());
        SettingsError { origin, message: format!("{key} {message}") }
    }

    fn unknown_section(&self, origin: String, section: &str) -> SettingsError {
        let sections: Vec<String> = self.values.keys().cloned().collect();
        SettingsError {
            origin,
            message: format!("unknown section [{section}]{}", suggestion(section, &sections)),
        }
    }

    fn value(&self, key: &str) -> Option<&Value> {
        let (section, name) = key.split_once('.')?;
        self.values.get(section)?.get(name)
    }

    /// Returns all keys as `section.name`.
    fn keys(&self) -> Vec<String> {
        let sections = self.values.iter().filter_map(|(section, body)| Some((section, body.as_table()?)));
        sections.flat_map(|(section, body)| body.keys().map(move |key| format!("{section}.{key}"))).collect()
    }
}

/// Returns the known name that is most similar to `name`, if one is similar.
fn most_similar<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let similarity = |known: &String| strsim::jaro_winkler(name, known);
    let best = known.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    (similarity(best) > MIN_SIMILARITY).then_some(best)
}

/// Returns a hint that suggests the known name most similar to `name`, or lists all if none is similar.
fn suggestion(name: &str, known: &[String]) -> String {
    match most_similar(name, known) {
        Some(best) => format!("; did you mean {best:?}?"),
        None => format!("; expected one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_from_file(text: &str) -> Result<Settings, SettingsError> {
        let mut layers = Layers::new();
        layers.add_file(Path::new("my.toml"), text)?;
        layers.resolve()
    }

    #[test]
    fn later_layers_override_earlier_ones() {
        let mut layers = Layers::new();
        layers
            .add_file(Path::new("my.toml"), "[fees]\nbuyer_percent = 3\nplatform_percent = 12.5\n")
            .unwrap();
        let variables = [
            ("MARKETPLACE_FEES_BUYER_PERCENT", "4"),
            ("MARKETPLACE_SERVER_LISTEN", "127.0.0.1:0"),
            ("MARKETPLACE_API_KEY", "secret"),
            ("PATH", "/bin"),
        ];
        layers.add_variables(variables.map(|(name, value)| (name.to_owned(), value.to_owned()))).unwrap();
        layers.set("data.folder", Value::from("elsewhere"), "--data".to_owned()).unwrap();
        let settings = layers.resolve().unwrap();
        assert!((settings.fees.buyer_percent - 4.0).abs() < 1e-9);
        assert!((settings.fees.platform_percent - 12.5).abs() < 1e-9);
        assert_eq!(settings.server.listen.port(), 0);
        assert_eq!(settings.data.folder, Path::new("elsewhere"));
    }

    #[test]
    fn errors_name_the_origin_and_the_nearest_key() {
        for (text, expected) in [
            (
                "[fees]\n\nbuyer_percnt = 1",
                "my.toml:3: unknown key \"buyer_percnt\" in [fees]; did you mean \"buyer_percent\"?",
            ),
            ("[fee]\na = 1", "my.toml:1: unknown section [fee]; did you mean \"fees\"?"),
            ("fees = 3", "my.toml:1: unknown section [fees]; did you mean \"fees\"?"),
            ("[data]\nreaders = \"two\"", "my.toml:2: data.readers must be of type integer, not string"),
            ("[data]\nreaders = 0", "my.toml:2: data.readers must be between 1 and 64, but is 0"),
            (
                "[fees]\nbuyer_percent = nan",
                "my.toml:2: fees.buyer_percent must be between 0 and 100, but is NaN",
            ),
        ] {
            assert_eq!(settings_from_file(text).unwrap_err().to_string(), expected);
        }
        assert!(settings_from_file("[fees\n").unwrap_err().to_string().starts_with("my.toml:1: "));
        assert!(
            settings_from_file("[server]\nlisten = \"nowhere\"")
                .unwrap_err()
                .to_string()
                .starts_with("my.toml:2: server.listen")
        );
        assert!(
            settings_from_file("[agents]\ntoolsets = [\"catalogue\"]").unwrap_err().to_string().starts_with(
                "my.toml:2: agents.toolsets is invalid: unknown variant `catalogue`, expected one of `all`"
            )
        );
        assert!(
            settings_from_file("[log]\nformat = \"xml\"")
                .unwrap_err()
                .to_string()
                .starts_with("my.toml:2: log.format")
        );
    }

    #[test]
    fn demo_changes_only_what_nothing_sets() {
        type Check = fn(&Settings) -> bool;
        let by_file = |layers: &mut Layers, text: &str| layers.add_file(Path::new("my.toml"), text).unwrap();
        let by_variable = |layers: &mut Layers, name: &str, text: &str| {
            layers.add_variables([(name.to_owned(), text.to_owned())]).unwrap();
        };
        let demo: [(&str, Check); 6] = [
            ("limits.other", |settings| settings.limits.other == 0 && settings.limits.address == 0),
            ("limits.catalog", |settings| settings.limits.catalog == 0),
            ("repositories.attempts", |settings| settings.repositories.attempts == 1),
            ("webhooks.allow_private_addresses", |settings| settings.webhooks.allow_private_addresses),
            ("events.keep_days", |settings| settings.events.keep_days == 0),
            ("sandbox.enabled", |settings| settings.sandbox.enabled),
        ];
        for (key, is_of_demo) in demo {
            let defaults = Layers::new();
            let default = defaults.value(key).unwrap().to_string();
            let (section, name) = key.split_once('.').unwrap();
            let unset = Layers::new();
            let (mut file, mut variable, mut flag) = (unset.clone(), unset.clone(), unset.clone());
            by_file(&mut file, &format!("[{section}]\n{name} = {default}\n"));
            by_variable(
                &mut variable,
                &format!("MARKETPLACE_{}", key.replace('.', "_").to_uppercase()),
                &default,
            );
            flag.set(key, defaults.value(key).unwrap().clone(), "--flag".to_owned()).unwrap();
            for (mut layers, is_changed) in [(unset, true), (file, false), (variable, false), (flag, false)] {
                layers.apply_demo().unwrap();
                let settings = layers.resolve().unwrap();
                assert_eq!(is_of_demo(&settings), is_changed, "{key}");
                assert!(settings.limits.in_flight > 0 && settings.keys.allow_fixture_keys);
            }
            assert!(!is_of_demo(&Settings::default()), "{key}");
        }
    }

    #[test]
    fn trusted_hosts_are_checked() {
        for (text, expected) in [
            ("[\"market.example\", \"10.0.0.7\", \"[::1]\"]", None),
            (
                "[\"shop\", \"shop:8080\"]",
                Some(
                    "my.toml:2: server.trusted_hosts must have host names or IP addresses without scheme and port, such \
                     as market.example, not \"shop:8080\"",
                ),
            ),
        ] {
            let settings = settings_from_file(&format!("[server]\ntrusted_hosts = {text}\n"));
            assert_eq!(settings.err().map(|error| error.to_string()).as_deref(), expected);
        }
    }
}
