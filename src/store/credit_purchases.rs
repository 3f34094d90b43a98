//! Purchases of credits.

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        credit_purchases::CreditPurchaseStatus,
        money::Cents,
        row_ids::{CreditPurchaseRowId, LedgerEntryRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// A purchase of credits.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct CreditPurchase {
    /// Row ID of the purchase.
    pub row_id: CreditPurchaseRowId,
    /// ID of the purchase.
    pub id: Uuid,
    /// The team that buys credits.
    pub team: TeamRowId,
    /// The credits, and what they cost.
    pub amount: Cents,
    /// State of the purchase.
    pub status: CreditPurchaseStatus,
    /// Time of the request.
    pub created_at: Timestamp,
    /// Time at which it was completed, rejected, or canceled; `None` until then.
    pub decided_at: Option<Timestamp>,
}

/// A purchase of credits to insert.
#[derive(Debug)]
pub struct NewCreditPurchase {
    /// ID of the purchase.
    pub id: Uuid,
    /// The team that buys credits.
    pub team: TeamRowId,
    /// The credits, and what they cost.
    pub amount: Cents,
    /// ID of the key that requested it; `None` if the platform acts for the team.
    pub requested_by: Option<Uuid>,
    /// Time of the request.
    pub created_at: Timestamp,
}

/// Inserts a pending credit purchase.
pub fn insert(writer: &Writer, purchase: &NewCreditPurchase) -> Result<()> {
    const SQL: &str = "INSERT INTO credit_purchases (uuid, team, cents, status, requested_by, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let NewCreditPurchase { id, team, amount, requested_by, created_at } = purchase;
    let status = CreditPurchaseStatus::Pending;
    writer.run(SQL, (id, team, amount, status, requested_by, created_at))
}

/// Records how a credit purchase ended, with the ledger entry of a completed one.
pub fn decide(
    writer: &Writer,
    row_id: CreditPurchaseRowId,
    status: CreditPurchaseStatus,
    entry: Option<LedgerEntryRowId>,
    decided_at: Timestamp,
) -> Result<()> {
    const SQL: &str = "UPDATE credit_purchases SET status = ?2, entry = ?3, decided_at = ?4 WHERE id = ?1";
    writer.run(SQL, (row_id, status, entry, decided_at))
}

/// The columns of a [`CreditPurchase`].
const COLUMNS: &str = "id, uuid, team, cents, status, created_at, decided_at";

/// Returns the credit purchase with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<CreditPurchase>> {
    reader.query_first(
        &format!("SELECT {COLUMNS} FROM credit_purchases WHERE uuid = ?1"),
        [id],
        CreditPurchase::from_row,
    )
}

/// Returns the pending credit purchases of a team, oldest first.
pub fn list_pending(reader: &Reader, team: TeamRowId) -> Result<Vec<CreditPurchase>> {
    let sql =
        format!("SELECT {COLUMNS} FROM credit_purchases WHERE team = ?1 AND status = 'pending' ORDER BY id");
    reader.query_all(&sql, [team], CreditPurchase::from_row)
}

/// Returns the number of pending credit purchases of a team.
pub fn count_pending(reader: &Reader, team: TeamRowId) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM credit_purchases WHERE team = ?1 AND status = 'pending'";
    reader.query_one(SQL, [team], |row| row.get(0))
}
