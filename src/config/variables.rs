//! Settings in environment variables.

use toml::Value;

use super::{
    marks,
    settings_error::SettingsError,
    sources::{SettingsSources, parse_value},
};

/// Prefix of environment variables that are settings.
pub const VARIABLE_PREFIX: &str = "MARKETPLACE_";

/// Names of environment variables, without the prefix, that are not settings, but used in other ways.
/// `BIN` is the program that the helpers for tests start.
const RESERVED_NAMES: [&str; 6] =
    ["API_KEY", "API_KEY_FILE", "BIN", "OPERATOR_KEY", "OPERATOR_KEY_FILE", "OPERATOR_URL"];

/// Common names in other programs for a setting, and its variable here; all without the prefix.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("SERVER_PORT", "SERVER_LISTEN"),
    ("SERVER_HOST", "SERVER_LISTEN"),
    ("SERVER_ADDRESS", "SERVER_LISTEN"),
    ("SERVER_BIND", "SERVER_LISTEN"),
    ("LISTEN", "SERVER_LISTEN"),
    ("HOST", "SERVER_LISTEN"),
];

/// Minimum similarity (share of equal letters) of a name that is suggested for an unknown variable. It is strict, since
/// the variable may belong to another program.
const MIN_SIMILARITY: f64 = 0.7;

impl SettingsSources {
    /// Adds environment variables as the top layer. Only those with the prefix `MARKETPLACE_` are used. Returns a warning for
    /// each of these that is neither a setting nor otherwise known, since it may be misspelled. This is not an error, since
    /// other programs may use the prefix, too.
    pub fn add_variables(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Vec<String>, SettingsError> {
        let mut ours: Vec<(String, String)> = variables
            .into_iter()
            .filter_map(|(name, text)| Some((name.strip_prefix(VARIABLE_PREFIX)?.to_owned(), text)))
            .filter(|(name, _)| !RESERVED_NAMES.contains(&name.as_str()))
            .collect();
        ours.sort();
        let services = PlatformServices::new(ours.iter().map(|(name, _)| name.as_str()));
        let mut warnings = Vec::new();
        for (name, text) in ours {
            let known = self.keys_with_files().find(|key| unprefixed_variable(key) == name);
            let Some(key) = known else {
                if !services.have_variable(&name) {
                    warnings.push(self.unknown_variable(&name));
                }
                continue;
            };
            let value = match self.value(&key) {
                Some(Value::String(_)) | None => Value::String(text),
                _ => parse_value(&text).unwrap_or(Value::String(text)),
            };
            let stated = self.origins.get(&key).cloned().zip(self.value(&key).cloned());
            self.set(&key, value, format!("{VARIABLE_PREFIX}{name}"))?;
            if let Some((origin, stated)) = stated
                && self.value(&key) != Some(&stated)
            {
                self.overrides.push(format!("{VARIABLE_PREFIX}{name} overrides {key} of {origin}"));
            }
        }
        Ok(warnings)
    }

    /// Returns all keys, including those that name the files of secrets.
    fn keys_with_files(&self) -> impl Iterator<Item = String> {
        self.keys().into_iter().chain(marks::secrets().map(|key| format!("{key}_file")))
    }

    /// Returns the warning about a variable that is not a setting.
    fn unknown_variable(&self, name: &str) -> String {
        // The common prefix is ignored: it would make any two names similar.
        let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        let names = self.keys_with_files().map(|key| unprefixed_variable(&key));
        let hint = names
            .map(|known| (strsim::normalized_damerau_levenshtein(name, &known), known))
            .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, best)| best)
            .or_else(|| other.map(|(_, setting)| (*setting).to_owned()))
            .map(|best| format!("; did you mean {VARIABLE_PREFIX}{best}?"))
            .unwrap_or_default();
        format!("{VARIABLE_PREFIX}{name} is not a setting, so it is ignored{hint}")
    }
}

/// Returns the name of the environment variable of a setting, without the prefix.
fn unprefixed_variable(key: &str) -> String {
    key.replace('.', "_").to_uppercase()
}

/// The services for which a container platform set variables: their hosts and ports. One is named
/// `marketplace`; the variables of services whose names begin with `marketplace-` have the same prefix.
struct PlatformServices {
    /// The rest of each name after `marketplace`, as part of a variable: empty, or with `_` at its end.
    names: Vec<String>,
}

impl PlatformServices {
    /// Finds the services in names of variables without their prefix. Platforms set `<NAME>_SERVICE_HOST` for
    /// each.
    fn new<'a>(variables: impl Iterator<Item = &'a str>) -> PlatformServices {
        let hosts = variables.filter_map(|name| name.strip_suffix("SERVICE_HOST"));
        let others = hosts.filter(|service| service.len() > 1 && service.ends_with('_')).map(str::to_owned);
        PlatformServices { names: std::iter::once(String::new()).chain(others).collect() }
    }

    /// Returns whether a platform sets a variable with this name, without the prefix, for one of the
    /// services.
    fn have_variable(&self, name: &str) -> bool {
        self.names.iter().filter_map(|service| name.strip_prefix(service.as_str())).any(|rest| {
            matches!(rest, "SERVICE_HOST" | "SERVICE_PORT" | "PORT")
                || rest.starts_with("SERVICE_PORT_")
                || rest.starts_with("PORT_")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_variables_are_reported_and_ignored() {
        let warnings = |names: &[&str]| {
            let variables = names.iter().map(|name| ((*name).to_owned(), "x".to_owned()));
            SettingsSources::new().add_variables(variables).unwrap()
        };
        assert_eq!(
            warnings(&[
                "MARKETPLACE_SERVER_LISTE",
                "MARKETPLACE_DATABASE_URL",
                "MARKETPLACE_XYZ",
                "MARKETPLACEX"
            ]),
            [
                "MARKETPLACE_DATABASE_URL is not a setting, so it is ignored",
                "MARKETPLACE_SERVER_LISTE is not a setting, so it is ignored; did you mean MARKETPLACE_SERVER_LISTEN?",
                "MARKETPLACE_XYZ is not a setting, so it is ignored",
            ]
        );
        // The names of services decide: without a service `marketplace-server`, this one is meant for the
        // server.
        assert_eq!(
            warnings(&["MARKETPLACE_SERVER_PORT", "MARKETPLACE_SERVER_SERVICE_PORT", "MARKETPLACE_IMPORT"]),
            [
                "MARKETPLACE_IMPORT is not a setting, so it is ignored",
                "MARKETPLACE_SERVER_PORT is not a setting, so it is ignored; did you mean MARKETPLACE_SERVER_LISTEN?",
                "MARKETPLACE_SERVER_SERVICE_PORT is not a setting, so it is ignored",
            ]
        );
        let server =
            ["MARKETPLACE_SERVER_SERVICE_HOST", "MARKETPLACE_SERVER_PORT", "MARKETPLACE_SERVER_PORT_80_TCP"];
        assert!(warnings(&server).is_empty());
        // Variables that a container platform sets for services named marketplace and marketplace-web.
        let platform = [
            "MARKETPLACE_SERVICE_HOST",
            "MARKETPLACE_SERVICE_PORT",
            "MARKETPLACE_SERVICE_PORT_HTTP",
            "MARKETPLACE_PORT",
            "MARKETPLACE_PORT_8080_TCP",
            "MARKETPLACE_PORT_8080_TCP_ADDR",
            "MARKETPLACE_WEB_SERVICE_HOST",
            "MARKETPLACE_WEB_PORT_80_TCP_PROTO",
        ];
        let reserved = [
            "MARKETPLACE_API_KEY",
            "MARKETPLACE_BIN",
            "MARKETPLACE_OPERATOR_KEY",
            "MARKETPLACE_OPERATOR_URL",
        ];
        assert!(warnings(&platform).is_empty() && warnings(&reserved).is_empty());
    }

    #[test]
    fn platform_variables_are_no_settings() {
        let services = PlatformServices::new(std::iter::empty());
        for key in SettingsSources::new().keys() {
            assert!(!services.have_variable(&unprefixed_variable(&key)), "{key}");
        }
    }

    #[test]
    fn other_names_are_no_settings_and_suggest_one() {
        let known: Vec<String> =
            SettingsSources::new().keys().iter().map(|key| unprefixed_variable(key)).collect();
        for (other, setting) in OTHER_NAMES {
            assert!(
                known.iter().any(|name| name == setting) && !known.iter().any(|name| name == other),
                "{other}"
            );
        }
    }
}
