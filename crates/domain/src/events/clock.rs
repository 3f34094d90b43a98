//! The data of events about the clock of a world.

use schemars::JsonSchema;
use serde::Serialize;

use crate::time::Timestamp;

/// An advance of the clock, which carried out everything that was due on the way.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ClockAdvancedData {
    /// Time before the advance.
    #[schemars(with = "String")]
    pub from: Timestamp,
    /// Time after it.
    #[schemars(with = "String")]
    pub to: Timestamp,
    /// Number of due steps that were carried out, such as the expiry of an offer.
    pub steps: u64,
    /// Number of attempts of background jobs.
    pub jobs: u64,
    /// Number of attempts to deliver an event to a webhook.
    pub deliveries: u64,
}
