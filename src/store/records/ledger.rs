//! Entries of the ledger with their postings, as operators see them, and the adjustments and conversions among them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{
        ledger::{AccountKind, EntryType},
        money::Cents,
        time::Timestamp,
    },
    error::Result,
    store::row,
    string_enum::StringEnum,
};

/// An entry of the ledger.
#[derive(Clone, Debug)]
pub struct LedgerEntryRecord {
    /// ID of the entry.
    pub id: Uuid,
    /// Reason for the movement of money.
    pub entry_type: EntryType,
    /// Description for people.
    pub description: String,
    /// ID of the related purchase.
    pub purchase: Option<Uuid>,
    /// ID of the related purchase of credits.
    pub credit_purchase: Option<Uuid>,
    /// ID of the withdrawal that the entry posts, or posts back.
    pub withdrawal: Option<Uuid>,
    /// Changes of accounts, by the names of the accounts.
    pub postings: Vec<PostingRecord>,
    /// Time of the entry.
    pub created_at: Timestamp,
    /// Time from which the earnings can be used.
    pub available_at: Timestamp,
}

/// A change of an account.
#[derive(Clone, Copy, Debug)]
pub struct PostingRecord {
    /// The account.
    pub account: AccountKind,
    /// ID of the team that owns the account; `None` for the platform's accounts.
    pub team: Option<Uuid>,
    /// Change of its balance.
    pub amount: Cents,
}

/// What the list of ledger entries can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct LedgerEntryFilter {
    /// ID of a team whose accounts the entry changes.
    pub team: Option<Uuid>,
    /// Reason for the movement of money.
    pub entry_type: Option<EntryType>,
    /// ID of the related purchase.
    pub purchase: Option<Uuid>,
}

const ENTRY_COLUMNS: &str = "e.uuid, e.entry_type, e.description, e.created_at, e.available_at,
    p.uuid AS purchase_uuid, c.uuid AS credit_purchase_uuid, coalesce(w.uuid, r.uuid) AS withdrawal_uuid,
    (SELECT json_group_array(json_array(x.account, x.team, x.cents)) FROM (
        SELECT s.account, iif(t.id IS NULL, NULL, lower(hex(t.uuid))) AS team, s.cents
        FROM ledger_postings s LEFT JOIN teams t ON t.id = s.team
        WHERE s.entry = e.id ORDER BY s.account) x) AS postings";

const ENTRY_TABLES: &str = "ledger_entries e LEFT JOIN purchases p ON p.id = e.purchase
    LEFT JOIN credit_purchases c ON c.entry = e.id LEFT JOIN withdrawals w ON w.entry = e.id
    LEFT JOIN withdrawals r ON r.reversal = e.id";

fn read_entry(row: &rusqlite::Row) -> rusqlite::Result<LedgerEntryRecord> {
    let postings: Vec<(AccountKind, Option<Uuid>, i64)> = row::json(row, "postings")?;
    let posting = |(account, team, cents)| PostingRecord { account, team, amount: Cents(cents) };
    Ok(LedgerEntryRecord {
        id: row.get("uuid")?,
        entry_type: row::string_enum(row, "entry_type")?,
        description: row.get("description")?,
        purchase: row.get("purchase_uuid")?,
        credit_purchase: row.get("credit_purchase_uuid")?,
        withdrawal: row.get("withdrawal_uuid")?,
        postings: postings.into_iter().map(posting).collect(),
        created_at: row::time(row, "created_at")?,
        available_at: row::time(row, "available_at")?,
    })
}

/// Returns the condition for the type of an entry. Together with a team, only the index of the team is useful, which
/// the unary plus ensures.
const fn type_condition(has_team: bool) -> &'static str {
    if has_team { "+e.entry_type = ?" } else { "e.entry_type = ?" }
}

impl Record for LedgerEntryRecord {
    type Id = Uuid;
    type Filter = LedgerEntryFilter;

    const NAME: &'static str = "ledger entry";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<LedgerEntryRecord>> {
        let sql = format!("SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE e.uuid = ?1");
        reader.query_first(&sql, [id], read_entry)
    }

    fn page(
        reader: &Reader,
        filter: &LedgerEntryFilter,
        request: PageRequest,
    ) -> Result<RowPage<LedgerEntryRecord>> {
        const OF_TEAM: &str =
            "e.id IN (SELECT entry FROM ledger_postings WHERE team = (SELECT id FROM teams WHERE uuid = ?))";
        let entry_type = filter.entry_type.map(StringEnum::as_str);
        let has_other_index = filter.team.is_some() || filter.purchase.is_some();
        PageQuery::new(ENTRY_COLUMNS, ENTRY_TABLES, "e.id")
            .filter(OF_TEAM, filter.team)
            .refers_to("e.purchase", "purchases", filter.purchase)
            .filter(type_condition(has_other_index), entry_type)
            .fetch(reader, request, read_entry)
    }
}

/// An entry that changes the credits of a team.
#[derive(Clone, Debug)]
pub struct CreditsEntry {
    /// ID of the entry.
    pub id: Uuid,
    /// ID of the team.
    pub team: Uuid,
    /// Change of its credits.
    pub amount: Cents,
    /// Description for people.
    pub description: String,
    /// Time of the entry.
    pub created_at: Timestamp,
}

/// A correction of credits by the platform.
#[derive(Clone, Debug)]
pub struct AdjustmentRecord(pub CreditsEntry);

/// A conversion of available earnings into credits.
#[derive(Clone, Debug)]
pub struct ConversionRecord(pub CreditsEntry);

/// What the lists of adjustments and conversions can be filtered by.
#[derive(Clone, Copy, Debug, Default)]
pub struct CreditsEntryFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
}

const CREDITS_COLUMNS: &str = "e.uuid, t.uuid AS team_uuid, s.cents, e.description, e.created_at";

fn read_credits_entry(row: &rusqlite::Row) -> rusqlite::Result<CreditsEntry> {
    Ok(CreditsEntry {
        id: row.get("uuid")?,
        team: row.get("team_uuid")?,
        amount: Cents(row.get("cents")?),
        description: row.get("description")?,
        created_at: row::time(row, "created_at")?,
    })
}

const ADJUSTMENT_TABLES: &str =
    "adjustments s LEFT JOIN ledger_entries e ON e.id = s.entry LEFT JOIN teams t ON t.id = s.team";

impl Record for AdjustmentRecord {
    type Id = Uuid;
    type Filter = CreditsEntryFilter;

    const NAME: &'static str = "adjustment";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<AdjustmentRecord>> {
        let sql = format!("SELECT {CREDITS_COLUMNS} FROM {ADJUSTMENT_TABLES} WHERE e.uuid = ?1");
        Ok(reader.query_first(&sql, [id], read_credits_entry)?.map(AdjustmentRecord))
    }

    fn page(
        reader: &Reader,
        filter: &CreditsEntryFilter,
        request: PageRequest,
    ) -> Result<RowPage<AdjustmentRecord>> {
        PageQuery::new(CREDITS_COLUMNS, ADJUSTMENT_TABLES, "s.entry")
            .refers_to("s.team", "teams", filter.team)
            .fetch(reader, request, |row| read_credits_entry(row).map(AdjustmentRecord))
    }
}

const CONVERSION_TABLES: &str = "ledger_entries e JOIN ledger_postings s ON s.entry = e.id AND s.account = 'credits' JOIN teams t ON t.id = s.team";

impl Record for ConversionRecord {
    type Id = Uuid;
    type Filter = CreditsEntryFilter;

    const NAME: &'static str = "conversion";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<ConversionRecord>> {
        let sql = format!(
            "SELECT {CREDITS_COLUMNS} FROM {CONVERSION_TABLES}
             WHERE e.uuid = ?1 AND e.entry_type = 'credit_conversion'"
        );
        Ok(reader.query_first(&sql, [id], read_credits_entry)?.map(ConversionRecord))
    }

    fn page(
        reader: &Reader,
        filter: &CreditsEntryFilter,
        request: PageRequest,
    ) -> Result<RowPage<ConversionRecord>> {
        let entry_type = EntryType::CreditConversion.as_str();
        PageQuery::new(CREDITS_COLUMNS, CONVERSION_TABLES, "e.id")
            .refers_to("s.team", "teams", filter.team)
            .filter(type_condition(filter.team.is_some()), Some(entry_type))
            .fetch(reader, request, |row| read_credits_entry(row).map(ConversionRecord))
    }
}
