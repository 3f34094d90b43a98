//! Balances for operators: their components, and whether they agree with the ledger.

use uuid::Uuid;

use super::{access::Platform, teams};
use crate::{
    domain::{
        ledger::{AccountKind, EntryType},
        money::Cents,
    },
    error::Result,
    market::Reader,
    store::{self, balances::TeamTotals, money_summaries::Release, wallet::Balances},
};

pub use store::balances::{AdjustmentReason, NamedPosting, Origin};

/// The wallet of a team, and what it consists of.
#[derive(Debug)]
pub struct ExplainedWallet {
    /// The stored balances.
    pub stored: Balances,
    /// What has changed the credits and the earnings, by type of entry.
    pub origins: Vec<Origin>,
    /// Earnings that holds keep.
    pub held: Cents,
    /// When earnings on hold become available, earliest first.
    pub releases: Vec<Release>,
}

impl ExplainedWallet {
    /// Returns what has changed an account.
    pub fn of(&self, account: AccountKind) -> impl Iterator<Item = &Origin> {
        self.origins.iter().filter(move |origin| origin.account == account)
    }

    /// Returns the sum of all postings to an account.
    pub fn sum_of(&self, account: AccountKind) -> Cents {
        Cents(self.of(account).map(|origin| origin.amount.0).sum())
    }

    /// Returns the sum of the postings that add earnings, without those that use earnings.
    pub fn earned(&self) -> Cents {
        let earned =
            self.of(AccountKind::Earnings).filter(|origin| !EntryType::uses_earnings(origin.entry_type));
        Cents(earned.map(|origin| origin.amount.0).sum())
    }

    /// Whether the stored balances are what the postings and the holds say.
    pub fn adds_up(&self) -> bool {
        let earnings = self.sum_of(AccountKind::Earnings);
        self.stored.credits == self.sum_of(AccountKind::Credits)
            && self.stored.earned == self.earned()
            && self.stored.pending == self.held
            && self.stored.available.0 == earnings.0 - self.held.0
    }
}

/// The balances of the whole market. They sum to zero, since each entry does.
#[derive(Debug)]
pub struct MarketBalances {
    /// The balances of all teams together.
    pub teams: TeamTotals,
    /// The balances of the platform.
    pub platform: Vec<(AccountKind, Cents)>,
}

impl MarketBalances {
    /// Returns the sum of all balances.
    pub fn sum(&self) -> Cents {
        let TeamTotals { credits, pending, available } = self.teams;
        let platform: i64 = self.platform.iter().map(|(_, cents)| cents.0).sum();
        Cents(credits.0 + pending.0 + available.0 + platform)
    }
}

/// The comparison of all balances with the postings: sums of all postings, and the contradictions.
#[derive(Debug)]
pub struct Proof {
    /// What has changed each kind of account, by type of entry.
    pub origins: Vec<Origin>,
    /// What is wrong; empty if everything adds up.
    pub problems: Vec<String>,
}

/// Returns the postings of an entry.
pub fn postings(reader: &Reader, _: Platform, entry: Uuid) -> Result<Vec<NamedPosting>> {
    store::balances::postings(reader.rows, entry)
}

/// Returns the wallet of a team, and what it consists of. A bounded number of statements.
pub fn explain(reader: &Reader, _: Platform, team: Uuid) -> Result<ExplainedWallet> {
    let team = teams::resolve(reader.rows, &team.to_string())?.row_id;
    Ok(ExplainedWallet {
        stored: store::wallet::balances(reader.rows, team)?,
        origins: store::balances::origins_of_team(reader.rows, team)?,
        held: store::balances::held(reader.rows, team)?,
        releases: store::money_summaries::releases(reader.rows, team, reader.now)?,
    })
}

/// Returns the balances of the whole market, as they are stored.
pub fn of_market(reader: &Reader, _: Platform) -> Result<MarketBalances> {
    Ok(MarketBalances {
        teams: store::balances::team_totals(reader.rows)?,
        platform: store::wallet::platform_balances(reader.rows)?,
    })
}

/// Compares all balances with all postings. Reads the whole ledger.
pub fn prove(reader: &Reader, _: Platform) -> Result<Proof> {
    Ok(Proof {
        origins: store::balances::origins(reader.rows)?,
        problems: store::verify::find_ledger_inconsistencies(reader.rows)?,
    })
}
