//! Settings of maintenance.

use serde::{Deserialize, Serialize};

/// Maintenance, during which teams can read everything but change nothing.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MaintenanceSettings {
    /// Whether maintenance is on for as long as the server runs.
    pub enabled: bool,
    /// Message to teams, unless an operator has written another one.
    pub text: String,
}
