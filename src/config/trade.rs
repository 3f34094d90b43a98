//! The settings of trade: access to the catalog, fees, and time limits of deals.

use serde::{Deserialize, Serialize};

/// When a team with only the vendor role may browse the catalog.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BrowseGateSettings {
    /// Number of published listings that the team needs.
    pub required_published: u64,
}

/// Prices of quality runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QualitySettings {
    /// Credits that a quality run costs, in US dollars.
    pub credits_per_run: f64,
}

/// Fees on sales.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FeeSettings {
    /// Fee that the buyer pays on top of the price, in percent of the price.
    pub buyer_percent: f64,
    /// Fee that the platform deducts from the vendor's proceeds, in percent.
    pub platform_percent: f64,
}

/// How long buyers' offers stand.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OfferSettings {
    /// Days after its submission until an offer expires.
    pub expire_days: u32,
}

/// How long purchases can be paid and refunded.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PurchaseSettings {
    /// Days after its creation until a purchase that is not paid is canceled.
    pub pending_days: u32,
    /// Days after its completion in which a purchase can be refunded.
    pub refund_days: u32,
}

/// When earnings become available.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PayoutSettings {
    /// Days until earnings become available.
    pub hold_days: u32,
    /// Days after a change of how a team is paid in which the team cannot request withdrawals.
    pub change_delay_days: u32,
}
