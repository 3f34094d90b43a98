//! Withdrawals of earnings, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{money::Cents, time::Timestamp, withdrawals::WithdrawalStatus},
    error::Result,
    store::row,
    string_enum::StringEnum,
};

/// A withdrawal of earnings.
#[derive(Clone, Debug)]
pub struct WithdrawalRecord {
    /// ID of the withdrawal.
    pub id: Uuid,
    /// ID of the team that withdraws earnings.
    pub team: Uuid,
    /// Amount of the withdrawal.
    pub amount: Cents,
    /// State of the withdrawal.
    pub status: WithdrawalStatus,
    /// ID of the ledger entry.
    pub entry: Uuid,
    /// ID of the ledger entry that posts a failed withdrawal back.
    pub reversal: Option<Uuid>,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Time at which it was paid or failed; `None` until then.
    pub decided_at: Option<Timestamp>,
}

/// What the list of withdrawals can be filtered by.
#[derive(Clone, Copy, Debug, Default)]
pub struct WithdrawalFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// State of the withdrawal.
    pub status: Option<WithdrawalStatus>,
}

const COLUMNS: &str = "w.uuid, t.uuid AS team_uuid, w.cents, w.status, e.uuid AS entry_uuid,
    r.uuid AS reversal_uuid, w.requested_at, w.decided_at";

const TABLES: &str =
    "withdrawals w LEFT JOIN ledger_entries e ON e.id = w.entry LEFT JOIN teams t ON t.id = w.team
    LEFT JOIN ledger_entries r ON r.id = w.reversal";

fn read(row: &rusqlite::Row) -> rusqlite::Result<WithdrawalRecord> {
    Ok(WithdrawalRecord {
        id: row.get("uuid")?,
        team: row.get("team_uuid")?,
        amount: Cents(row.get("cents")?),
        status: row::string_enum(row, "status")?,
        entry: row.get("entry_uuid")?,
        reversal: row.get("reversal_uuid")?,
        requested_at: row::time(row, "requested_at")?,
        decided_at: row::optional_time(row, "decided_at")?,
    })
}

impl Record for WithdrawalRecord {
    type Id = Uuid;
    type Filter = WithdrawalFilter;

    const NAME: &'static str = "withdrawal";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<WithdrawalRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE w.uuid = ?1"), [id], read)
    }

    fn page(
        reader: &Reader,
        filter: &WithdrawalFilter,
        request: PageRequest,
    ) -> Result<RowPage<WithdrawalRecord>> {
        PageQuery::new(COLUMNS, TABLES, "w.id")
            .refers_to("w.team", "teams", filter.team)
            .filter("w.status = ?", filter.status.map(StringEnum::as_str))
            .fetch(reader, request, read)
    }
}
