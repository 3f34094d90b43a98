//! The lifecycle of an API key as a pure state machine: what each operation does in each status, or that the
//! status refuses it.

use uuid::Uuid;

use super::{
    principals::KeyScope, row_ids::KeyRowId, state_machine::state_machine, teams::TeamRowId, time::Timestamp,
};
use crate::string_enum::string_enum;

string_enum! {
    /// The status of an API key.
    KeyStatus {
        /// The key is valid.
        Active = "active",
        /// Another key has replaced it. It is valid until it expires.
        Rotated = "rotated",
        /// Its time of expiry has passed.
        Expired = "expired",
        /// It was revoked.
        Revoked = "revoked",
    }
}

string_enum! {
    /// What an API key of a team permits.
    TeamKeyScope {
        /// What programs and agents do: requests to the APIs and to the agent server.
        Api = "api",
        /// What people do: signing in to the console.
        Console = "console",
        /// Both.
        All = "all",
    }
}

impl KeyStatus {
    /// Whether requests can be made with the key.
    pub const fn is_valid(self) -> bool {
        matches!(self, KeyStatus::Active | KeyStatus::Rotated)
    }
}

impl TeamKeyScope {
    /// Whether the APIs and the agent server accept the key.
    pub const fn permits_api(self) -> bool {
        matches!(self, TeamKeyScope::Api | TeamKeyScope::All)
    }

    /// Whether a person can sign in to the console with the key.
    pub const fn permits_console(self) -> bool {
        matches!(self, TeamKeyScope::Console | TeamKeyScope::All)
    }
}

string_enum! {
    /// An operation on an API key that exists.
    KeyOperation {
        /// Changes the time of expiry.
        ChangeExpiry = "change_expiry",
        /// Replaces the key with a new one. Both are valid for a while.
        Rotate = "rotate",
        /// Ends the key at its time of expiry. Only a due step does this.
        Expire = "expire",
        /// Ends the key at once.
        Revoke = "revoke",
    }
}

state_machine! {
    /// What has ended stays as it is.
    KeyStatus by KeyOperation, not requested: Expire;
    Active: ChangeExpiry => Active, Rotate => Rotated, Expire => Expired, Revoke => Revoked;
    Rotated: Expire => Expired, Revoke => Revoked;
}

/// A key, reduced to what its lifecycle needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTimes {
    /// Row ID of the key.
    pub row_id: KeyRowId,
    /// ID of the key. It is not secret.
    pub id: Uuid,
    /// Row ID of the team that the key authenticates; `None` for the key of an operator.
    pub team: Option<TeamRowId>,
    /// What the key permits, if it is that of an operator.
    pub scope: KeyScope,
    /// What the key permits, if it is that of a team.
    pub team_scope: TeamKeyScope,
    /// Name that its owner gave the key.
    pub name: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which the key expires; `None` if never.
    pub expires_at: Option<Timestamp>,
    /// Time at which another key replaced it; `None` if none did.
    pub rotated_at: Option<Timestamp>,
    /// Time at which the key was revoked; `None` unless revoked.
    pub revoked_at: Option<Timestamp>,
    /// Time of expiry, once the step has recorded it. The key stays expired if the clock jumps back.
    pub expired_at: Option<Timestamp>,
}

impl KeyTimes {
    /// Returns the status at the time `now`.
    pub fn status(&self, now: Timestamp) -> KeyStatus {
        if self.revoked_at.is_some() {
            KeyStatus::Revoked
        } else if self.expires_at.is_some_and(|at| at <= now) {
            KeyStatus::Expired
        } else {
            self.status_until_expiry()
        }
    }

    /// Returns the status of the key until its step records that it has expired.
    pub const fn status_until_expiry(&self) -> KeyStatus {
        match (self.revoked_at, self.expired_at, self.rotated_at) {
            (Some(_), _, _) => KeyStatus::Revoked,
            (None, Some(_), _) => KeyStatus::Expired,
            (None, None, Some(_)) => KeyStatus::Rotated,
            (None, None, None) => KeyStatus::Active,
        }
    }

    /// Returns the time at which the key expires if it is rotated at `now`: after `overlap_micros`, or earlier
    /// if it expires earlier anyway.
    pub fn expiry_after_rotation(&self, now: Timestamp, overlap_micros: i64) -> Timestamp {
        let end = now.plus_micros(overlap_micros);
        self.expires_at.map_or(end, |at| at.min(end))
    }

    /// Returns the time at which a key expires that replaces this one at `now`. Its lifetime is that which this key had
    /// when it was created.
    pub fn expiry_of_successor(&self, now: Timestamp) -> Option<Timestamp> {
        self.expires_at.map(|at| now.plus_micros(at.0.saturating_sub(self.created_at.0).max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(created: i64, expires: Option<i64>) -> KeyTimes {
        KeyTimes {
            row_id: KeyRowId(1),
            id: Uuid::nil(),
            team: None,
            scope: KeyScope::All,
            team_scope: TeamKeyScope::Api,
            name: "ci".to_owned(),
            created_at: Timestamp(created),
            expires_at: expires.map(Timestamp),
            rotated_at: None,
            revoked_at: None,
            expired_at: None,
        }
    }

    #[test]
    fn rotated_key_expires_after_the_overlap_or_earlier() {
        for (expires, expected) in [(None, 150), (Some(120), 120), (Some(900), 150)] {
            assert_eq!(key(0, expires).expiry_after_rotation(Timestamp(100), 50).0, expected);
        }
    }

    #[test]
    fn successor_of_a_key_lives_as_long() {
        assert_eq!(key(10, Some(60)).expiry_of_successor(Timestamp(40)), Some(Timestamp(90)));
        assert_eq!(key(10, None).expiry_of_successor(Timestamp(40)), None);
    }

    #[test]
    fn key_is_expired_from_its_time_of_expiry_on() {
        let mut key = key(0, Some(60));
        assert_eq!(key.status(Timestamp(59)), KeyStatus::Active);
        assert_eq!(key.status(Timestamp(60)), KeyStatus::Expired);
        key.expired_at = Some(Timestamp(60));
        assert_eq!(key.status(Timestamp(59)), KeyStatus::Expired, "the clock jumped back");
        key.expired_at = None;
        key.rotated_at = Some(Timestamp(1));
        assert_eq!(key.status(Timestamp(59)), KeyStatus::Rotated);
        key.revoked_at = Some(Timestamp(2));
        assert_eq!(key.status(Timestamp(60)), KeyStatus::Revoked);
    }
}
