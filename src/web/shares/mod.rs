//! What requests hold while they are served: slots, memory, bodies, and places of streams. Each is limited in total, and
//! shared fairly by principals and client networks.

pub mod capacity;
pub mod held_requests;
pub mod holders;
pub mod in_flight;
pub mod server_limits;
pub mod stream_turns;
pub mod transfer_limits;

use poem::Request;

use crate::{
    domain::principals::Principal,
    error::Result,
    market::Market,
    web::shares::{capacity::Slot, transfer_limits::RequestTransfers},
};

/// Counts what a request holds from now on for a principal of a market, whose key or signature was checked.
pub async fn count_for(market: &Market, request: &Request, principal: Principal) -> Result<()> {
    RequestTransfers::set_principal(request, market.id(), principal);
    Slot::assign_to_principal(request, market.id(), principal).await
}
