//! Places of requests that are held open: streams, and requests that wait for something. They take no slot of
//! the requests in progress (see [`crate::web::shares::capacity`]) and no connection to the database while nothing happens, and
//! they have no deadline. Each principal can have a number of them, and all principals together another.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use poem::Request;
use tokio::{sync::watch, time::timeout};

use crate::{
    config::Settings,
    domain::principals::Principal,
    error::{Error, Result},
    market::{Market, MarketId},
    web::shares::{
        capacity::Slot,
        holders::{FairLimit, FairPermit, Holder, Maxima},
        stream_turns::StreamTurns,
    },
};

/// The `Retry-After` of a request that was rejected because there is no place for it. The others are held for long.
const RETRY_SECONDS: u64 = 5;

/// How long a request may take before it is held, if it can be, unless its time limit is shorter than twice that.
const HOLD_AFTER: Duration = Duration::from_secs(2);

/// The places of a server, and the turns of streams to read.
#[derive(Clone, Debug)]
pub struct HeldRequests {
    places: FairLimit,
    turns: StreamTurns,
    hold_after: Duration,
    /// Number of requests for which there was no place.
    rejected: Arc<AtomicU64>,
}

/// The place of a request, which is free again when it is dropped.
#[derive(Debug)]
pub struct HeldPlace {
    _permit: FairPermit,
}

/// Returns the numbers of places that the settings specify.
fn maxima(settings: &Settings) -> Maxima {
    let each = settings.limits.held_per_principal.into();
    Maxima::new(settings.limits.held.into(), each, each)
}

impl HeldRequests {
    /// Creates the places that the settings specify.
    pub fn new(settings: &Settings, turns: StreamTurns) -> HeldRequests {
        let places = FairLimit::with_maxima(maxima(settings));
        let hold_after = match settings.server.answer_seconds {
            0 => HOLD_AFTER,
            seconds => HOLD_AFTER.min(Duration::from_secs(seconds.into()) / 2),
        };
        HeldRequests { places, turns, hold_after, rejected: Arc::default() }
    }

    /// Changes the numbers of places to those in other settings.
    pub fn follow(&self, settings: &Settings) {
        self.places.set_maxima(maxima(settings));
    }

    /// Returns how many places are taken, and their maximum; 0 for no limit.
    pub fn load(&self) -> (u64, u64) {
        self.places.load()
    }

    /// Returns how often there was no place for a request.
    pub fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }

    /// Creates the places of a market that no server serves.
    pub fn without_server(market: &Market) -> HeldRequests {
        HeldRequests::new(market.settings(), StreamTurns::new(None, market.stopwatch()))
    }

    /// Returns the turns of streams to read.
    pub fn turns(&self) -> StreamTurns {
        self.turns.clone()
    }

    /// Takes a place for a request of a principal of a market, without waiting for one.
    pub fn try_acquire(&self, market: MarketId, principal: Principal) -> Result<HeldPlace> {
        self.try_acquire_for(Holder::Principal((market, principal)))
    }

    /// Like [`HeldRequests::try_acquire`], for a request without a key, by the network of its client.
    pub fn try_acquire_for_network(&self, network: IpAddr) -> Result<HeldPlace> {
        self.try_acquire_for(Holder::Network(network))
    }

    /// Does the rest of a request, after which nothing follows except the response. If it takes long, the request is held from
    /// then on; without a place, it keeps its slot and its deadline.
    pub async fn finish<T>(
        &self,
        request: &Request,
        (market, principal): (MarketId, Principal),
        rest: impl Future<Output = T>,
    ) -> T {
        let mut rest = Box::pin(rest);
        if let Ok(done) = timeout(self.hold_after, &mut rest).await {
            return done;
        }
        match self.try_acquire(market, principal) {
            Ok(_place) => {
                Slot::remove_deadline(request);
                Slot::release_for_rest(request, rest).await
            }
            Err(_) => rest.await,
        }
    }

    fn try_acquire_for(&self, holder: Holder) -> Result<HeldPlace> {
        let permit = self.places.try_acquire([Some(holder), None], 1);
        permit.map(|permit| HeldPlace { _permit: permit }).ok_or_else(|| {
            self.rejected.fetch_add(1, Ordering::Relaxed);
            Error::AtCapacity { retry_seconds: RETRY_SECONDS }
        })
    }
}

/// Ends requests that are held when the server stops, or their world or its market ends.
#[derive(Clone, Debug)]
pub struct ServerStop {
    server: watch::Receiver<bool>,
    world: Option<watch::Receiver<bool>>,
    market: Option<watch::Receiver<()>>,
}

impl ServerStop {
    /// Creates a value for a server that stops when `stopping` is set, or dropped.
    pub const fn new(stopping: watch::Receiver<bool>) -> ServerStop {
        ServerStop { server: stopping, world: None, market: None }
    }

    /// Returns a value that also ends requests when `end` of a world is set, or dropped.
    #[must_use]
    pub fn or_end_of_world(self, end: watch::Receiver<bool>) -> ServerStop {
        ServerStop { world: Some(end), ..self }
    }

    /// Returns a value that also ends requests when the sender of `end` is dropped, which is done with the market.
    #[must_use]
    pub fn or_end_of_market(self, end: watch::Receiver<()>) -> ServerStop {
        ServerStop { market: Some(end), ..self }
    }

    /// Returns the value of the server that received a request; `None` if it came another way.
    pub fn of_request(request: &Request) -> Option<ServerStop> {
        request.data::<ServerStop>().cloned()
    }

    /// Waits until the server is stopping, or the world or its market has ended.
    pub async fn wait(&mut self) {
        let ServerStop { server, world, market } = self;
        let world_ended = async {
            match world {
                Some(end) => drop(end.wait_for(|has_ended| *has_ended).await),
                None => std::future::pending().await,
            }
        };
        let market_ended = async {
            match market {
                Some(end) => while end.changed().await.is_ok() {},
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = server.wait_for(|is_stopping| *is_stopping) => {}
            () = world_ended => {}
            () = market_ended => {}
        }
    }

    /// Like [`ServerStop::wait`]; without a server, nothing ends the wait.
    pub async fn wait_for(stop: Option<ServerStop>) {
        match stop {
            Some(mut stop) => stop.wait().await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        clock::{Clock, Stopwatch},
        domain::row_ids::KeyRowId,
        error::Code,
    };

    fn held_requests(settings: &Settings) -> HeldRequests {
        let turns = StreamTurns::new(None, Stopwatch::start(Arc::new(Clock::System)));
        HeldRequests::new(settings, turns)
    }

    #[test]
    fn places_are_limited_for_each_principal_and_in_all() {
        let mut settings = Settings::default();
        (settings.limits.held, settings.limits.held_per_principal) = (5, 2);
        let held = held_requests(&settings);
        let take = |key: i64| held.try_acquire(MarketId(0), Principal::Operator(KeyRowId(key)));
        let places: Vec<_> = [1, 1, 2, 2, 3].map(|key| take(key).unwrap()).into();
        for key in [1, 3, 4] {
            assert_eq!(take(key).unwrap_err().code(), Some(Code::AtCapacity));
        }
        drop(places);
        let _places = [take(4).unwrap(), take(4).unwrap()];
        assert!(take(4).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn long_request_is_held_and_answered_when_it_is_done() {
        for answer_seconds in [60, 2, 1] {
            check_long_requests(answer_seconds).await;
        }
    }

    async fn check_long_requests(answer_seconds: u32) {
        use poem::{Endpoint, EndpointExt, IntoResponse, Response, endpoint::make};

        use crate::{
            clock::{Clock, Stopwatch},
            web::shares::capacity::Capacity,
        };

        const WORK: Duration = Duration::from_mins(10);
        let mut settings = Settings::default();
        (settings.limits.in_flight, settings.limits.queue, settings.server.answer_seconds) =
            (16, 0, answer_seconds);
        (settings.limits.held, settings.limits.held_per_principal) = (8, 4);
        let held = held_requests(&settings);
        let long = make(move |request: Request| {
            let held = held.clone();
            async move {
                let key: i64 = request.uri().path()[1..].parse().unwrap();
                let holder = (MarketId(0), Principal::Operator(KeyRowId(key)));
                if key > 0 {
                    held.finish(&request, holder, tokio::time::sleep(WORK)).await;
                }
                "done".into_response()
            }
        });
        let capacity = Capacity::new(&settings, Stopwatch::start(std::sync::Arc::new(Clock::System)));
        let app =
            std::sync::Arc::new(long.around(move |inner, request| capacity.clone().layer(inner, request)));
        let send = |key: i64| {
            let app = std::sync::Arc::clone(&app);
            let request = Request::builder().uri(format!("/{key}").parse().unwrap()).finish();
            tokio::spawn(async move {
                let response: Response = app.get_response(request).await;
                response.status().as_u16()
            })
        };
        let start = tokio::time::Instant::now();
        // A client without a key has at most half of the slots.
        let eight: Vec<_> = [1, 1, 1, 1, 1, 2, 2, 2].map(send).into();
        tokio::time::sleep(HOLD_AFTER * 2).await;
        assert_eq!(send(0).await.unwrap(), 200, "those that are held have no slot");
        let mut statuses = Vec::new();
        for sent in eight {
            statuses.push(sent.await.unwrap());
        }
        statuses.sort_unstable();
        // One has no place, so it keeps its deadline.
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 503]);
        assert!(start.elapsed() >= WORK && start.elapsed() < WORK * 2);
    }

    #[test]
    fn attempts_without_a_place_cost_little_and_leave_nothing_behind() {
        let held = held_requests(&Settings::default());
        let take = || held.try_acquire(MarketId(0), Principal::Operator(KeyRowId(1)));
        let places: Vec<_> = (0..10).map(|_| take().unwrap()).collect();
        assert!((0..10_000).all(|_| take().is_err()));
        drop(places);
        assert!(take().is_ok());
    }
}
