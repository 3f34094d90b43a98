//! Upload grants, and when they can be used.

use uuid::Uuid;

use super::{
    assets::Exclusivity,
    row_ids::{GrantRowId, GroupRowId},
    state_machine::state_machine,
    teams::TeamRowId,
    time::Timestamp,
};
use crate::string_enum::string_enum;

/// Lifetime of an upload grant in hours.
pub const GRANT_HOURS: i64 = 24;

/// A grant that allows a team to create one codebase from one upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Row ID of the grant.
    pub row_id: GrantRowId,
    /// ID of the grant. It is not secret.
    pub id: Uuid,
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
    /// Time of expiry, once the step has recorded it. The grant stays expired if the clock jumps back.
    pub expired_at: Option<Timestamp>,
}

string_enum! {
    /// The state of an upload grant.
    GrantState {
        /// The grant can be used.
        Open = "open",
        /// Its time of expiry has passed.
        Expired = "expired",
        /// It was revoked.
        Revoked = "revoked",
        /// It was used.
        Consumed = "consumed",
    }
}

string_enum! {
    /// An operation on an upload grant that exists.
    GrantOperation {
        /// Uses the grant: its upload becomes a codebase.
        Consume = "consume",
        /// Ends the grant at its time of expiry. Only a due step does this.
        Expire = "expire",
        /// Ends the grant at once.
        Revoke = "revoke",
    }
}

state_machine! {
    /// What has ended stays as it is.
    GrantState by GrantOperation, not requested: Expire;
    Open: Consume => Consumed, Expire => Expired, Revoke => Revoked;
}

impl Grant {
    /// Returns the state at the time `now`.
    pub fn state(&self, now: Timestamp) -> GrantState {
        match self.state_until_expiry() {
            GrantState::Open if self.expires_at <= now => GrantState::Expired,
            state => state,
        }
    }

    /// Returns the state of the grant until its step records that it has expired.
    pub const fn state_until_expiry(&self) -> GrantState {
        match (self.consumed_at, self.revoked_at, self.expired_at) {
            (Some(_), _, _) => GrantState::Consumed,
            (None, Some(_), _) => GrantState::Revoked,
            (None, None, Some(_)) => GrantState::Expired,
            (None, None, None) => GrantState::Open,
        }
    }
}
