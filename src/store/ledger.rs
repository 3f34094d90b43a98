//! The ledger: entries with their postings. Each insertion changes the stored balances, too.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{ColumnIndexes, FromColumns, FromRow},
    wallet,
};
use crate::{
    domain::{
        ledger::{Account, EntryType, Posting, Transfer},
        money::Cents,
        row_ids::{LedgerEntryRowId, PurchaseRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Result},
};

/// The fields of a ledger entry to insert.
#[derive(Debug)]
pub struct NewEntry<'a> {
    /// ID of the entry.
    pub id: Uuid,
    /// Description for people.
    pub description: &'a str,
    /// Row ID of the related purchase.
    pub purchase: Option<PurchaseRowId>,
    /// What the entry moves.
    pub transfer: &'a Transfer,
    /// The part of the change of earnings that is on hold, or that is taken from holds.
    pub pending: Cents,
    /// Time of the entry.
    pub created_at: Timestamp,
    /// Time from which the earnings can be used. Only the end of a hold makes them available.
    pub available_at: Timestamp,
}

/// Inserts an entry with its postings, and changes the balances. The postings must sum to zero. Fails if a
/// balance of a team would become negative.
pub fn insert(writer: &Writer, entry: &NewEntry) -> Result<LedgerEntryRowId> {
    const ENTRY: &str =
        "INSERT INTO ledger_entries (uuid, entry_type, description, purchase, created_at, available_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    const POSTING: &str = "INSERT INTO ledger_postings (entry, account, team, cents) VALUES (?1, ?2, ?3, ?4)";
    if !entry.transfer.is_balanced() {
        return Err(Error::internal("the postings of a ledger entry do not sum to zero"));
    }
    let row_id = LedgerEntryRowId(writer.insert(
        ENTRY,
        (
            entry.id,
            entry.transfer.entry_type,
            entry.description,
            entry.purchase,
            entry.created_at,
            entry.available_at,
        ),
    )?);
    for Posting { account, cents } in &entry.transfer.postings {
        writer.execute(POSTING, (row_id, account.name(), account.team(), cents))?;
    }
    wallet::apply(writer, entry.transfer, entry.pending)?;
    Ok(row_id)
}

/// Returns all postings of a purchase, in the order of its entries.
pub fn list_purchase_postings(reader: &Reader, purchase: PurchaseRowId) -> Result<Vec<Posting>> {
    const SQL: &str = "SELECT p.account, p.team, p.cents
         FROM ledger_entries e JOIN ledger_postings p ON p.entry = e.id
         WHERE e.purchase = ?1 ORDER BY e.id, p.account";
    reader.query_all(SQL, [purchase], |row| Posting::from_columns(row, &mut ColumnIndexes(0)))
}

/// Returns the entry of the sale of a purchase; `None` if it has none.
pub fn find_sale_entry(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<LedgerEntryRowId>> {
    const SQL: &str = "SELECT min(id) FROM ledger_entries WHERE purchase = ?1";
    reader.query_one(SQL, [purchase], |row| row.get(0))
}

/// Returns the ID of an entry, and that of its purchase.
pub fn find_ids(reader: &Reader, entry: LedgerEntryRowId) -> Result<(Uuid, Option<Uuid>)> {
    const SQL: &str = "SELECT e.uuid, b.uuid FROM ledger_entries e LEFT JOIN purchases b ON b.id = e.purchase WHERE e.id = ?1";
    reader.query_one(SQL, [entry], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Three columns: the name of the account, its team, and the cents.
impl FromColumns for Posting {
    fn from_columns(row: &rusqlite::Row, columns: &mut ColumnIndexes) -> rusqlite::Result<Posting> {
        let account = Account::new(row.get(columns.next())?, row.get(columns.next())?);
        let account = account.ok_or(rusqlite::Error::InvalidQuery)?;
        Ok(Posting { account, cents: row.get(columns.next())? })
    }
}

/// A posting of an entry, for operators.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct EntryPosting {
    /// ID of the entry.
    pub entry: Uuid,
    /// Reason for the movement of money.
    pub entry_type: EntryType,
    /// Time of the entry.
    pub created_at: Timestamp,
    /// Description for people.
    pub description: String,
    /// ID of the related purchase.
    pub purchase: Option<Uuid>,
    /// Change of an account.
    #[row(flatten)]
    pub posting: Posting,
    /// Name of the team that owns the account.
    pub team_name: Option<String>,
}

/// Returns the postings of the newest entries, newest first: all postings, or those to the accounts of a team.
pub fn list_newest(reader: &Reader, team: Option<TeamRowId>, limit: usize) -> Result<Vec<EntryPosting>> {
    const ALL: &str = "SELECT id FROM ledger_entries ORDER BY created_at DESC, id DESC LIMIT ?1";
    const OF_TEAM: &str =
        "SELECT DISTINCT e.id FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry
         WHERE p.team = ?2 ORDER BY e.created_at DESC, e.id DESC LIMIT ?1";
    let (entries, condition) = if team.is_some() { (OF_TEAM, "p.team = ?2") } else { (ALL, "TRUE") };
    let sql = format!(
        "SELECT e.uuid, e.entry_type, e.created_at, e.description, b.uuid, p.account, p.team, p.cents, t.name
         FROM ({entries}) n JOIN ledger_entries e ON e.id = n.id JOIN ledger_postings p ON p.entry = e.id
         LEFT JOIN purchases b ON b.id = e.purchase LEFT JOIN teams t ON t.id = p.team
         WHERE {condition} ORDER BY e.created_at DESC, e.id DESC, p.cents, p.account"
    );
    match team {
        Some(team) => reader.query_all(&sql, (limit as i64, team), EntryPosting::from_row),
        None => reader.query_all(&sql, [limit as i64], EntryPosting::from_row),
    }
}
