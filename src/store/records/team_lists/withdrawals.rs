//! Withdrawals of a team.

use uuid::Uuid;

use super::{Filter, FromRow, TeamRecord, TeamRecords};
use crate::{
    domain::{money::Cents, time::Timestamp, withdrawals::WithdrawalStatus},
    store::row,
};

/// A withdrawal, as the team sees it.
#[derive(Clone, Debug)]
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

impl FromRow for TeamWithdrawal {
    fn from_row(row: &rusqlite::Row) -> rusqlite::Result<TeamWithdrawal> {
        Ok(TeamWithdrawal {
            id: row.get("uuid")?,
            amount: Cents(row.get("cents")?),
            status: row::string_enum(row, "status")?,
            requested_at: row::time(row, "requested_at")?,
            decided_at: row::optional_time(row, "decided_at")?,
        })
    }
}

impl TeamRecord for TeamWithdrawal {
    const LIST: &'static TeamRecords = &WITHDRAWALS;
}

/// Withdrawals of a team.
pub const WITHDRAWALS: TeamRecords = TeamRecords {
    name: "withdrawal",
    columns: &["w.uuid, w.cents, w.status, w.requested_at, w.decided_at"],
    tables: &["withdrawals w"],
    row_id: "w.id",
    id: "w.uuid",
    team: "w.team",
    condition: None,
    filters: &[("status", Filter::OneOf("w.status"))],
};
