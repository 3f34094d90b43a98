//! Purchases of credits by a team.

use uuid::Uuid;

use super::{Filter, FromRow, TeamRecord, TeamRecords};
use crate::{
    domain::{credit_purchases::CreditPurchaseStatus, money::Cents, time::Timestamp},
    store::row,
};

/// A purchase of credits, as the team sees it.
#[derive(Clone, Debug)]
pub struct TeamCreditPurchase {
    /// ID of the purchase.
    pub id: Uuid,
    /// Amount of credits.
    pub amount: Cents,
    /// Status of the purchase.
    pub status: CreditPurchaseStatus,
    /// Time of the request.
    pub created_at: Timestamp,
    /// Time of the decision; `None` while it is pending.
    pub decided_at: Option<Timestamp>,
}

impl FromRow for TeamCreditPurchase {
    fn from_row(row: &rusqlite::Row) -> rusqlite::Result<TeamCreditPurchase> {
        Ok(TeamCreditPurchase {
            id: row.get("uuid")?,
            amount: Cents(row.get("cents")?),
            status: row::string_enum(row, "status")?,
            created_at: row::time(row, "created_at")?,
            decided_at: row::optional_time(row, "decided_at")?,
        })
    }
}

impl TeamRecord for TeamCreditPurchase {
    const LIST: &'static TeamRecords = &CREDIT_PURCHASES;
}

/// Purchases of credits by a team.
pub const CREDIT_PURCHASES: TeamRecords = TeamRecords {
    name: "credit purchase",
    columns: &["c.uuid, c.cents, c.status, c.created_at, c.decided_at"],
    tables: &["credit_purchases c"],
    row_id: "c.id",
    id: "c.uuid",
    team: "c.team",
    condition: None,
    filters: &[("status", Filter::OneOf("c.status"))],
};
