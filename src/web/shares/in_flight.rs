//! The requests with an idempotency key that are in progress: the same request cannot run twice at once.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    error::{Error, Result, StateCode},
    operations::idempotency,
};

/// The requests with an idempotency key that are in progress.
#[derive(Clone, Debug, Default)]
pub struct InFlight(Arc<Mutex<HashSet<idempotency::Request>>>);

impl InFlight {
    /// Adds a request, or fails if the same one is in progress. Dropping the guard removes it.
    pub fn try_insert(&self, request: &idempotency::Request) -> Result<InFlightGuard> {
        if self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(request.clone()) {
            return Ok(InFlightGuard { requests: self.clone(), request: request.clone() });
        }
        let message =
            "A request with this key is in progress. Wait for its response, or retry this one later.";
        Err(Error::InvalidState(StateCode::IdempotencyInFlight, message.to_owned()))
    }
}

/// Keeps a request in [`InFlight`] until it is dropped.
#[derive(Debug)]
pub struct InFlightGuard {
    requests: InFlight,
    request: idempotency::Request,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.requests.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{principals::Principal, row_ids::KeyRowId, teams::TeamRowId};

    #[test]
    fn request_in_progress_is_rejected() {
        let request = |key: &str, route: &str| idempotency::Request {
            principal: Principal::Team(TeamRowId(1)),
            key: key.to_owned(),
            route: route.to_owned(),
        };
        let in_flight = InFlight::default();
        let first = in_flight.try_insert(&request("k", "POST /a")).unwrap();
        let error = in_flight.try_insert(&request("k", "POST /a")).unwrap_err();
        assert_eq!(error.code(), Some(crate::error::Code::IdempotencyInFlight));
        assert!(
            in_flight.try_insert(&request("k", "POST /b")).is_ok()
                && in_flight.try_insert(&request("l", "POST /a")).is_ok()
        );
        let of_operator =
            idempotency::Request { principal: Principal::Operator(KeyRowId(1)), ..request("k", "POST /a") };
        assert!(in_flight.try_insert(&of_operator).is_ok(), "an operator key with the row ID of the team");
        drop(first);
        assert!(in_flight.try_insert(&request("k", "POST /a")).is_ok());
    }
}
