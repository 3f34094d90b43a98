//! Earnings that are on hold after a sale, and what refunds take from them.

use super::{Reader, Writer, row};
use crate::{
    domain::{money::Cents, row_ids::LedgerEntryRowId, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// Earnings on hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

fn read(row: &rusqlite::Row) -> rusqlite::Result<EarningsHold> {
    Ok(EarningsHold {
        entry: row.get(0)?,
        team: row.get(1)?,
        remaining: Cents(row.get(2)?),
        available_at: row::time(row, 3)?,
    })
}

/// Inserts a hold.
pub fn insert(writer: &Writer, hold: &EarningsHold) -> Result<()> {
    const SQL: &str =
        "INSERT INTO earnings_holds (entry, team, remaining_cents, available_at) VALUES (?1, ?2, ?3, ?4)";
    writer.execute(SQL, (hold.entry, hold.team, hold.remaining.0, hold.available_at.0))?;
    Ok(())
}

/// Returns the hold of a sale; `None` if it has ended, or if there never was one.
pub fn find(reader: &Reader, entry: LedgerEntryRowId) -> Result<Option<EarningsHold>> {
    let sql = format!("SELECT {COLUMNS} FROM earnings_holds WHERE entry = ?1");
    reader.query_first(&sql, [entry], read)
}

/// Returns the hold of a team that ends first.
pub fn find_first(reader: &Reader, team: TeamRowId) -> Result<Option<EarningsHold>> {
    let sql =
        format!("SELECT {COLUMNS} FROM earnings_holds WHERE team = ?1 ORDER BY available_at, entry LIMIT 1");
    reader.query_first(&sql, [team], read)
}

/// Deletes a hold that has ended.
pub fn delete(writer: &Writer, entry: LedgerEntryRowId) -> Result<()> {
    writer.execute("DELETE FROM earnings_holds WHERE entry = ?1", [entry])?;
    Ok(())
}

/// Reduces a hold that keeps some earnings.
pub fn reduce(writer: &Writer, entry: LedgerEntryRowId, cents: Cents) -> Result<()> {
    const SQL: &str = "UPDATE earnings_holds SET remaining_cents = remaining_cents - ?2 WHERE entry = ?1";
    writer.execute(SQL, (entry, cents.0))?;
    Ok(())
}

/// Records what a refund took from the hold of a sale.
pub fn insert_use(
    writer: &Writer,
    hold: LedgerEntryRowId,
    refund: LedgerEntryRowId,
    cents: Cents,
) -> Result<()> {
    const SQL: &str = "INSERT INTO earnings_hold_uses (hold, refund, cents) VALUES (?1, ?2, ?3)";
    writer.execute(SQL, (hold, refund, cents.0))?;
    Ok(())
}
