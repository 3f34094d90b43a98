//! The application that servers serve, built from the settings.

use crate::{
    config::{Settings, SettingsError, SettingsSources},
    mcp, rest,
};

/// Returns the application.
pub(super) fn new_app(settings: &Settings, is_demo: bool) -> mcp::App {
    mcp::App::new(rest::App::new(settings, is_demo))
}

/// Checks the names of tools in the settings. Returns the app, which alone knows all tools, if there are such names.
pub(super) fn check_tools(
    sources: &SettingsSources,
    settings: &Settings,
    is_demo: bool,
) -> Result<Option<mcp::App>, SettingsError> {
    if settings.agents.tools.is_empty() {
        return Ok(None);
    }
    let app = new_app(settings, is_demo);
    match app.check_selected_tools(&settings.agents) {
        Ok(()) => Ok(Some(app)),
        Err(message) => Err(SettingsError { origin: sources.origin(&["agents.tools"]), message }),
    }
}
