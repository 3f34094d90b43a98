//! A team's credits and earnings.

use super::access::Member;
use crate::{
    error::Result,
    market::Reader,
    store::{self, wallet::Balances},
};

/// What the team's wallet shows.
pub fn balances(reader: &Reader, member: &Member) -> Result<Balances> {
    store::wallet::balances(reader.rows, member.number(), reader.now)
}
