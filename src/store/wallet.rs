//! The ledger, and the balances computed from it. The changes of earnings are in `earnings`.

use uuid::Uuid;

use super::{Reader, Writer};
use crate::{
    domain::{
        ledger::{EntryType, Posting},
        money::Cents,
        row_ids::PurchaseRowId,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    string_enum::StringEnum,
};

/// The fields of a ledger entry to insert.
#[derive(Debug)]
pub struct NewEntry<'a> {
    /// ID of the entry.
    pub id: Uuid,
    /// Reason for the movement of money.
    pub entry_type: EntryType,
    /// Description for people.
    pub description: &'a str,
    /// Row ID of the related purchase.
    pub purchase: Option<PurchaseRowId>,
    /// Row ID of the team whose credits or earnings change.
    pub team: TeamRowId,
    /// Time of the entry.
    pub created_at: Timestamp,
    /// Time from which the earnings can be used.
    pub available_at: Timestamp,
}

/// Inserts an entry with its postings, which must sum to zero. Zero postings are left out.
pub fn insert(writer: &Writer, entry: &NewEntry, postings: &[Posting]) -> Result<()> {
    const ENTRY: &str =
        "INSERT INTO ledger_entries (uuid, entry_type, description, purchase, created_at, available_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    const POSTING: &str = "INSERT INTO ledger_postings (entry, account, team, cents) VALUES (?1, ?2, ?3, ?4)";
    if postings.iter().map(|(_, cents)| cents.0).sum::<i64>() != 0 {
        return Err(Error::internal("the postings of a ledger entry do not sum to zero"));
    }
    let row_id = writer.insert(
        ENTRY,
        (
            entry.id,
            entry.entry_type.as_str(),
            entry.description,
            entry.purchase,
            entry.created_at.0,
            entry.available_at.0,
        ),
    )?;
    for (account, cents) in postings.iter().filter(|(_, cents)| cents.0 != 0) {
        let team = account.is_per_team().then_some(entry.team);
        writer.execute(POSTING, (row_id, account.name(), team, cents.0))?;
    }
    Ok(())
}

/// The balances of a team's wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balances {
    /// Credits that the team can spend.
    pub credits: Cents,
    /// Total earnings so far, net of fees and refunds.
    pub earned: Cents,
    /// The part of the earnings that is not available yet.
    pub pending: Cents,
    /// Earnings that can be converted or withdrawn: available, and not used yet.
    pub available: Cents,
}

/// Returns a team's balances at `now`.
pub fn balances(reader: &Reader, team: TeamRowId, now: Timestamp) -> Result<Balances> {
    const SQL: &str = "SELECT
             coalesce(sum(p.cents) FILTER (WHERE p.account = 'credits'), 0),
             coalesce(sum(p.cents) FILTER (WHERE p.account = 'earnings'
                 AND e.entry_type NOT IN ('credit_conversion', 'withdrawal')), 0),
             coalesce(sum(p.cents) FILTER (WHERE p.account = 'earnings' AND e.available_at > ?2), 0),
             coalesce(sum(p.cents) FILTER (WHERE p.account = 'earnings' AND e.available_at <= ?2), 0)
         FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry WHERE p.team = ?1";
    reader.query_one(SQL, (team, now.0), |row| {
        Ok(Balances {
            credits: Cents(row.get(0)?),
            earned: Cents(row.get(1)?),
            pending: Cents(row.get(2)?),
            available: Cents(row.get(3)?),
        })
    })
}
