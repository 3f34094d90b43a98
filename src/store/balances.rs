//! Where stored balances come from, for operators: sums of postings.

use uuid::Uuid;

use super::{Reader, row::FromRow};
use crate::{
    domain::{
        ledger::{AccountKind, EntryType},
        money::Cents,
        teams::TeamRowId,
    },
    error::Result,
    string_enum::string_enum,
};

/// A posting of an entry, with the team that owns the account.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct NamedPosting {
    /// The kind of the account.
    pub account: AccountKind,
    /// ID and name of the team that owns the account; `None` for those of the platform.
    #[row(pair)]
    pub team: Option<(Uuid, String)>,
    /// Change of its balance.
    pub amount: Cents,
}

/// What the entries of one type have changed of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Origin {
    /// The kind of the account.
    pub account: AccountKind,
    /// Why the money moved.
    pub entry_type: EntryType,
    /// The reason for the entries, if they are adjustments.
    pub adjustment: Option<AdjustmentReason>,
    /// Number of entries.
    pub entries: u64,
    /// Sum of the changes.
    pub amount: Cents,
}

string_enum! {
    /// The reason for an entry that changes credits, but is neither a sale nor a conversion.
    AdjustmentReason {
        /// A team has bought credits.
        Bought = "bought",
        /// The platform gave credits, or deducted them.
        Correction = "correction",
        /// A quality run was charged, or its charge was given back.
        Checks = "checks",
    }
}

/// The reason for an adjustment, of the entry `e` with its row `a` of adjustments and its row `c` of purchases of credits; null for
/// other entries.
pub(super) const ADJUSTMENT: &str =
    "CASE WHEN e.entry_type <> 'adjustment' THEN NULL WHEN c.entry IS NOT NULL THEN 'bought'
    WHEN a.entry IS NOT NULL THEN 'correction' ELSE 'checks' END";

/// Postings with their entries.
const ORIGINS: &str = "ledger_postings p JOIN ledger_entries e ON e.id = p.entry
    LEFT JOIN adjustments a ON a.entry = e.id LEFT JOIN credit_purchases c ON c.entry = e.id";

/// The stored balances of all teams together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct TeamTotals {
    /// Credits.
    pub credits: Cents,
    /// Earnings on hold.
    pub pending: Cents,
    /// Earnings that can be used.
    pub available: Cents,
}

/// Returns the postings of an entry; none if there is no such entry.
pub fn postings(reader: &Reader, entry: Uuid) -> Result<Vec<NamedPosting>> {
    const SQL: &str = "SELECT p.account, t.uuid, t.name, p.cents
         FROM ledger_entries e JOIN ledger_postings p ON p.entry = e.id LEFT JOIN teams t ON t.id = p.team
         WHERE e.uuid = ?1 ORDER BY p.account";
    reader.query_all(SQL, [entry], NamedPosting::from_row)
}

/// Returns the changes of the accounts of a team, by account and by type of entry.
pub fn origins_of_team(reader: &Reader, team: TeamRowId) -> Result<Vec<Origin>> {
    let sql = format!(
        "SELECT p.account, e.entry_type, {ADJUSTMENT} AS adjustment, count(*), sum(p.cents) FROM {ORIGINS}
         WHERE p.team = ?1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    );
    reader.query_all(&sql, [team], Origin::from_row)
}

/// Returns the changes of the accounts of all teams and of the platform, by account and by type of entry. Reads all postings.
pub fn origins(reader: &Reader) -> Result<Vec<Origin>> {
    let sql = format!(
        "SELECT p.account, e.entry_type, {ADJUSTMENT} AS adjustment, count(*), sum(p.cents) FROM {ORIGINS}
         GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    );
    reader.query_all(&sql, [], Origin::from_row)
}

/// Returns the earnings of a team that holds keep.
pub fn held(reader: &Reader, team: TeamRowId) -> Result<Cents> {
    const SQL: &str = "SELECT coalesce(sum(remaining_cents), 0) FROM earnings_holds WHERE team = ?1";
    reader.query_one(SQL, [team], |row| row.get(0))
}

/// Returns the stored balances of all teams together.
pub fn team_totals(reader: &Reader) -> Result<TeamTotals> {
    const SQL: &str = "SELECT coalesce(sum(credits_cents), 0), coalesce(sum(pending_cents), 0),
         coalesce(sum(available_cents), 0) FROM wallets";
    reader.query_one(SQL, [], TeamTotals::from_row)
}
