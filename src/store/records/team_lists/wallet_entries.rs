//! Entries of the ledger in the two accounts of a team: its credits, and its earnings.

use std::collections::HashMap;

use uuid::Uuid;

use super::{Filter, FromRow, Reader, Records, TeamRecord, TeamRecords};
use crate::{
    domain::{ledger::EntryType, money::Cents, row_ids::LedgerEntryRowId, teams::TeamRowId, time::Timestamp},
    error::Result,
    store::{
        balances::{ADJUSTMENT, AdjustmentReason},
        row,
    },
};

/// The effect of a ledger entry on an account of a team, and the records that it refers to.
#[derive(Clone, Debug, FromRow)]
pub struct AccountEntry {
    /// Row ID of the entry.
    pub row_id: LedgerEntryRowId,
    /// ID of the entry.
    pub id: Uuid,
    /// Why the money moved.
    pub entry_type: EntryType,
    /// Why the credits changed, if the entry is an adjustment.
    pub adjustment: Option<AdjustmentReason>,
    /// Description for people.
    pub description: String,
    /// Change of the balance.
    pub amount: Cents,
    /// Time of the entry.
    pub created_at: Timestamp,
    /// Time from which earnings of the entry can be used.
    pub available_at: Timestamp,
    /// ID of the purchase that was paid or refunded.
    pub purchase: Option<Uuid>,
    /// ID and title of the listing of that purchase.
    #[row(pair("listing_id", "listing_title"))]
    pub listing: Option<(Uuid, String)>,
    /// ID of the purchase of credits.
    pub credit_purchase: Option<Uuid>,
}

/// An entry in the account of a team's credits.
#[derive(Clone, Debug, FromRow)]
pub struct CreditEntry(#[row(flatten)] pub AccountEntry);

/// An entry in the account of a team's earnings.
#[derive(Clone, Debug, FromRow)]
pub struct EarningsEntry(#[row(flatten)] pub AccountEntry);

impl TeamRecord for CreditEntry {
    /// `text` is a part of the description, and `since` and `end` are microseconds.
    const LIST: &'static TeamRecords = &of_account("s.account = 'credits'");
}

impl TeamRecord for EarningsEntry {
    const LIST: &'static TeamRecords = &of_account("s.account = 'earnings'");
}

const fn of_account(condition: &'static str) -> TeamRecords {
    Records {
        name: "ledger entry",
        columns: &[
            "e.id AS row_id, e.uuid AS id, e.entry_type, e.description, s.cents AS amount, e.created_at, e.available_at,
             p.uuid AS purchase, l.uuid AS listing_id, l.title AS listing_title, c.uuid AS credit_purchase,",
            ADJUSTMENT,
            "AS adjustment",
        ],
        tables: &["ledger_postings s JOIN ledger_entries e ON e.id = s.entry
             LEFT JOIN purchases p ON p.id = e.purchase LEFT JOIN listings l ON l.id = p.listing
             LEFT JOIN credit_purchases c ON c.entry = e.id LEFT JOIN adjustments a ON a.entry = e.id"],
        row_id: "s.entry",
        id: "e.uuid",
        condition: Some(condition),
        filters: &[
            // The plus leaves the index of the type out, which has the entries of all teams.
            ("entry_type", Filter::OneOf("+e.entry_type")),
            ("text", Filter::Contains("e.description")),
            ("since", Filter::Matches("e.created_at >= ?")),
            ("end", Filter::Matches("e.created_at < ?")),
        ],
    }
    .of_team("s.team")
}

/// Returns by how much an account of a team has changed since each of these entries, which are its own.
pub fn changes_since(
    reader: &Reader,
    team: TeamRowId,
    account: &str,
    entries: &[LedgerEntryRowId],
) -> Result<HashMap<LedgerEntryRowId, Cents>> {
    const SQL: &str = "SELECT entry, since FROM (
             SELECT entry, coalesce(sum(cents) OVER (
                 ORDER BY entry DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS since
             FROM ledger_postings WHERE team = ?1 AND account = ?2 AND entry >= ?3)
         WHERE entry IN (SELECT value FROM json_each(?4))";
    let Some(oldest) = entries.iter().min() else { return Ok(HashMap::new()) };
    let found = reader.query_all(SQL, (team, account, oldest, row::to_json(entries)?), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(found.into_iter().collect())
}
