//! Carries out the faults of a world that are for requests.
//!
//! In the turn of a request, the fault is chosen, and the request is answered or executed, through all middleware. Delays
//! follow after the turn, so they do not hold up other requests.

use std::{sync::Arc, time::Duration};

use poem::{
    Request, Response,
    http::{HeaderName, HeaderValue, Method},
};
use tokio::time::sleep;

use crate::{
    error::{Code, Result},
    http_server::{connections::Cut, faulty_body},
    operations::access::{Authenticated, AuthenticatedTeam},
    string_enum::StringEnum,
    web::{
        documented_operations::{DocumentedOperation, DocumentedOperations},
        key_headers,
        limits::{Budget, RequestLimits},
        shares::held_requests::{HeldPlace, HeldRequests, ServerStop},
        world_host::fault_answers::PlannedAnswer,
    },
    worlds::{ChosenFault, CutPlace, FaultAnswer, Interruption, RequestFacts, World},
};

/// The header with the ID of the fault that has changed a response.
pub const HEADER: HeaderName = HeaderName::from_static("x-sandbox-fault");

/// Maximum time for which a response stalls. Then its connection is closed.
const MAX_STALL: Duration = Duration::from_mins(5);

/// What the faults of a server need to know of it.
pub struct FaultContext {
    /// The documented operations.
    pub operations: Arc<DocumentedOperations>,
    /// The places of responses that stall.
    pub held_requests: HeldRequests,
}

/// A fault that takes effect on a request.
pub struct PlannedFault {
    id: HeaderValue,
    delay: Duration,
    bytes_per_second: Option<u32>,
    interruption: Option<Interruption>,
    /// The place of a response that stalls.
    place: Option<HeldPlace>,
    stop: Option<ServerStop>,
}

impl FaultContext {
    /// Returns the fault that takes effect on a request to a world, whose turn it is. If the fault is an answer, the request
    /// is given to the server with it. Preflight requests of browsers have no faults.
    pub async fn plan(&self, world: &World, request: &mut Request) -> Option<PlannedFault> {
        if world.faults().is_empty() || *request.method() == Method::OPTIONS {
            return None;
        }
        // Boxed: otherwise, it would enlarge the future of every request.
        Box::pin(self.find(world, request)).await
    }

    async fn find(&self, world: &World, request: &mut Request) -> Option<PlannedFault> {
        let operation = self.operations.find(request.method(), request.uri().path());
        let caller = if world.faults().any_matches_team() { caller(world, request).await } else { None };
        let team = caller.clone().and_then(|caller| AuthenticatedTeam::authorize(caller).ok());
        let name = operation.map(DocumentedOperation::name);
        let facts = RequestFacts {
            operation: name.as_ref(),
            path: request.uri().path(),
            team: team.as_ref().map(AuthenticatedTeam::team),
        };
        let ChosenFault { id, effect, delay_ms } = world.faults().for_request(world.moment(), facts)?;
        let mut fault = PlannedFault {
            id: HeaderValue::try_from(id).ok()?,
            delay: Duration::from_millis(delay_ms.into()),
            bytes_per_second: effect.body_bytes_per_second,
            interruption: effect.interruption,
            place: None,
            stop: ServerStop::of_request(request),
        };
        let mut answer = effect.answer.as_ref().map(|answer| planned_answer(answer, operation));
        match effect.interruption {
            Some(Interruption::Cut(CutPlace::Before)) => answer = Some(PlannedAnswer::None),
            Some(Interruption::Stall) => match self.place(world, request).await {
                Ok(place) => fault.place = Some(place),
                Err(_) => {
                    answer = Some(PlannedAnswer::error(503, Some(Code::AtCapacity.as_str()), Budget::Other));
                    fault.interruption = None;
                }
            },
            _ => {}
        }
        if let Some(answer) = answer {
            request.set_data(answer);
        }
        Some(fault)
    }

    /// Takes a place for a response that stalls, for the principal, or for the client network of a request without a key.
    async fn place(&self, world: &World, request: &Request) -> Result<HeldPlace> {
        match caller(world, request).await {
            Some(caller) => self.held_requests.try_acquire(world.market().id(), caller.principal()),
            None => {
                let network = world.market().settings().proxies().client_network(request);
                self.held_requests.try_acquire_for_network(network)
            }
        }
    }
}

/// Authenticates the key of a request; none without a valid one.
async fn caller(world: &World, request: &Request) -> Option<Authenticated> {
    let market = world.market();
    let key = key_headers::api_key(request.headers()).ok()?;
    let requester = RequestLimits::client_requester(request, market.settings());
    Authenticated::authenticate(&market, requester, key).await.ok()
}

/// Returns the answer to a request. `operation` is the operation of the request.
fn planned_answer(answer: &FaultAnswer, operation: Option<&DocumentedOperation>) -> PlannedAnswer {
    let FaultAnswer { status, code } = answer;
    match operation {
        Some(operation) if *status < 400 => {
            PlannedAnswer::Success(*status, operation.examples.get(status).cloned())
        }
        None if *status < 400 => PlannedAnswer::Success(*status, None),
        _ => {
            let budget = operation.map_or(Budget::Other, |operation| operation.budget);
            PlannedAnswer::error(*status, code.as_deref(), budget)
        }
    }
}

impl PlannedFault {
    /// Changes a response as the fault says, and waits as long as it delays it. The turn of the request must be over.
    pub async fn carry_out(mut self, mut response: Response) -> Response {
        response.headers_mut().insert(HEADER, self.id.clone());
        if !self.delay.is_zero() {
            wait(self.delay, self.stop.clone()).await;
        }
        match self.interruption {
            None | Some(Interruption::Cut(CutPlace::Before)) => {}
            Some(Interruption::Cut(CutPlace::AfterWrite)) => response.set_data(Cut::BeforeHead),
            Some(Interruption::Cut(CutPlace::Body)) if faulty_body::has_body(&mut response) => {
                faulty_body::end_early(&mut response, None);
            }
            // Without a body, only the head can be cut.
            Some(Interruption::Cut(CutPlace::Headers | CutPlace::Body)) => response.set_data(Cut::InHead),
            Some(Interruption::Stall) => self.stall(&mut response).await,
        }
        if let Some(rate) = self.bytes_per_second {
            faulty_body::slow_down(&mut response, rate);
        }
        response
    }

    /// Lets a response stall in its body, or, if it has none, before its head.
    async fn stall(&mut self, response: &mut Response) {
        let (place, stop) = (self.place.take(), self.stop.clone());
        let stalled = async move {
            let _place = place;
            wait(MAX_STALL, stop).await;
        };
        if faulty_body::has_body(response) {
            faulty_body::end_early(response, Some(Box::pin(stalled)));
        } else {
            stalled.await;
            response.set_data(Cut::BeforeHead);
        }
    }
}

/// Waits, but not longer than until the server stops, or the world or its market ends.
async fn wait(duration: Duration, stop: Option<ServerStop>) {
    tokio::select! {
        () = sleep(duration) => {}
        () = ServerStop::wait_for(stop) => {}
    }
}
