//! Withdrawals of earnings.

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        money::Cents,
        row_ids::{LedgerEntryRowId, WithdrawalRowId},
        teams::TeamRowId,
        time::Timestamp,
        withdrawals::WithdrawalStatus,
    },
    error::Result,
};

/// A withdrawal of earnings.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Withdrawal {
    /// Row ID of the withdrawal.
    pub row_id: WithdrawalRowId,
    /// ID of the withdrawal.
    pub id: Uuid,
    /// The team that withdraws earnings.
    pub team: TeamRowId,
    /// Amount of the withdrawal.
    pub amount: Cents,
    /// State of the withdrawal.
    pub status: WithdrawalStatus,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Time at which it was paid or failed; `None` until then.
    pub decided_at: Option<Timestamp>,
}

/// Inserts a requested withdrawal with its ledger entry, and with how the team is paid now. Returns its row ID.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    team: TeamRowId,
    amount: Cents,
    entry: LedgerEntryRowId,
    requested_at: Timestamp,
) -> Result<WithdrawalRowId> {
    const SQL: &str = "INSERT INTO withdrawals (uuid, team, cents, status, entry, requested_at, payout_setup)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT payout_setup FROM teams WHERE id = ?2))";
    let status = WithdrawalStatus::Requested;
    writer.insert(SQL, (id, team, amount, status, entry, requested_at)).map(WithdrawalRowId)
}

/// Records how a withdrawal ended, with the ledger entry that posts a failed one back.
pub fn decide(
    writer: &Writer,
    row_id: WithdrawalRowId,
    status: WithdrawalStatus,
    reversal: Option<LedgerEntryRowId>,
    decided_at: Timestamp,
) -> Result<()> {
    const SQL: &str = "UPDATE withdrawals SET status = ?2, reversal = ?3, decided_at = ?4 WHERE id = ?1";
    writer.run(SQL, (row_id, status, reversal, decided_at))
}

/// The columns of a [`Withdrawal`].
const COLUMNS: &str = "id, uuid, team, cents, status, requested_at, decided_at";

/// Returns the withdrawal with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<Withdrawal>> {
    reader.query_first(
        &format!("SELECT {COLUMNS} FROM withdrawals WHERE uuid = ?1"),
        [id],
        Withdrawal::from_row,
    )
}
