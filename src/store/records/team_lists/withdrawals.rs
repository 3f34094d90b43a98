//! Withdrawals of a team.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::domain::{money::Cents, time::Timestamp, withdrawals::WithdrawalStatus};

/// A withdrawal, as the team sees it.
#[derive(Clone, Debug, FromRow)]
pub struct TeamWithdrawal {
    /// ID of the withdrawal.
    pub id: Uuid,
    /// Amount.
    pub amount: Cents,
    /// Status of the withdrawal.
    pub status: WithdrawalStatus,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Time at which it was paid, or failed; `None` until then.
    pub decided_at: Option<Timestamp>,
}

impl TeamRecord for TeamWithdrawal {
    const LIST: &'static TeamRecords = &Records {
        name: "withdrawal",
        columns: &["w.uuid AS id, w.cents AS amount, w.status, w.requested_at, w.decided_at"],
        tables: &["withdrawals w"],
        row_id: "w.id",
        id: "w.uuid",
        condition: None,
        filters: &[("status", Filter::OneOf("w.status"))],
    }
    .of_team("w.team");
}
