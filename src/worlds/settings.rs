//! The settings of worlds.

use std::{collections::BTreeMap, sync::Arc};

use toml::Value;

use crate::{
    config::{Settings, SettingsError, SettingsSources},
    domain::problems::Problems,
    error::{Error, Problem, Result},
    request_problems::ProblemsExt,
};

/// The settings of a world that differ from those of the server, in the order of their keys.
pub type GivenSettings = Arc<[(String, Value)]>;

/// The settings of a world.
#[derive(Clone, Debug)]
pub(super) struct WorldSettings {
    /// The given settings.
    pub given: GivenSettings,
    /// All of them.
    pub resolved: Settings,
}

impl WorldSettings {
    /// Returns the settings of the server with given ones on top. Problems are located in `settings` of the body.
    pub(super) fn resolve(sources: &SettingsSources, given: GivenSettings) -> Result<WorldSettings> {
        let mut sources = sources.clone();
        let mut problems = Problems::default();
        let problem = |SettingsError { origin, message }| {
            let end = if message.ends_with('?') { "" } else { "." };
            Problem::body(&["settings", &origin], "value_error", format!("{message}{end}"))
        };
        for (key, value) in given.iter() {
            if let Err(error) = sources.set_for_world(key, value.clone()) {
                problems.push(problem(error));
            }
        }
        problems.into_result()?;
        let resolved = sources.resolve().map_err(|error| Error::invalid(problem(error)))?;
        Ok(WorldSettings { given, resolved })
    }
}

/// Returns settings with others on top, in the order of their keys.
pub(super) fn merge(settings: &[(String, Value)], others: &[(String, Value)]) -> GivenSettings {
    let all = settings.iter().chain(others).cloned();
    all.collect::<BTreeMap<_, _>>().into_iter().collect()
}
