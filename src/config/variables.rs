//! Settings in environment variables.

use toml::{Table, Value};

use super::{Layers, SettingsError};

/// Prefix of environment variables that are settings.
const VARIABLE_PREFIX: &str = "MARKETPLACE_";

/// Names of environment variables, without the prefix, that are not settings, but used in other ways.
const RESERVED_NAMES: [&str; 3] = ["API_KEY", "OPERATOR_KEY", "OPERATOR_URL"];

/// Minimum similarity (share of equal letters) of a name that is suggested for an unknown variable. It is strict, since
/// the variable may belong to another program.
const MIN_SIMILARITY: f64 = 0.7;

impl Layers {
    /// Adds environment variables as the top layer. Only those with the prefix `MARKETPLACE_` are used. Returns a
    /// warning for each of these that is neither a setting nor otherwise known, since it may be misspelled. It is
    /// no error, since other programs may use the prefix, too.
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
        let mut warnings = Vec::new();
        for (name, text) in ours {
            let known = self.keys().into_iter().find(|key| unprefixed_variable(key) == name);
            let Some(key) = known else {
                if !is_set_by_platform(&name) {
                    warnings.push(self.unknown_variable(&name));
                }
                continue;
            };
            let value = match self.value(&key) {
                Some(Value::String(_)) => Value::String(text),
                _ => toml::from_str::<Table>(&format!("v = {text}"))
                    .ok()
                    .and_then(|mut table| table.remove("v"))
                    .unwrap_or(Value::String(text)),
            };
            self.set(&key, value, format!("{VARIABLE_PREFIX}{name}"))?;
        }
        Ok(warnings)
    }

    /// Returns the warning about a variable that is no setting.
    fn unknown_variable(&self, name: &str) -> String {
        // All names have the same prefix, which would make any two of them similar.
        let names = self.keys().into_iter().map(|key| unprefixed_variable(&key));
        let hint = names
            .map(|known| (strsim::normalized_damerau_levenshtein(name, &known), known))
            .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, best)| format!("; did you mean {VARIABLE_PREFIX}{best}?"))
            .unwrap_or_default();
        format!("{VARIABLE_PREFIX}{name} is not a setting, so it is ignored{hint}")
    }
}

/// Returns the name of the environment variable of a setting, without the prefix.
fn unprefixed_variable(key: &str) -> String {
    key.replace('.', "_").to_uppercase()
}

/// Whether container platforms set a variable with this name (without the prefix) for a service whose name begins
/// with `marketplace`: its host and ports.
fn is_set_by_platform(name: &str) -> bool {
    let is_host = name == "SERVICE_HOST" || name.ends_with("_SERVICE_HOST");
    is_host || format!("_{name}_").contains("_PORT_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_variables_are_reported_and_ignored() {
        let warnings = |names: &[&str]| {
            let variables = names.iter().map(|name| ((*name).to_owned(), "x".to_owned()));
            Layers::new().add_variables(variables).unwrap()
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
        // What a container platform sets for services named marketplace and marketplace-web.
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
        let reserved = ["MARKETPLACE_API_KEY", "MARKETPLACE_OPERATOR_KEY", "MARKETPLACE_OPERATOR_URL"];
        assert!(warnings(&platform).is_empty() && warnings(&reserved).is_empty());
    }

    #[test]
    fn platform_variables_are_no_settings() {
        for key in Layers::new().keys() {
            assert!(!is_set_by_platform(&unprefixed_variable(&key)), "{key}");
        }
    }
}
