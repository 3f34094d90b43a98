//! Purchases of credits by a team.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::domain::{credit_purchases::CreditPurchaseStatus, money::Cents, time::Timestamp};

/// A purchase of credits, as the team sees it.
#[derive(Clone, Debug, FromRow)]
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

impl TeamRecord for TeamCreditPurchase {
    const LIST: &'static TeamRecords = &Records {
        name: "credit purchase",
        columns: &["c.uuid AS id, c.cents AS amount, c.status, c.created_at, c.decided_at"],
        tables: &["credit_purchases c"],
        row_id: "c.id",
        id: "c.uuid",
        condition: None,
        filters: &[("status", Filter::OneOf("c.status"))],
    }
    .of_team("c.team");
}
