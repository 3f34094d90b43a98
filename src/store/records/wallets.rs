//! Wallets, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{domain::money::Cents, error::Result, store::wallet::Balances};

/// The wallet of a team.
#[derive(Clone, Copy, Debug)]
pub struct WalletRecord {
    /// ID of the team.
    pub team: Uuid,
    /// Its balances.
    pub balances: Balances,
}

const COLUMNS: &str = "t.uuid, w.credits_cents, w.earned_cents, w.pending_cents, w.available_cents";

const TABLES: &str = "wallets w JOIN teams t ON t.id = w.team";

fn read(row: &rusqlite::Row) -> rusqlite::Result<WalletRecord> {
    Ok(WalletRecord {
        team: row.get("uuid")?,
        balances: Balances {
            credits: Cents(row.get("credits_cents")?),
            earned: Cents(row.get("earned_cents")?),
            pending: Cents(row.get("pending_cents")?),
            available: Cents(row.get("available_cents")?),
        },
    })
}

/// A wallet has the ID of its team.
impl Record for WalletRecord {
    type Id = Uuid;
    type Filter = ();

    const NAME: &'static str = "wallet";

    fn find(reader: &Reader, team: &Uuid) -> Result<Option<WalletRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE t.uuid = ?1"), [team], read)
    }

    fn page(reader: &Reader, (): &(), request: PageRequest) -> Result<RowPage<WalletRecord>> {
        PageQuery::new(COLUMNS, TABLES, "w.team").fetch(reader, request, read)
    }
}
