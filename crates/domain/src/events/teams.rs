//! The data of events about teams.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    teams::{Role, Team},
    time::Timestamp,
};

/// A team after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TeamData {
    /// ID of the team.
    pub team_id: Uuid,
    /// Name of the team.
    pub name: String,
    /// Marketplace roles of the team.
    pub roles: Vec<Role>,
    /// Seller tier, 1 to 3.
    pub tier: u8,
    /// Time at which the team accepted the mutual NDA; `null` if it has not.
    #[schemars(with = "Option<String>")]
    pub nda_accepted_at: Option<Timestamp>,
    /// URL of the avatar image; `null` if there is none.
    pub avatar_url: Option<String>,
}

impl From<&Team> for TeamData {
    fn from(team: &Team) -> TeamData {
        TeamData {
            team_id: team.id,
            name: team.name.clone(),
            roles: team.roles(),
            tier: team.tier,
            nda_accepted_at: team.nda_accepted_at,
            avatar_url: team.avatar_url.clone(),
        }
    }
}

/// A team whose payout setup changed. The text is not part of the event, since only operators read it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TeamPayoutSetupData {
    /// ID of the team.
    pub team_id: Uuid,
    /// Whether the team has a payout setup now.
    pub is_set: bool,
}

/// A team that was closed, with what that ended. What ended has events of its own.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TeamClosedData {
    /// ID of the team.
    pub team_id: Uuid,
    /// Number of pending purchases that were canceled: its own, and those of its listings.
    pub cancelled_purchases: u64,
    /// Number of its pending purchases of credits that were canceled.
    pub cancelled_credit_purchases: u64,
    /// Number of its offers that were withdrawn. The offers on its listings are declined with the listings.
    pub withdrawn_offers: u64,
    /// Number of its project bids that were withdrawn.
    pub withdrawn_bids: u64,
    /// Number of bids on its project opportunities that were declined.
    pub declined_bids: u64,
    /// Number of its opportunities that ended: published ones were canceled, drafts closed.
    pub ended_opportunities: u64,
    /// Number of its listings that were archived.
    pub archived_listings: u64,
    /// Number of its API keys that were revoked.
    pub revoked_keys: u64,
    /// Number of its upload grants that were revoked.
    pub revoked_grants: u64,
    /// Number of webhooks that were disabled.
    pub disabled_webhooks: u64,
}
