//! Wallets: credits and earnings of a team.

use super::access::{Member, Vendor};
use crate::{
    error::Result,
    market::Reader,
    store::{
        self,
        wallet::{Balances, EarningsChange},
    },
};

/// Returns the balances of the team's wallet.
pub fn balances(reader: &Reader, member: &Member) -> Result<Balances> {
    store::wallet::balances(reader.rows, member.team_row_id(), reader.now)
}

/// Returns a page of the entries of the team's earnings, newest first, and their total number.
pub fn earnings(
    reader: &Reader,
    vendor: &Vendor,
    limit: usize,
    offset: u64,
) -> Result<(Vec<EarningsChange>, u64)> {
    let team = vendor.team_row_id();
    Ok((
        store::wallet::list_earnings(reader.rows, team, limit, offset)?,
        store::wallet::count_earnings(reader.rows, team)?,
    ))
}
