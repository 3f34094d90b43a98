//! Earnings that are on hold after a sale, and the amounts that refunds take from them.

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{money::Cents, row_ids::LedgerEntryRowId, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// Earnings on hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct EarningsHold {
    /// The entry of the sale. A sale has at most one hold.
    pub entry: LedgerEntryRowId,
    /// The vendor.
    pub team: TeamRowId,
    /// What is still on hold; more than zero.
    pub remaining: Cents,
    /// Time at which the hold ends.
    pub available_at: Timestamp,
}

/// The columns of an [`EarningsHold`].
const COLUMNS: &str = "entry, team, remaining_cents, available_at";

/// Inserts a hold.
pub fn insert(writer: &Writer, hold: &EarningsHold) -> Result<()> {
    const SQL: &str =
        "INSERT INTO earnings_holds (entry, team, remaining_cents, available_at) VALUES (?1, ?2, ?3, ?4)";
    writer.run(SQL, (hold.entry, hold.team, hold.remaining.0, hold.available_at))
}

/// Returns the hold of a sale; `None` if it has ended, or if there never was one.
pub fn find(reader: &Reader, entry: LedgerEntryRowId) -> Result<Option<EarningsHold>> {
    let sql = format!("SELECT {COLUMNS} FROM earnings_holds WHERE entry = ?1");
    reader.query_first(&sql, [entry], EarningsHold::from_row)
}

/// Returns the hold of a team that ends last among the holds before a place in this order.
pub fn find_last(
    reader: &Reader,
    team: TeamRowId,
    before: Option<(Timestamp, LedgerEntryRowId)>,
) -> Result<Option<EarningsHold>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM earnings_holds WHERE team = ?1 AND (available_at, entry) < (?2, ?3)
         ORDER BY available_at DESC, entry DESC LIMIT 1"
    );
    let (at, entry) = before.unwrap_or(LAST);
    reader.query_first(&sql, (team, at.0, entry), EarningsHold::from_row)
}

/// The place after all holds.
const LAST: (Timestamp, LedgerEntryRowId) = (Timestamp(i64::MAX), LedgerEntryRowId(i64::MAX));

/// The holds of sales, with what refunds left of them, whether they have ended or not: the net earnings of a sale are
/// the postings of its purchase, except for those of the refund.
const SALES: &str = "SELECT entry, team, available_at, created_at,
        earned - (SELECT coalesce(sum(u.cents), 0) FROM earnings_hold_uses u WHERE u.hold = entry) AS remaining_cents
    FROM (
        SELECT min(e.id) AS entry, p.team AS team, sum(p.cents) AS earned, max(e.available_at) AS available_at,
            min(e.created_at) AS created_at
        FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry
        WHERE p.account = 'earnings' AND e.purchase IS NOT NULL AND e.entry_type <> 'refund'";

/// Returns the hold of a sale at an earlier time, minus the amounts that were taken from it since.
pub fn find_at(reader: &Reader, entry: LedgerEntryRowId, at: Timestamp) -> Result<Option<EarningsHold>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM (
             {SALES} AND e.purchase = (SELECT purchase FROM ledger_entries WHERE id = ?1) GROUP BY e.purchase))
         WHERE remaining_cents > 0 AND created_at <= ?2 AND available_at > ?2"
    );
    reader.query_first(&sql, (entry, at), EarningsHold::from_row)
}

/// Returns the hold that ends last among the holds that a team had at an earlier time and that come before a place in this
/// order, minus the amounts that were taken from it since.
pub fn find_last_at(
    reader: &Reader,
    team: TeamRowId,
    before: Option<(Timestamp, LedgerEntryRowId)>,
    at: Timestamp,
) -> Result<Option<EarningsHold>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM ({SALES} AND p.team = ?1 AND e.available_at > ?2 GROUP BY e.purchase))
         WHERE remaining_cents > 0 AND created_at <= ?2 AND (available_at, entry) < (?3, ?4)
         ORDER BY available_at DESC, entry DESC LIMIT 1"
    );
    let (last, entry) = before.unwrap_or(LAST);
    reader.query_first(&sql, (team, at, last.0, entry), EarningsHold::from_row)
}

/// Deletes a hold that has ended.
pub fn delete(writer: &Writer, entry: LedgerEntryRowId) -> Result<()> {
    writer.run("DELETE FROM earnings_holds WHERE entry = ?1", [entry])
}

/// Reduces a hold that keeps some earnings.
pub fn reduce(writer: &Writer, entry: LedgerEntryRowId, cents: Cents) -> Result<()> {
    const SQL: &str = "UPDATE earnings_holds SET remaining_cents = remaining_cents - ?2 WHERE entry = ?1";
    writer.run(SQL, (entry, cents))
}

/// Records what a refund took from the hold of a sale.
pub fn insert_use(
    writer: &Writer,
    hold: LedgerEntryRowId,
    refund: LedgerEntryRowId,
    cents: Cents,
) -> Result<()> {
    const SQL: &str = "INSERT INTO earnings_hold_uses (hold, refund, cents) VALUES (?1, ?2, ?3)";
    writer.run(SQL, (hold, refund, cents))
}
