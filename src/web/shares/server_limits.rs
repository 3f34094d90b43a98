//! The limits of a server on what requests in progress hold, and the counts of requests. Its market and its worlds share both.

use std::sync::Arc;

use crate::{
    market::Market,
    web::{
        documented_operations::DocumentedOperations,
        request_counts::RequestCounts,
        shares::{
            capacity::Capacity, held_requests::HeldRequests, stream_turns::StreamTurns,
            transfer_limits::TransferLimits,
        },
    },
};

/// The limits of a server. Principals of each market have shares of their own.
#[derive(Clone)]
pub struct ServerLimits {
    /// Slots of requests in progress.
    pub capacity: Capacity,
    /// Slots for bodies and downloads, memory, and temporary files.
    pub transfers: Arc<TransferLimits>,
    /// Places of requests that are held open.
    pub held_requests: HeldRequests,
    /// Counts of requests.
    pub counts: Arc<RequestCounts>,
}

impl ServerLimits {
    /// Creates the limits that the settings of a market specify, and counts of requests for these operations.
    pub fn new(market: &Market, operations: &DocumentedOperations) -> ServerLimits {
        let settings = market.settings();
        let capacity = Capacity::new(settings, market.stopwatch());
        let turns = StreamTurns::new(Some(capacity.clone()), market.stopwatch());
        ServerLimits {
            capacity,
            transfers: Arc::new(TransferLimits::new(settings, market.stopwatch())),
            held_requests: HeldRequests::new(settings, turns),
            counts: Arc::new(RequestCounts::new(operations.counted())),
        }
    }
}
