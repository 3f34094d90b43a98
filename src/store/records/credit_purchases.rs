//! Purchases of credits, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{credit_purchases::CreditPurchaseStatus, money::Cents, time::Timestamp},
    error::Result,
    store::row,
};

/// A purchase of credits.
#[derive(Clone, Debug)]
pub struct CreditPurchaseRecord {
    /// ID of the purchase.
    pub id: Uuid,
    /// ID of the team that bought credits.
    pub team: Uuid,
    /// The credits, and what they cost.
    pub amount: Cents,
    /// State of the purchase.
    pub status: CreditPurchaseStatus,
    /// ID of the ledger entry.
    pub entry: Uuid,
    /// Time at which it was made.
    pub created_at: Timestamp,
    /// Time at which it was completed.
    pub completed_at: Timestamp,
}

/// What the list of credit purchases can be filtered by.
#[derive(Clone, Copy, Debug, Default)]
pub struct CreditPurchaseFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
}

const COLUMNS: &str =
    "c.uuid, t.uuid AS team_uuid, c.cents, c.status, e.uuid AS entry_uuid, c.created_at, c.completed_at";

const TABLES: &str =
    "credit_purchases c LEFT JOIN ledger_entries e ON e.id = c.entry LEFT JOIN teams t ON t.id = c.team";

fn read(row: &rusqlite::Row) -> rusqlite::Result<CreditPurchaseRecord> {
    Ok(CreditPurchaseRecord {
        id: row.get("uuid")?,
        team: row.get("team_uuid")?,
        amount: Cents(row.get("cents")?),
        status: row::string_enum(row, "status")?,
        entry: row.get("entry_uuid")?,
        created_at: row::time(row, "created_at")?,
        completed_at: row::time(row, "completed_at")?,
    })
}

impl Record for CreditPurchaseRecord {
    type Id = Uuid;
    type Filter = CreditPurchaseFilter;

    const NAME: &'static str = "credit purchase";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<CreditPurchaseRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE c.uuid = ?1"), [id], read)
    }

    fn page(
        reader: &Reader,
        filter: &CreditPurchaseFilter,
        request: PageRequest,
    ) -> Result<RowPage<CreditPurchaseRecord>> {
        PageQuery::new(COLUMNS, TABLES, "c.id")
            .refers_to("c.team", "teams", filter.team)
            .fetch(reader, request, read)
    }
}
