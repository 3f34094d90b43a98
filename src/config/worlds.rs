//! The settings of worlds: those of the server, with rules of the market that each world may have for itself.

use toml::Value;

use super::{
    listed::ListedSetting,
    repositories::REPOSITORIES_OF_WORLD,
    settings::Settings,
    settings_error::SettingsError,
    sources::{BUDGET_KEYS, SettingsSources},
};

/// Sections that a world may set: rules of a market, but not settings of the server or its process.
const SECTIONS: [&str; 9] =
    ["browse_gate", "estimations", "events", "fees", "offers", "payouts", "purchases", "quality", "quotas"];

/// Other settings that a world may set, besides the budgets.
const KEYS: [&str; 2] = ["keys.rotation_overlap_hours", "webhooks.max_endpoints"];

/// The settings of where Git hosts are.
const HOST_KEYS: [&str; 3] =
    ["repositories.github_url", "repositories.gitlab_url", "repositories.bitbucket_url"];

impl SettingsSources {
    /// Returns the initial settings of worlds: the settings of this server and of the demo, but without budgets. Public Git
    /// hosts are replaced by the repositories of each world, so worlds need no network. Other hosts in the server's settings
    /// stay.
    pub fn for_worlds(&self) -> Result<SettingsSources, SettingsError> {
        let mut sources = self.clone();
        sources.apply_demo()?;
        for key in BUDGET_KEYS {
            sources.set(key, Value::Integer(0), "worlds".to_owned())?;
        }
        // A world is switched by its own operators.
        sources.set("maintenance.enabled", Value::Boolean(false), "worlds".to_owned())?;
        let defaults = SettingsSources::new();
        for key in HOST_KEYS {
            if self.value(key) == defaults.value(key) {
                sources.set(key, REPOSITORIES_OF_WORLD.into(), "worlds".to_owned())?;
            }
        }
        Ok(sources)
    }

    /// Returns the settings of a world that differ from the initial settings of worlds, by key. Only includes settings that a
    /// world may set.
    pub fn changes_for_world(
        &self,
        settings: &Settings,
    ) -> Result<Vec<(String, serde_json::Value)>, SettingsError> {
        let usual = self.for_worlds()?;
        let begin = usual.clone().resolve()?.list();
        let mut changes = Vec::new();
        for (setting, usual_setting) in settings.list().into_iter().zip(begin) {
            let value = Value::try_from(&setting.value).ok().filter(|_| setting.value != usual_setting.value);
            let Some(value) = value else { continue };
            if usual.clone().set_for_world(&setting.key, value).is_ok() {
                changes.push((setting.key, setting.value));
            }
        }
        Ok(changes)
    }

    /// Sets a setting of a world. Fails if worlds may not have their own value of it. The origin in errors is the key.
    pub fn set_for_world(&mut self, key: &str, value: Value) -> Result<(), SettingsError> {
        if self.value(key).is_some() && !is_of_world(key) {
            let message = format!("{key} is a setting of the server, which worlds share");
            return Err(SettingsError { origin: key.to_owned(), message });
        }
        self.set(key, value, key.to_owned())
    }
}

/// Whether a world may have its own value of a setting.
fn is_of_world(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    SECTIONS.contains(&section) || BUDGET_KEYS.contains(&key) || KEYS.contains(&key)
}

impl Settings {
    /// Returns the settings that each world can set for itself, ordered by key. The other settings belong to the server, and differ
    /// between servers.
    pub fn list_of_world(&self) -> Vec<ListedSetting> {
        self.list().into_iter().filter(|setting| is_of_world(&setting.key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_differ_from_the_usual_ones_are_known() {
        let mut world = SettingsSources::new().for_worlds().unwrap();
        for (key, value) in [("fees.buyer_percent", Value::Integer(2)), ("limits.other", Value::Integer(60))]
        {
            world.set_for_world(key, value).unwrap();
        }
        let settings = world.resolve().unwrap();
        let changes = SettingsSources::new().changes_for_world(&settings).unwrap();
        let expected = [("fees.buyer_percent", 2.0.into()), ("limits.other", 60.into())];
        assert_eq!(changes, expected.map(|(key, value)| (key.to_owned(), value)));
    }

    #[test]
    fn world_sets_rules_of_its_market_and_nothing_of_the_server() {
        let mut server = SettingsSources::new();
        server.set("limits.catalog", 7.into(), "--flag".to_owned()).unwrap();
        server.set("offers.expire_days", 9.into(), "--flag".to_owned()).unwrap();
        server.set("repositories.gitlab_url", "file:///srv".into(), "--flag".to_owned()).unwrap();
        let mut world = server.for_worlds().unwrap();
        for (key, value) in [("fees.buyer_percent", Value::Integer(2)), ("limits.other", Value::Integer(60))]
        {
            world.set_for_world(key, value).unwrap();
        }
        for (key, expected) in [
            ("data.readers", "data.readers is a setting of the server, which worlds share"),
            ("limits.in_flight", "limits.in_flight is a setting of the server, which worlds share"),
            ("fees.buyer", "unknown key \"buyer\" in [fees]; did you mean \"buyer_percent\"?"),
        ] {
            let error = world.set_for_world(key, Value::Integer(1)).unwrap_err();
            assert_eq!((error.origin.as_str(), error.message.as_str()), (key, expected));
        }
        let settings = world.resolve().unwrap();
        assert_eq!((settings.limits.catalog, settings.limits.other, settings.limits.address), (0, 60, 0));
        assert!((settings.fees.buyer_percent - 2.0).abs() < f64::EPSILON && settings.keys.allow_fixture_keys);
        assert_eq!(
            (settings.repositories.github_url.as_str(), settings.repositories.gitlab_url.as_str()),
            (REPOSITORIES_OF_WORLD, "file:///srv"),
            "only the public hosts are replaced"
        );
        assert_eq!(
            settings.offers.expire_days, 9,
            "the server's own rules apply unless the world has others"
        );
    }
}
