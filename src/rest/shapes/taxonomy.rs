//! Shapes of the taxonomy that listings use, too.

use poem_openapi::Object;
use serde::Serialize;

use super::UtcTime;
use crate::domain::{taxonomy::Deprecation, time::Timestamp};

/// The announced retirement of an asset kind.
#[derive(Clone, Debug, Object, Serialize)]
#[oai(rename = "Deprecation")]
pub struct DeprecationOut {
    /// When the retirement was announced.
    pub deprecated_at: UtcTime,
    /// When the kind is retired.
    pub retires_at: UtcTime,
    /// Whether that day has come.
    pub retired: bool,
    /// Whether listings may still take on assets of the kind.
    pub accepts_new_listings: bool,
    /// What to do instead.
    pub message: String,
}

impl DeprecationOut {
    /// The retirement as it stands at `now`.
    pub fn of(deprecation: &Deprecation, now: Timestamp) -> DeprecationOut {
        DeprecationOut {
            deprecated_at: deprecation.deprecated_at.into(),
            retires_at: deprecation.retires_at.into(),
            retired: deprecation.is_retired(now),
            accepts_new_listings: deprecation.accepts_new_listings,
            message: deprecation.message.clone(),
        }
    }
}
