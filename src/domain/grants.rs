//! Upload grants, and when they can be used.

use super::{
    assets::Exclusivity,
    row_ids::{GrantRowId, GroupRowId},
    teams::TeamRowId,
    time::Timestamp,
};

/// Lifetime of an upload grant in hours.
pub const GRANT_HOURS: i64 = 24;

/// A grant that allows a team to create one codebase from one upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Row ID of the grant.
    pub row_id: GrantRowId,
    /// Row ID of the team.
    pub team: TeamRowId,
    /// Title of the codebase to create.
    pub title: String,
    /// Exclusivity of the codebase to create.
    pub exclusivity: Exclusivity,
    /// Row ID of the group for the codebase; `None` for the default group.
    pub group_row_id: Option<GroupRowId>,
    /// Maximum size of the upload in bytes.
    pub max_bytes: u64,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of expiry.
    pub expires_at: Timestamp,
    /// Time of revocation; `None` if not revoked.
    pub revoked_at: Option<Timestamp>,
    /// Time of use; `None` if not used.
    pub consumed_at: Option<Timestamp>,
}

/// The state of an upload grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// The grant can be used.
    Open,
    /// The grant has expired or was revoked.
    Expired,
    /// The grant was used.
    Consumed,
}

impl Grant {
    /// Returns the state at the time `now`.
    pub fn state(&self, now: Timestamp) -> GrantState {
        match (self.consumed_at, self.revoked_at) {
            (Some(_), _) => GrantState::Consumed,
            (None, Some(_)) => GrantState::Expired,
            (None, None) if self.expires_at <= now => GrantState::Expired,
            (None, None) => GrantState::Open,
        }
    }
}
