//! The changes of a team's earnings, from the ledger.

use uuid::Uuid;

use super::{Reader, row::FromRow};
use crate::{
    domain::{ledger::EntryType, money::Cents, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// A change of a team's earnings.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct EarningsChange {
    /// ID of the ledger entry.
    pub id: Uuid,
    /// Reason for the movement of money.
    pub entry_type: EntryType,
    /// Amount by which the earnings increased; negative if they decreased.
    pub amount: Cents,
    /// Time of the entry.
    pub created_at: Timestamp,
    /// Time from which the amount can be used.
    pub available_at: Timestamp,
    /// Description for people.
    pub description: String,
    /// ID of the related purchase.
    pub purchase: Option<Uuid>,
}

/// Returns a page of the changes of a team's earnings, newest first.
pub fn list_page(reader: &Reader, team: TeamRowId, limit: usize, offset: u64) -> Result<Vec<EarningsChange>> {
    const SQL: &str = "SELECT e.uuid, e.entry_type, p.cents, e.created_at, e.available_at, e.description, b.uuid
         FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry LEFT JOIN purchases b ON b.id = e.purchase
         WHERE p.team = ?1 AND p.account = 'earnings' ORDER BY e.created_at DESC, e.id DESC LIMIT ?2 OFFSET ?3";
    reader.query_all(SQL, (team, limit as i64, offset as i64), EarningsChange::from_row)
}

/// Returns the number of changes of a team's earnings.
pub fn count(reader: &Reader, team: TeamRowId) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM ledger_postings WHERE team = ?1 AND account = 'earnings'";
    reader.query_one(SQL, [team], |row| row.get(0))
}
