//! Selects the settings that a reload takes from new sources: those that can change while a server runs.

use super::{marks, settings::Settings, settings_error::SettingsError, sources::SettingsSources};

/// The outcome of a reload.
#[derive(Debug)]
pub struct Reloaded {
    /// The settings to use from now on; `None` if none has changed.
    pub settings: Option<Settings>,
    /// Their sources, for the next reload.
    pub sources: SettingsSources,
    /// The keys of the settings that have changed.
    pub taken: Vec<String>,
    /// The keys of the settings that have other values in the new sources, but change only with a restart.
    pub needs_restart: Vec<String>,
}

impl SettingsSources {
    /// Takes the values of new sources that can change while a server runs. Fails if any of the new settings is
    /// invalid. `current` are the settings that `self` specifies.
    pub fn reload(&self, current: &Settings, new: SettingsSources) -> Result<Reloaded, SettingsError> {
        new.clone().resolve()?;
        let mut sources = new;
        let (mut taken, mut needs_restart) = (Vec::new(), Vec::new());
        for key in self.keys() {
            if self.value(&key) == sources.value(&key) {
                continue;
            }
            if marks::of(&key).is_reloadable {
                taken.push(key);
                continue;
            }
            sources.copy_value(self, &key);
            needs_restart.push(key);
        }
        let settings = sources.clone().resolve()?;
        // The file itself may have changed.
        let nda_key = "console.nda_file";
        if settings.console.nda_file != current.console.nda_file && !taken.iter().any(|key| key == nda_key) {
            taken.push(nda_key.to_owned());
        }
        let settings = Some(settings).filter(|_| !taken.is_empty());
        Ok(Reloaded { settings, sources, taken, needs_restart })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(values: &[(&str, toml::Value)]) -> SettingsSources {
        let mut sources = SettingsSources::new();
        for (key, value) in values {
            sources.set(key, value.clone(), "--test".to_owned()).unwrap();
        }
        sources
    }

    #[test]
    fn only_marked_settings_are_taken() {
        let (port, other_port) = (toml::Value::from("127.0.0.1:1"), toml::Value::from("127.0.0.1:2"));
        let old = sources(&[("server.listen", port.clone()), ("limits.catalog", 5.into())]);
        let current = old.clone().resolve().unwrap();
        let new = sources(&[("server.listen", other_port.clone()), ("console.banner", "Hello".into())]);
        let Reloaded { settings, sources: merged, taken, needs_restart } = old.reload(&current, new).unwrap();
        let settings = settings.unwrap();
        assert_eq!(taken, ["console.banner", "limits.catalog"]);
        assert_eq!(needs_restart, ["server.listen"]);
        assert_eq!(settings.server.listen, current.server.listen);
        assert_eq!((settings.console.banner.as_str(), settings.limits.catalog), ("Hello", 1200));
        let same = sources(&[("server.listen", other_port), ("console.banner", "Hello".into())]);
        let again = merged.reload(&settings, same).unwrap();
        assert!(again.settings.is_none() && again.taken.is_empty());
        assert_eq!(
            again.needs_restart,
            ["server.listen"],
            "it is reported until the server is started again"
        );
        let back = sources(&[("server.listen", port), ("console.banner", "Hello".into())]);
        assert!(again.sources.reload(&settings, back).unwrap().needs_restart.is_empty());
    }

    #[test]
    fn invalid_settings_are_refused_also_if_they_need_a_restart() {
        let old = SettingsSources::new();
        let current = Settings::default();
        let new = sources(&[("limits.catalog", 5.into()), ("data.readers", 1000.into())]);
        let error = old.reload(&current, new).unwrap_err();
        assert_eq!(error.to_string(), "--test: data.readers must be between 0 and 64, but is 1000");
        // The new settings are valid by themselves, but not together with the settings that need a restart.
        let new = sources(&[("limits.memory_mb", 16.into()), ("server.max_body_bytes", 1024.into())]);
        let error = old.reload(&current, new).unwrap_err();
        assert!(error.message.starts_with("server.max_body_bytes is 16777216, but"), "{error}");
    }
}
