//! The list of settings for operators, without secrets.

use serde_json::Value;

use super::{marks, secret::MASK, settings::Settings};

/// A setting, without secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedSetting {
    /// Key of the setting, such as `server.listen`.
    pub key: String,
    /// Value that is used. Secrets are masked.
    pub value: Value,
    /// Value that is used if no other was set.
    pub default: Value,
    /// Where the value comes from: a file with the line, a variable, or a flag; `None` if it is compiled in.
    pub origin: Option<String>,
    /// Whether a change takes effect with a reload. Otherwise, the server must be restarted.
    pub is_reloadable: bool,
}

impl Settings {
    /// Returns all settings, in the order of their keys. Secrets are masked, also those in URLs.
    pub fn list(&self) -> Vec<ListedSetting> {
        let defaults = flatten(&Settings::default());
        let values = flatten(self).into_iter().zip(defaults);
        let listed = values.map(|((key, value), (_, default))| {
            let origin = self.origins.get(&key).cloned();
            ListedSetting { is_reloadable: marks::of(&key).is_reloadable, key, value, default, origin }
        });
        listed.collect()
    }
}

/// Returns the keys and values of settings. Sections are objects; their values are not.
fn flatten(settings: &Settings) -> Vec<(String, Value)> {
    let Ok(Value::Object(sections)) = serde_json::to_value(settings) else { return Vec::new() };
    let mut listed = Vec::new();
    for (section, values) in sections {
        let Value::Object(values) = values else { continue };
        for (name, mut value) in values {
            mask_urls(&mut value);
            listed.push((format!("{section}.{name}"), value));
        }
    }
    listed.sort_by(|(a, _), (b, _)| a.cmp(b));
    listed
}

/// Masks the credentials and the query of each URL in a value.
fn mask_urls(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(masked) = mask_url(text) {
                *text = masked;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(mask_urls),
        _ => {}
    }
}

/// Returns a URL without its credentials, its query, and its fragment. `None` if there is nothing to mask.
fn mask_url(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let (address, has_query) = match rest.find(['?', '#']) {
        Some(end) => (&rest[..end], true),
        None => (rest, false),
    };
    // The last `@` before the path ends the credentials, which may contain others.
    let (authority, path) = address.split_at(address.find('/').unwrap_or(address.len()));
    let (credentials, host) = match authority.rsplit_once('@') {
        Some((_, host)) => (format!("{MASK}@"), host),
        None => (String::new(), authority),
    };
    let query = if has_query { format!("?{MASK}") } else { String::new() };
    let masked = format!("{scheme}://{credentials}{host}{path}{query}");
    (masked != text).then_some(masked)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::SettingsSources;

    /// The settings that hold secrets, and those that can hold credentials in a URL.
    const SECRETS: [&str; 5] = [
        "backups.secret_access_key",
        "blobs.secret_access_key",
        "repositories.github_token",
        "repositories.gitlab_token",
        "repositories.bitbucket_token",
    ];

    /// Plants a secret in every text of the settings: as the text itself for secret settings, and otherwise in
    /// the credentials and the query of a URL.
    #[test]
    fn no_setting_reveals_a_secret() {
        const PLANTED: &str = "planted-secret";
        let url = format!("https://user:{PLANTED}@host.test/path?token={PLANTED}#{PLANTED}");
        let defaults: toml::Table = crate::config::DEFAULTS.parse().unwrap();
        let mut planted = 0;
        for (section, values) in &defaults {
            for (name, value) in values.as_table().unwrap() {
                let key = format!("{section}.{name}");
                let text = match value {
                    toml::Value::String(_) if SECRETS.contains(&key.as_str()) => json!(PLANTED),
                    toml::Value::String(_) => json!(url),
                    toml::Value::Array(_) => json!([url]),
                    _ => continue,
                };
                let mut changed = serde_json::to_value(&defaults).unwrap();
                changed[section][name] = text;
                // Settings such as addresses and enums take no URL.
                let Ok(settings) = serde_json::from_value::<Settings>(changed) else { continue };
                planted += 1;
                let listed = settings.list();
                let found = listed.iter().find(|setting| setting.key == key).unwrap();
                assert!(found.value.to_string().contains(MASK), "{found:?}");
                assert!(!format!("{listed:?}").contains(PLANTED), "{key}");
            }
        }
        assert!(planted > 15, "{planted} settings can hold texts");
    }

    #[test]
    fn every_setting_is_listed_with_its_value_and_default() {
        let mut settings = SettingsSources::new().resolve().unwrap();
        settings.quotas.assets = 7;
        let listed = settings.list();
        let defaults: toml::Table = crate::config::DEFAULTS.parse().unwrap();
        let count: usize = defaults.values().map(|section| section.as_table().unwrap().len()).sum();
        assert_eq!(listed.len(), count);
        let assets = listed.iter().find(|setting| setting.key == "quotas.assets").unwrap();
        assert_eq!(assets.value, json!(7));
        assert_eq!(assets.default, json!(Settings::default().quotas.assets));
        assert_eq!(mask_url("https://a.test/b@c"), None, "an `@` in the path is no secret");
    }

    #[test]
    fn origin_of_a_value_is_listed() {
        let mut sources = SettingsSources::new();
        sources.set("quotas.assets", toml::Value::Integer(7), "--quota".to_owned()).unwrap();
        let listed = sources.resolve().unwrap().list();
        let origin = |key: &str| listed.iter().find(|setting| setting.key == key).unwrap().origin.as_deref();
        assert_eq!((origin("quotas.assets"), origin("fees.buyer_percent")), (Some("--quota"), None));
    }
}
