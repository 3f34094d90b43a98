//! Sessions of people who have signed in: how long they last, and what a person has chosen for one.

use serde::{Deserialize, Serialize};

use super::time::Timestamp;
use crate::string_enum::string_enum;

/// Maximum number of sessions of a key. A further one ends the oldest.
pub const MAX_SESSIONS_PER_KEY: u32 = 100;

const MICROS_PER_MINUTE: i64 = 60_000_000;

string_enum! {
    /// How lists of listings look.
    ListView {
        /// A card for each listing.
        Cards = "cards",
        /// A row for each listing.
        Table = "table",
    }
}

string_enum! {
    /// The side of a team with both roles for which pages are shown.
    TeamSide {
        /// What buyers do.
        Buyer = "buyer",
        /// What vendors do.
        Vendor = "vendor",
    }
}

/// What a person has chosen for a session. Everything is optional, so that a choice that is new has a default in sessions that
/// began before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionPreferences {
    /// How lists of listings look; `None` for the default.
    pub view: Option<ListView>,
    /// The side of a team with both roles; `None` for the default.
    pub side: Option<TeamSide>,
}

/// How long sessions last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Hours after its start until a session ends.
    pub hours: u32,
    /// Minutes after its last use until a session ends.
    pub idle_minutes: u32,
}

impl SessionLimits {
    /// Returns the time at which a session ends that is not used again.
    pub fn expiry(self, created_at: Timestamp, last_used_at: Timestamp) -> Timestamp {
        let absolute = created_at.plus_micros(i64::from(self.hours) * 60 * MICROS_PER_MINUTE);
        absolute.min(last_used_at.plus_micros(i64::from(self.idle_minutes) * MICROS_PER_MINUTE))
    }

    /// Returns the times before which sessions have ended: those of their start, and of their last use.
    pub fn earliest(self, now: Timestamp) -> (Timestamp, Timestamp) {
        (
            now.plus_micros(-i64::from(self.hours) * 60 * MICROS_PER_MINUTE),
            now.plus_micros(-i64::from(self.idle_minutes) * MICROS_PER_MINUTE),
        )
    }

    /// Whether a use of a session is recorded that was last recorded at `last_used_at`: after a minute, or earlier if
    /// sessions end so soon that the difference matters. A time in the future is replaced, since the clock was set back.
    pub fn records_use(self, last_used_at: Timestamp, now: Timestamp) -> bool {
        let interval = MICROS_PER_MINUTE.min(i64::from(self.idle_minutes) * MICROS_PER_MINUTE / 4);
        now < last_used_at || now >= last_used_at.plus_micros(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SessionLimits = SessionLimits { hours: 1, idle_minutes: 20 };

    fn minute(count: i64) -> Timestamp {
        Timestamp(count * MICROS_PER_MINUTE)
    }

    #[test]
    fn session_ends_after_its_time_or_when_it_is_idle() {
        for (last_used, expiry) in [(0, 20), (15, 35), (40, 60), (59, 60)] {
            assert_eq!(LIMITS.expiry(minute(0), minute(last_used)), minute(expiry));
        }
        for (created, last_used, now) in [(0, 0, 19), (0, 0, 20), (0, 50, 59), (0, 50, 60), (30, 50, 69)] {
            let (creation, use_) = LIMITS.earliest(minute(now));
            let has_ended = LIMITS.expiry(minute(created), minute(last_used)) <= minute(now);
            assert_eq!(minute(created) <= creation || minute(last_used) <= use_, has_ended);
        }
    }

    #[test]
    fn use_is_recorded_once_a_minute() {
        for (last_used, now, is_recorded) in [(0, 59, false), (0, 60, true), (100, 99, true)] {
            let [last_used, now] = [last_used, now].map(|seconds| Timestamp(seconds * 1_000_000));
            assert_eq!(LIMITS.records_use(last_used, now), is_recorded);
        }
        let short = SessionLimits { hours: 1, idle_minutes: 1 };
        assert!(short.records_use(Timestamp(0), Timestamp(15_000_000)));
    }

    #[test]
    fn preferences_of_earlier_sessions_are_read() {
        let read = |text: &str| serde_json::from_str::<SessionPreferences>(text).unwrap();
        assert_eq!(read("{}"), SessionPreferences::default());
        let chosen = SessionPreferences { view: Some(ListView::Table), side: Some(TeamSide::Vendor) };
        assert_eq!(read(r#"{"view":"table","side":"vendor"}"#), chosen);
    }
}
