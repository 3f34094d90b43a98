//! Purchases of credits.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        credit_purchases::CreditPurchaseStatus, money::Cents, row_ids::LedgerEntryRowId, teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// A purchase of credits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditPurchase {
    /// ID of the purchase.
    pub id: Uuid,
    /// The team that bought credits.
    pub team: TeamRowId,
    /// The credits, and what they cost.
    pub amount: Cents,
    /// State of the purchase.
    pub status: CreditPurchaseStatus,
    /// Time at which it was made.
    pub created_at: Timestamp,
    /// Time at which it was completed.
    pub completed_at: Timestamp,
}

/// Inserts a credit purchase with its ledger entry.
pub fn insert(writer: &Writer, purchase: &CreditPurchase, entry: LedgerEntryRowId) -> Result<()> {
    const SQL: &str =
        "INSERT INTO credit_purchases (uuid, team, cents, status, entry, created_at, completed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let CreditPurchase { id, team, amount, status, created_at, completed_at } = purchase;
    writer.execute(SQL, (id, team, amount.0, status.as_str(), entry, created_at.0, completed_at.0))?;
    Ok(())
}

/// Returns the credit purchase with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<CreditPurchase>> {
    const SQL: &str =
        "SELECT uuid, team, cents, status, created_at, completed_at FROM credit_purchases WHERE uuid = ?1";
    reader.query_first(SQL, [id], |row| {
        Ok(CreditPurchase {
            id: row.get(0)?,
            team: row.get(1)?,
            amount: Cents(row.get(2)?),
            status: row::string_enum(row, 3)?,
            created_at: row::time(row, 4)?,
            completed_at: row::time(row, 5)?,
        })
    })
}
