//! Taxonomy types that listings and assets use, too.

use poem_openapi::Object;
use serde::Serialize;

use super::UtcTime;
use crate::domain::{taxonomy::Retirement, time::Timestamp};

/// The announced retirement of an asset kind.
#[derive(Clone, Debug, Object, Serialize)]
#[oai(rename = "Deprecation")]
pub struct DeprecationOut {
    /// Time at which the retirement was announced.
    pub deprecated_at: UtcTime,
    /// Time at which the kind is retired.
    pub retires_at: UtcTime,
    /// Whether the kind is retired, that is, whether `retires_at` has passed.
    pub retired: bool,
    /// Whether assets of the kind may still be attached to listings.
    pub accepts_new_listings: bool,
    /// Advice on what to use instead.
    pub message: String,
}

impl DeprecationOut {
    /// Creates the JSON of a retirement; `now` decides whether it has taken effect.
    pub fn new(retirement: &Retirement, now: Timestamp) -> DeprecationOut {
        let deprecation = &retirement.announced;
        DeprecationOut {
            deprecated_at: deprecation.deprecated_at.into(),
            retires_at: deprecation.retires_at.into(),
            retired: retirement.is_retired(now),
            accepts_new_listings: deprecation.accepts_new_listings,
            message: deprecation.message.clone(),
        }
    }
}
