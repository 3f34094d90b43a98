//! Idempotent POST requests: each runs in one transaction, and only once per `Idempotency-Key`.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use poem::{FromRequest, Request, RequestBody};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    App,
    problem::Failure,
    raw::{Answer, Raw},
};
use crate::{
    error::{Code, Error, Problem, Result},
    market::{Market, Writer},
    operations::{
        access::Vendor,
        idempotency::{self, HEADER},
    },
};

/// Maximum length of an idempotency key in characters.
pub const MAX_KEY: usize = 255;

/// The idempotency key of a request, if it has one, and its route.
#[derive(Debug)]
pub struct Once {
    key: Option<String>,
    route: String,
}

impl<'a> FromRequest<'a> for Once {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        // A path may contain the token of an upload grant, so only a digest of it is stored.
        let route = format!("{} {:x}", request.method(), Sha256::digest(request.uri().path()));
        let Some(key) = request.headers().get(HEADER) else { return Ok(Once { key: None, route }) };
        let fits = |key: &&str| {
            (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
        };
        match key.to_str().ok().filter(fits) {
            Some(key) => Ok(Once { key: Some(key.to_owned()), route }),
            None => {
                let msg = format!("`{HEADER}` must have 1 to {MAX_KEY} visible ASCII characters.");
                Err(Failure(Error::invalid(Problem::header(HEADER, "value_error", msg))).into())
            }
        }
    }
}

impl Once {
    /// Runs `work` in a transaction, or returns the stored response of an earlier run. `digest` is the digest
    /// of the body.
    pub async fn write<T: Serialize, const STATUS: u16>(
        self,
        app: &App,
        vendor: Vendor,
        digest: [u8; 32],
        work: impl FnOnce(&mut Writer, &Vendor) -> Result<T> + Send + 'static,
    ) -> Answer<T, STATUS> {
        let team = vendor.number();
        let render =
            move |writer: &mut Writer| serde_json::to_vec(&work(writer, &vendor)?).map_err(Error::internal);
        let Some(key) = self.key else { return Ok(Raw::new(app.market().write(render).await?)) };
        let request = idempotency::Request { team, key, route: self.route };
        let _flight = app.in_flight.begin(&request)?;
        let answer =
            app.market().write(move |writer| idempotency::once(writer, &request, digest, render)).await?;
        Ok(Raw::new(answer))
    }
}

impl Once {
    /// Like [`Once::write`], with a first step outside of the transaction, which is skipped if a response is
    /// stored.
    pub async fn write_after<P: Send + 'static, T: Serialize, const STATUS: u16>(
        self,
        app: &App,
        vendor: Vendor,
        digest: [u8; 32],
        prepare: impl FnOnce(&Market, &Vendor) -> Result<P> + Send + 'static,
        work: impl FnOnce(&mut Writer, &Vendor, P) -> Result<T> + Send + 'static,
    ) -> Answer<T, STATUS> {
        let team = vendor.number();
        let asking = vendor.clone();
        let prepare = move |market: &Market| prepare(market, &asking);
        let Some(key) = self.key else {
            let prepared = app.market().work(prepare).await?;
            let write = move |writer: &mut Writer| {
                serde_json::to_vec(&work(writer, &vendor, prepared)?).map_err(Error::internal)
            };
            return Ok(Raw::new(app.market().write(write).await?));
        };
        let request = idempotency::Request { team, key, route: self.route };
        let _flight = app.in_flight.begin(&request)?;
        let known = request.clone();
        let answered = app.market().read(move |reader| idempotency::answered(reader, &known, digest));
        if let Some(answer) = answered.await? {
            return Ok(Raw::new(answer));
        }
        let prepared = app.market().work(prepare).await?;
        let write = move |writer: &mut Writer| {
            serde_json::to_vec(&work(writer, &vendor, prepared)?).map_err(Error::internal)
        };
        let answer = app.market().write(move |writer| idempotency::once(writer, &request, digest, write));
        Ok(Raw::new(answer.await?))
    }
}

/// The requests with an idempotency key that are in progress.
#[derive(Clone, Debug, Default)]
pub struct InFlight(Arc<Mutex<HashSet<idempotency::Request>>>);

impl InFlight {
    /// Adds a request, or fails if the same one is in progress. Dropping the guard removes it.
    fn begin(&self, request: &idempotency::Request) -> Result<Flight> {
        if self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(request.clone()) {
            return Ok(Flight { all: self.clone(), request: request.clone() });
        }
        let what = "A request with this key is in progress. Wait for its response, or retry this one later.";
        Err(Error::State(Code::IdempotencyInFlight, what.to_owned()))
    }
}

/// Keeps a request in [`InFlight`] until it is dropped.
#[derive(Debug)]
struct Flight {
    all: InFlight,
    request: idempotency::Request,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::teams::TeamNumber;

    #[test]
    fn the_same_request_is_in_flight_once() {
        let request = |key: &str, route: &str| idempotency::Request {
            team: TeamNumber(1),
            key: key.to_owned(),
            route: route.to_owned(),
        };
        let flights = InFlight::default();
        let first = flights.begin(&request("k", "POST /a")).unwrap();
        let refusal = flights.begin(&request("k", "POST /a")).unwrap_err();
        assert_eq!(refusal.code(), Some(Code::IdempotencyInFlight));
        assert!(
            flights.begin(&request("k", "POST /b")).is_ok()
                && flights.begin(&request("l", "POST /a")).is_ok()
        );
        drop(first);
        assert!(flights.begin(&request("k", "POST /a")).is_ok());
    }
}
