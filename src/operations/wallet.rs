//! A team's credits and earnings.

use super::access::{Member, Vendor};
use crate::{
    error::Result,
    market::Reader,
    store::{
        self,
        wallet::{Balances, Earning},
    },
};

/// What the team's wallet shows.
pub fn balances(reader: &Reader, member: &Member) -> Result<Balances> {
    store::wallet::balances(reader.rows, member.number(), reader.now)
}

/// What happened to the team's earnings, newest first, and how many entries there are.
pub fn earnings(reader: &Reader, vendor: &Vendor, limit: usize, offset: u64) -> Result<(Vec<Earning>, u64)> {
    let team = vendor.number();
    Ok((
        store::wallet::earnings(reader.rows, team, limit, offset)?,
        store::wallet::earning_count(reader.rows, team)?,
    ))
}
