//! Wallets: credits and earnings of a team.

use super::access::Member;
use crate::{
    error::Result,
    market::Reader,
    store::{self, wallet::Balances},
};

/// Returns the balances of the team's wallet.
pub fn balances(reader: &Reader, member: &Member) -> Result<Balances> {
    store::wallet::balances(reader.rows, member.team_row_id())
}
