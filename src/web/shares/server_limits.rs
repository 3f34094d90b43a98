//! The limits of a server on what requests in progress hold, and the counts of requests. Its market and its worlds share both.

use std::sync::Arc;

use crate::{
    config::Prepared,
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
        let transfers = Arc::new(TransferLimits::new(settings, market.stopwatch()));
        let held_requests = HeldRequests::new(settings, turns);
        follow_settings(market, &transfers, &held_requests);
        ServerLimits {
            capacity,
            transfers,
            held_requests,
            counts: Arc::new(RequestCounts::new(operations.counted())),
        }
    }
}

/// Changes the limits with the settings of a market.
fn follow_settings(market: &Market, transfers: &Arc<TransferLimits>, held_requests: &HeldRequests) {
    let (transfers, held_requests) = (Arc::clone(transfers), held_requests.clone());
    market.live_settings().register(move |settings| {
        let (transfers, held_requests, settings) =
            (Arc::clone(&transfers), held_requests.clone(), settings.clone());
        let apply = Box::new(move || {
            transfers.follow(&settings);
            held_requests.follow(&settings);
        });
        Ok(Some(Prepared { what: String::new(), apply }))
    });
}
