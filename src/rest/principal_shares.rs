//! What a request holds, as a part of the shares of its principal.

use poem::Request;

use super::{capacity::Slot, transfer_limits::RequestTransfers};
use crate::{domain::principals::Principal, error::Result, market::Market};

/// Counts what a request holds from now on for a principal of a market, whose key or signature was checked.
pub async fn count_for(market: &Market, request: &Request, principal: Principal) -> Result<()> {
    RequestTransfers::set_principal(request, market.id(), principal);
    Slot::assign_to_principal(request, market.id(), principal).await
}
