//! The ledger, and the sums that a wallet shows.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        ledger::{EntryType, Posting},
        money::Cents,
        teams::TeamNumber,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::{Error, Result},
};

/// A movement of money to be.
#[derive(Debug)]
pub struct NewEntry<'a> {
    /// Its id.
    pub id: Uuid,
    /// Why money moves.
    pub entry_type: EntryType,
    /// The same in words.
    pub description: &'a str,
    /// The purchase that explains it, by its row number.
    pub purchase: Option<i64>,
    /// The team whose credits or earnings it touches.
    pub team: TeamNumber,
    /// When it happens.
    pub created_at: Timestamp,
    /// From when earnings can be used.
    pub available_at: Timestamp,
}

/// Adds an entry with its postings, which must sum to zero. Postings of nothing are left out.
pub fn insert(writer: &Writer, entry: &NewEntry, postings: &[Posting]) -> Result<i64> {
    const ENTRY: &str =
        "INSERT INTO ledger_entries (uuid, entry_type, description, purchase, created_at, available_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    const POSTING: &str = "INSERT INTO ledger_postings (entry, account, team, cents) VALUES (?1, ?2, ?3, ?4)";
    if postings.iter().map(|(_, cents)| cents.0).sum::<i64>() != 0 {
        return Err(Error::internal("the postings of a ledger entry do not sum to zero"));
    }
    let number = writer.insert(
        ENTRY,
        (
            entry.id,
            entry.entry_type.word(),
            entry.description,
            entry.purchase,
            entry.created_at.0,
            entry.available_at.0,
        ),
    )?;
    for (account, cents) in postings.iter().filter(|(_, cents)| cents.0 != 0) {
        let team = account.is_a_teams().then_some(entry.team.0);
        writer.execute(POSTING, (number, account.name(), team, cents.0))?;
    }
    Ok(number)
}

/// What a wallet shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balances {
    /// Credits to spend.
    pub credits: Cents,
    /// Everything earned so far, net of fees and refunds.
    pub earned: Cents,
    /// The part of it that cannot be used yet.
    pub pending: Cents,
    /// What can be converted or withdrawn: earned, not pending and not used.
    pub available: Cents,
}

/// A team's balances at `now`, in one statement.
pub fn balances(reader: &Reader, team: TeamNumber, now: Timestamp) -> Result<Balances> {
    const SQL: &str = "SELECT
             coalesce(sum(p.cents) FILTER (WHERE p.account = 'credits'), 0),
             coalesce(sum(p.cents) FILTER (WHERE p.account = 'earnings'
                 AND e.entry_type NOT IN ('credit_conversion', 'withdrawal')), 0),
             coalesce(sum(p.cents) FILTER (WHERE p.account = 'earnings' AND e.available_at > ?2), 0),
             coalesce(sum(p.cents) FILTER (WHERE p.account = 'earnings' AND e.available_at <= ?2), 0)
         FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry WHERE p.team = ?1";
    reader.one(SQL, (team.0, now.0), |row| {
        Ok(Balances {
            credits: Cents(row.get(0)?),
            earned: Cents(row.get(1)?),
            pending: Cents(row.get(2)?),
            available: Cents(row.get(3)?),
        })
    })
}

/// What an entry did to a team's earnings.
#[derive(Clone, Debug)]
pub struct Earning {
    /// The entry's id.
    pub id: Uuid,
    /// Why money moved.
    pub entry_type: EntryType,
    /// By how much the earnings grew; less than zero where they shrank.
    pub amount: Cents,
    /// When it happened.
    pub created_at: Timestamp,
    /// From when it can be used.
    pub available_at: Timestamp,
    /// The same in words.
    pub description: String,
    /// The purchase that explains it.
    pub purchase: Option<Uuid>,
}

/// What happened to a team's earnings, newest first.
pub fn earnings(reader: &Reader, team: TeamNumber, limit: usize, offset: u64) -> Result<Vec<Earning>> {
    const SQL: &str = "SELECT e.uuid, e.entry_type, p.cents, e.created_at, e.available_at, e.description, b.uuid
         FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry LEFT JOIN purchases b ON b.id = e.purchase
         WHERE p.team = ?1 AND p.account = 'earnings' ORDER BY e.created_at DESC, e.id DESC LIMIT ?2 OFFSET ?3";
    reader.all(SQL, (team.0, limit as i64, offset as i64), |row| {
        Ok(Earning {
            id: row.get(0)?,
            entry_type: row::word(row, 1)?,
            amount: Cents(row.get(2)?),
            created_at: row::time(row, 3)?,
            available_at: row::time(row, 4)?,
            description: row.get(5)?,
            purchase: row.get(6)?,
        })
    })
}

/// How many entries touched a team's earnings.
pub fn earning_count(reader: &Reader, team: TeamNumber) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM ledger_postings WHERE team = ?1 AND account = 'earnings'";
    reader.one(SQL, [team.0], |row| row.get(0))
}
