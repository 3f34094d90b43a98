//! Rate limits: requests per minute of a client address, and of a team by [`Budget`].
//!
//! The middleware counts a request by address, before anything else is processed. A request with a valid key
//! is also counted by team, as soon as the team is known: see [`RequestLimits::charge_team`]. If no limit is
//! configured, a request has no [`RequestLimits`], and nothing is counted.

mod budgets;
mod meter;

use std::{
    fmt::Write,
    net::IpAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use poem::{
    Endpoint, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue},
};

pub use budgets::Budget;
use meter::{Meter, QuotaState, WINDOW_SECONDS};

use super::{client_network, problem, request_id::RequestId};
use crate::{
    clock::Stopwatch,
    config::LimitSettings,
    domain::teams::TeamRowId,
    error::{Error, Result},
    string_enum::StringEnum,
};

/// Response header with the limits that apply, as defined in section 3 of "`RateLimit` header fields for
/// HTTP", draft 10.
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Response header with what remains of them, as defined in section 4 of the draft.
const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The name of the limit per client address in the headers.
const ADDRESS_BUDGET: &str = "address";

/// All configured limits, with the request counts.
#[derive(Debug)]
pub struct RateLimits {
    address: Option<Meter<IpAddr>>,
    teams: Vec<(Budget, Meter<TeamRowId>)>,
    trust_forwarded_for: bool,
}

impl RateLimits {
    /// Creates the limits that the settings specify, or none if all are 0.
    pub fn new(settings: &LimitSettings, stopwatch: &Stopwatch) -> Option<RateLimits> {
        let address = Meter::new(ADDRESS_BUDGET, settings.address, stopwatch);
        let meter = |budget: &Budget| {
            Some((*budget, Meter::new(budget.as_str(), budget.quota(settings), stopwatch)?))
        };
        let teams: Vec<_> = Budget::ALL.iter().filter_map(meter).collect();
        if address.is_none() && teams.is_empty() {
            return None;
        }
        Some(RateLimits { address, teams, trust_forwarded_for: settings.trust_forwarded_for })
    }

    /// Counts a request by client address. Returns none if addresses have no limit.
    fn count_address(&self, request: &Request) -> Option<QuotaState> {
        let meter = self.address.as_ref()?;
        Some(meter.count(&client_network::request_network(request, self.trust_forwarded_for)))
    }

    fn count_team(&self, budget: Budget, team: TeamRowId) -> Option<QuotaState> {
        let (_, meter) = self.teams.iter().find(|(limited, _)| *limited == budget)?;
        Some(meter.count(&team))
    }
}

/// The limits that one request is counted against, shared with the handlers through the request's data.
#[derive(Clone, Debug)]
pub struct RequestLimits(Arc<RequestLimitsInner>);

#[derive(Debug)]
struct RequestLimitsInner {
    limits: Arc<RateLimits>,
    budget: OnceLock<Budget>,
    quota_states: Mutex<Vec<QuotaState>>,
}

impl RequestLimits {
    fn new(limits: &Arc<RateLimits>) -> RequestLimits {
        let limits = Arc::clone(limits);
        RequestLimits(Arc::new(RequestLimitsInner {
            limits,
            budget: OnceLock::new(),
            quota_states: Mutex::default(),
        }))
    }

    /// Records the budget of a request, once its operation is known.
    pub fn set_budget(request: &Request, budget: Budget) {
        if let Some(request_limits) = request.data::<RequestLimits>() {
            let _ = request_limits.0.budget.set(budget);
        }
    }

    /// Counts a request by team, or fails if the team has used up its budget.
    pub fn charge_team(request: &Request, team: TeamRowId) -> Result<()> {
        let Some(request_limits) = request.data::<RequestLimits>() else { return Ok(()) };
        let budget = request_limits.0.budget.get().copied().unwrap_or(Budget::Other);
        match request_limits.0.limits.count_team(budget, team) {
            Some(state) => request_limits.record(state),
            None => Ok(()),
        }
    }

    fn record(&self, state: QuotaState) -> Result<()> {
        let mut quota_states = self.0.quota_states.lock().unwrap_or_else(PoisonError::into_inner);
        // An agent's request may perform several API calls: only the last state of each budget is reported.
        quota_states.retain(|earlier| earlier.name != state.name);
        quota_states.push(state);
        drop(quota_states);
        match state.retry_in_seconds {
            Some(seconds) => {
                let budget = format!("`{}` budget of {} requests per minute", state.name, state.quota);
                Err(Error::RateLimited { budget, retry_seconds: seconds.into() })
            }
            None => Ok(()),
        }
    }

    /// Adds the `RateLimit` headers to a response.
    fn write_headers(&self, headers: &mut HeaderMap) {
        let quota_states = self.0.quota_states.lock().unwrap_or_else(PoisonError::into_inner);
        if quota_states.is_empty() {
            return;
        }
        let (mut policy, mut remaining_text) = (String::new(), String::new());
        for (index, QuotaState { name, quota, remaining, full_in_seconds, .. }) in
            quota_states.iter().enumerate()
        {
            let comma = if index == 0 { "" } else { ", " };
            let _ = write!(policy, "{comma}\"{name}\";q={quota};w={WINDOW_SECONDS}");
            let _ = write!(remaining_text, "{comma}\"{name}\";r={remaining};t={full_in_seconds}");
        }
        for (name, text) in [(RATELIMIT_POLICY, policy), (RATELIMIT, remaining_text)] {
            headers.insert(name, HeaderValue::try_from(text).expect("the header is visible ASCII"));
        }
    }
}

/// Middleware that counts requests and adds the `RateLimit` headers. It is outside the layer that converts
/// errors to responses, so that error responses have the headers, too. It therefore converts its own errors.
pub async fn layer<E: Endpoint<Output = Response>>(
    limits: Option<Arc<RateLimits>>,
    inner: Arc<E>,
    mut request: Request,
) -> poem::Result<Response> {
    let Some(limits) = limits else { return inner.call(request).await };
    let request_limits = RequestLimits::new(&limits);
    let charged = limits.count_address(&request).map_or(Ok(()), |state| request_limits.record(state));
    let mut response = match charged {
        Ok(()) => {
            request.set_data(request_limits.clone());
            inner.call(request).await?
        }
        Err(error) => problem::error_response(&error, RequestId::from_request(&request).as_str()),
    };
    request_limits.write_headers(response.headers_mut());
    Ok(response)
}
