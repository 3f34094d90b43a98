//! Stored balances: the wallets of teams, and the platform's accounts. Only ledger entries and the ends of holds
//! change them.
//!
//! Balances are bounded by the table, so that adding two of them, or an amount to one, cannot overflow.

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        events::BalanceData,
        ledger::{Account, AccountKind, Transfer},
        money::Cents,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Result},
};

/// The balances of a team's wallet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Balances {
    /// Credits that the team can spend.
    pub credits: Cents,
    /// Total earnings so far, net of fees and refunds.
    pub earned: Cents,
    /// The part of the earnings that is on hold.
    pub pending: Cents,
    /// Earnings that can be converted or withdrawn: not on hold, and not used yet.
    pub available: Cents,
}

impl From<Balances> for BalanceData {
    fn from(balances: Balances) -> BalanceData {
        BalanceData {
            credits: balances.credits.to_string(),
            earned: balances.earned.to_string(),
            pending: balances.pending.to_string(),
            available: balances.available.to_string(),
        }
    }
}

/// Returns the balances of a team.
pub fn balances(reader: &Reader, team: TeamRowId) -> Result<Balances> {
    const SQL: &str =
        "SELECT credits_cents, earned_cents, pending_cents, available_cents FROM wallets WHERE team = ?1";
    reader.query_one(SQL, [team], Balances::from_row)
}

/// Returns the least credits that a team has had since a time.
pub fn min_credits_since(reader: &Reader, team: TeamRowId, since: Timestamp) -> Result<Cents> {
    min_since(reader, team, since, ("w.credits_cents", "credits", "created_at"))
}

/// Returns the least available earnings that a team has had since a time, or will have when its holds end. Earnings
/// become available at the times that their entries state.
pub fn min_available_since(reader: &Reader, team: TeamRowId, since: Timestamp) -> Result<Cents> {
    min_since(reader, team, since, ("w.pending_cents + w.available_cents", "earnings", "available_at"))
}

/// Returns the lowest balance of an account of a team since a time. `time` is the column with the time from which an entry
/// counts.
fn min_since(
    reader: &Reader,
    team: TeamRowId,
    since: Timestamp,
    (balance, account, time): (&str, &str, &str),
) -> Result<Cents> {
    let sql = format!(
        "SELECT {balance} - max(0, coalesce((
             SELECT max(added) FROM (
                 SELECT sum(sum(p.cents)) OVER (ORDER BY e.{time} DESC) AS added
                 FROM ledger_postings p JOIN ledger_entries e ON e.id = p.entry
                 WHERE p.team = ?1 AND p.account = '{account}' AND e.{time} > ?2 GROUP BY e.{time})), 0))
         FROM wallets w WHERE w.team = ?1"
    );
    reader.query_one(&sql, (team, since), |row| row.get(0))
}

/// Returns the balances of the accounts that belong to no team.
pub fn platform_balances(reader: &Reader) -> Result<Vec<(AccountKind, Cents)>> {
    const SQL: &str = "SELECT account, cents FROM platform_balances ORDER BY account";
    reader.query_all(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Changes the balances by the postings of an entry. `pending` is the part of the change of earnings that is on
/// hold, or that is taken from holds. Fails if a balance of a team would become negative.
pub(super) fn apply(writer: &Writer, transfer: &Transfer, pending: Cents) -> Result<()> {
    const TEAM: &str =
        "UPDATE wallets SET credits_cents = credits_cents + ?2, earned_cents = earned_cents + ?3,
             pending_cents = pending_cents + ?4, available_cents = available_cents + ?5
         WHERE team = ?1";
    const PLATFORM: &str = "UPDATE platform_balances SET cents = cents + ?2 WHERE account = ?1";
    for change in transfer.balance_changes(pending) {
        let parameters =
            (change.team, change.credits.0, change.earned.0, change.pending.0, change.available.0);
        expect_one(writer.execute(TEAM, parameters)?)?;
    }
    for posting in &transfer.postings {
        if matches!(posting.account, Account::Platform | Account::Payments | Account::Payouts) {
            expect_one(writer.execute(PLATFORM, (posting.account.name(), posting.cents.0))?)?;
        }
    }
    Ok(())
}

/// Makes pending earnings of a team available.
pub fn release(writer: &Writer, team: TeamRowId, amount: Cents) -> Result<()> {
    const SQL: &str =
        "UPDATE wallets SET pending_cents = pending_cents - ?2, available_cents = available_cents + ?2
         WHERE team = ?1";
    expect_one(writer.execute(SQL, (team, amount))?)
}

fn expect_one(changed: usize) -> Result<()> {
    if changed == 1 { Ok(()) } else { Err(Error::internal("an account has no stored balance")) }
}
