//! Settings of maintenance.

use serde::{Deserialize, Serialize};

/// Maintenance, during which teams read and change nothing.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MaintenanceSettings {
    /// Whether maintenance lasts as long as the server runs.
    pub enabled: bool,
    /// What teams read, unless the operator writes something else.
    pub text: String,
}
