//! Sessions of people who have signed in: their lifetime, and their preferences.

use serde::{Deserialize, Serialize};

use super::time::Timestamp;
use crate::string_enum::{StringEnum, string_enum};

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

string_enum! {
    /// A column of the inventory's table, besides the name. New ones are added at the end, since sessions keep positions.
    InventoryColumn {
        /// Kind of the asset.
        Kind = "kind",
        /// The group that it is in.
        Group = "group",
        /// Its stage, with the number of required fields that are missing.
        Stage = "stage",
        /// The required fields that are missing.
        Missing = "missing",
        /// How far the copy and the analysis of its data are.
        Data = "data",
        /// Where its data comes from.
        Source = "source",
        /// Its domain tags.
        Tags = "tags",
        /// Its asking price.
        Price = "price",
        /// Number of lines of code.
        Lines = "lines",
        /// Number of commits.
        Commits = "commits",
        /// Number of contributors.
        Contributors = "contributors",
        /// Number of merged pull requests.
        MergedPrs = "merged_prs",
        /// Date of the first commit.
        HistoryStart = "history_start",
        /// Date of the last commit.
        HistoryEnd = "history_end",
        /// Whether continuous integration runs on pull requests.
        CiOnPrs = "ci_on_prs",
        /// Whether a codebase is still available for an exclusive sale.
        Exclusivity = "exclusivity",
        /// Whether its data requires credentials to access.
        PrivateData = "private_data",
        /// Subject area of a task.
        TaskType = "task_type",
        /// Whether a task has graded runs.
        Traces = "traces",
        /// Whether a task has completed checks.
        QaResults = "qa_results",
        /// Whether the environment of a task was built.
        Environment = "environment",
        /// The fields that cannot be changed here.
        Locked = "locked",
        /// Private notes.
        Notes = "notes",
        /// When it was added.
        Added = "added",
    }
}

/// Columns of the inventory's table: a bit for each one, by its position in [`InventoryColumn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InventoryColumns(u32);

impl InventoryColumns {
    /// Whether a column is one of them.
    pub const fn has(self, column: InventoryColumn) -> bool {
        self.0 >> column as u32 & 1 == 1
    }

    /// Returns the columns in their order.
    pub fn iter(self) -> impl Iterator<Item = InventoryColumn> {
        InventoryColumn::ALL.iter().copied().filter(move |column| self.has(*column))
    }
}

impl FromIterator<InventoryColumn> for InventoryColumns {
    fn from_iter<I: IntoIterator<Item = InventoryColumn>>(columns: I) -> InventoryColumns {
        InventoryColumns(columns.into_iter().fold(0, |bits, column| bits | 1 << column as u32))
    }
}

impl Default for InventoryColumns {
    fn default() -> InventoryColumns {
        use InventoryColumn as C;
        [C::Kind, C::Group, C::Stage, C::Data, C::Tags, C::Price, C::Added].into_iter().collect()
    }
}

/// Preferences of a session. All fields are optional, so a new preference has a default in sessions that began before it
/// existed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionPreferences {
    /// How lists of listings look; `None` for the default.
    pub view: Option<ListView>,
    /// The side of a team with both roles; `None` for the default.
    pub side: Option<TeamSide>,
    /// The columns of the inventory's table; `None` for the default.
    pub inventory_columns: Option<InventoryColumns>,
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

    /// Returns two times: sessions that started before the first one, or were last used before the second one, have ended.
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
        let chosen = SessionPreferences {
            view: Some(ListView::Table),
            side: Some(TeamSide::Vendor),
            ..SessionPreferences::default()
        };
        assert_eq!(read(r#"{"view":"table","side":"vendor"}"#), chosen);
    }

    #[test]
    fn columns_are_kept_by_their_positions() {
        let columns: InventoryColumns = [InventoryColumn::Added, InventoryColumn::Kind].into_iter().collect();
        let text = serde_json::to_string(&columns).unwrap();
        assert_eq!(text, "8388609");
        assert_eq!(serde_json::from_str::<InventoryColumns>(&text).unwrap(), columns);
        assert_eq!(columns.iter().collect::<Vec<_>>(), [InventoryColumn::Kind, InventoryColumn::Added]);
        assert!(!columns.has(InventoryColumn::Price) && InventoryColumn::ALL.len() <= 32);
    }
}
