//! Rate limits: requests per minute of a client address, and of a principal (a team, or an operator by its
//! key) by [`Budget`]. Each market has its own.
//!
//! The middleware counts a request by address before its key is checked and its body is read. Requests with a
//! malformed head or `Host` and preflight requests are answered earlier, and not counted. A request with a valid
//! key is also counted by principal, as soon as that is known: see [`RequestLimits::charge_principal`]. When it
//! has ended, its principal is charged for the cost of its reads and writes. If no limit is configured, a request
//! has no [`RequestLimits`], and nothing is counted.

mod budgets;
mod meter;
pub mod sign_ins;

use std::{
    fmt::Write,
    net::IpAddr,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use poem::{
    Endpoint, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue},
};
use tokio::time::sleep;

pub use budgets::Budget;
use meter::{Meter, QuotaState, WINDOW_SECONDS};

use crate::{
    clock::Stopwatch,
    config::{LimitSettings, Prepared, Settings},
    domain::{principals::Principal, written::counted},
    error::{Error, Result},
    http_server::trusted_proxies::TrustedProxies,
    market::{CostMeter, Market, Requester, WorkOwner},
    string_enum::StringEnum,
    web::{
        problem,
        request_id::{self, RequestId},
    },
};

/// Response header with the limits that apply, as defined in section 3 of "`RateLimit` header fields for
/// HTTP", draft 10.
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Response header with the remaining requests, as defined in section 4 of the draft.
const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The name of the limit per client address in the headers.
const ADDRESS_BUDGET: &str = "address";

/// The time of reads and writes that a request includes. Each further time of this length costs as much as
/// another request.
const TIME_PER_REQUEST: Duration = Duration::from_millis(50);

/// Delay of a response if a budget is used up. It limits a client that does not wait by itself to ten requests per second and
/// connection.
const REFUSAL_DELAY: Duration = Duration::from_millis(100);

/// All configured limits, with the request counts.
#[derive(Debug)]
pub struct RateLimits {
    address: Option<Meter<IpAddr>>,
    principals: Vec<(Budget, Meter<Principal>)>,
}

impl RateLimits {
    /// Creates the limits that the settings specify, or none if all are 0.
    pub fn new(settings: &LimitSettings, stopwatch: &Stopwatch) -> Option<RateLimits> {
        let address = Meter::new(ADDRESS_BUDGET, settings.address, stopwatch);
        let meter = |budget: &Budget| {
            Some((*budget, Meter::new(budget.as_str(), budget.quota(settings), stopwatch)?))
        };
        let principals: Vec<_> = Budget::ALL.iter().filter_map(meter).collect();
        if address.is_none() && principals.is_empty() {
            return None;
        }
        Some(RateLimits { address, principals })
    }

    /// Counts a request by client address. Returns none if addresses have no limit.
    fn count_address(&self, proxies: &TrustedProxies, request: &Request) -> Option<QuotaState> {
        let meter = self.address.as_ref()?;
        Some(meter.count(&proxies.client_network(request)))
    }

    /// Returns the meter of a budget; none if it is unlimited.
    fn meter(&self, budget: Budget) -> Option<&Meter<Principal>> {
        self.principals.iter().find(|(limited, _)| *limited == budget).map(|(_, meter)| meter)
    }
}

/// The limits of a market, which change with its settings.
#[derive(Clone, Debug)]
pub struct LiveRateLimits(Arc<ArcSwap<CurrentLimits>>);

#[derive(Debug)]
struct CurrentLimits {
    settings: LimitSettings,
    limits: Option<Arc<RateLimits>>,
}

impl CurrentLimits {
    fn new(settings: &LimitSettings, stopwatch: &Stopwatch) -> CurrentLimits {
        let limits = RateLimits::new(settings, stopwatch).map(Arc::new);
        CurrentLimits { settings: settings.clone(), limits }
    }
}

impl LiveRateLimits {
    /// Creates the limits that the settings of a market specify. When a budget changes, all counts start again.
    pub fn of_market(market: &Market) -> LiveRateLimits {
        let stopwatch = market.stopwatch();
        let current = CurrentLimits::new(&market.settings().limits, &stopwatch);
        let current = Arc::new(ArcSwap::from_pointee(current));
        let live = LiveRateLimits(Arc::clone(&current));
        market.live_settings().register(move |settings| {
            if quotas(&current.load().settings) == quotas(&settings.limits) {
                return Ok(None);
            }
            let (current, next) = (Arc::clone(&current), CurrentLimits::new(&settings.limits, &stopwatch));
            Ok(Some(Prepared { what: String::new(), apply: Box::new(move || current.store(Arc::new(next))) }))
        });
        live
    }

    /// Returns the limits in effect; none if there are none.
    pub fn current(&self) -> Option<Arc<RateLimits>> {
        self.0.load().limits.clone()
    }
}

/// Returns the requests per minute of all budgets.
fn quotas(settings: &LimitSettings) -> Vec<u32> {
    let budgets = Budget::ALL.iter().map(|budget| budget.quota(settings));
    budgets.chain([settings.address]).collect()
}

/// The limits that one request is counted against, shared with the handlers through the request's data.
#[derive(Clone, Debug)]
pub struct RequestLimits(Arc<RequestLimitsInner>);

#[derive(Debug)]
struct RequestLimitsInner {
    limits: Arc<RateLimits>,
    /// The budget of the operation that runs. The requests of agents run several.
    budget: Mutex<Budget>,
    /// Who pays for the request, once that is known.
    principal: OnceLock<Principal>,
    /// The time of the reads and writes so far.
    cost: CostMeter,
    /// Number of requests that were charged for this time.
    charged_for_cost: AtomicU32,
    quota_states: Mutex<Vec<QuotaState>>,
    /// Whether something was refused for lack of a budget.
    is_refused: AtomicBool,
}

impl RequestLimits {
    fn new(limits: &Arc<RateLimits>, cost: CostMeter) -> RequestLimits {
        let limits = Arc::clone(limits);
        RequestLimits(Arc::new(RequestLimitsInner {
            limits,
            budget: Mutex::new(Budget::Other),
            principal: OnceLock::new(),
            cost,
            charged_for_cost: AtomicU32::new(0),
            quota_states: Mutex::default(),
            is_refused: AtomicBool::new(false),
        }))
    }

    /// Records the budget of an operation, once it is known. The costs of an earlier operation of the same
    /// request are charged to the budget of that operation.
    pub fn set_budget(request: &Request, budget: Budget) {
        let Some(RequestLimits(inner)) = request.data::<RequestLimits>() else { return };
        if inner.budget() != budget {
            inner.charge_cost();
            *inner.budget.lock().unwrap_or_else(PoisonError::into_inner) = budget;
        }
    }

    /// Counts a request by principal, or fails if the principal has used up its budget.
    pub fn charge_principal(request: &Request, principal: Principal) -> Result<()> {
        let Some(request_limits) = request.data::<RequestLimits>() else { return Ok(()) };
        let _ = request_limits.0.principal.set(principal);
        match request_limits.0.limits.meter(request_limits.0.budget()) {
            Some(meter) => request_limits.record(meter.count(&principal)),
            None => Ok(()),
        }
    }

    /// Returns the requester of a request whose key has not been checked. The cost of its reads and writes is
    /// charged to the principal when it ends.
    pub fn client_requester(request: &Request, settings: &Settings) -> Requester {
        let network = settings.proxies().client_network(request);
        let cost = match request.data::<RequestLimits>() {
            Some(request_limits) => Some(request_limits.0.cost.clone()),
            None => request_id::cost_meter(request),
        };
        let requester = match cost {
            Some(cost) => Requester::new(WorkOwner::Client(network), cost),
            None => Requester::unmetered(WorkOwner::Client(network)),
        };
        match request.data::<RequestId>() {
            Some(id) => requester.with_request_id(id.as_str()),
            None => requester,
        }
    }

    fn record(&self, state: QuotaState) -> Result<()> {
        self.0.report(state);
        match state.retry_in_seconds {
            Some(seconds) => {
                self.0.is_refused.store(true, Ordering::Relaxed);
                Err(exceeded(state, seconds))
            }
            None => Ok(()),
        }
    }

    /// Adds the `RateLimit` headers to a response.
    fn write_headers(&self, headers: &mut HeaderMap) {
        let quota_states = self.0.quota_states.lock().unwrap_or_else(PoisonError::into_inner);
        write_states(&quota_states, headers);
    }
}

/// Adds the `RateLimit` headers with these states, if there are any.
fn write_states(quota_states: &[QuotaState], headers: &mut HeaderMap) {
    if quota_states.is_empty() {
        return;
    }
    let (mut policy, mut remaining_text) = (String::new(), String::new());
    for (index, QuotaState { name, quota, remaining, full_in_seconds, .. }) in quota_states.iter().enumerate()
    {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(policy, "{comma}\"{name}\";q={quota};w={WINDOW_SECONDS}");
        let _ = write!(remaining_text, "{comma}\"{name}\";r={remaining};t={full_in_seconds}");
    }
    for (name, text) in [(RATELIMIT_POLICY, policy), (RATELIMIT, remaining_text)] {
        headers.insert(name, HeaderValue::try_from(text).expect("the header is visible ASCII"));
    }
}

/// Returns the response for an exhausted budget, even if the principal has budget left. A market without limits uses the
/// default limits.
pub fn exhausted_response(request: &Request, budget: Budget, settings: &LimitSettings) -> Response {
    let quota = match budget.quota(settings) {
        0 => budget.quota(&Settings::default().limits),
        quota => quota,
    };
    let state = QuotaState {
        name: budget.as_str(),
        quota,
        remaining: 0,
        full_in_seconds: WINDOW_SECONDS,
        retry_in_seconds: Some(WINDOW_SECONDS.div_ceil(quota.max(1))),
    };
    if let Some(RequestLimits(inner)) = request.data::<RequestLimits>() {
        inner.report(state);
    }
    let error = exceeded(state, state.retry_in_seconds.unwrap_or(1));
    let mut response = problem::error_response(&error, RequestId::from_request(request).as_str());
    write_states(&[state], response.headers_mut());
    response
}

/// Returns the error of a request that exceeds a budget.
fn exceeded(state: QuotaState, retry_seconds: u32) -> Error {
    let quota = counted(state.quota.into(), "request", "requests");
    let budget = format!("`{}` budget of {quota} per minute", state.name);
    Error::RateLimited { budget, retry_seconds: retry_seconds.into() }
}

impl RequestLimitsInner {
    fn budget(&self) -> Budget {
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the state of a budget that the headers report.
    fn report(&self, state: QuotaState) {
        let mut quota_states = self.quota_states.lock().unwrap_or_else(PoisonError::into_inner);
        // An agent's request may perform several API calls: only the last state of each budget is reported.
        match quota_states.iter_mut().find(|earlier| earlier.name == state.name) {
            Some(earlier) => *earlier = state,
            None => quota_states.push(state),
        }
    }

    /// Charges the principal for the cost of its reads and writes that was not charged yet.
    fn charge_cost(&self) {
        let Some(principal) = self.principal.get() else { return };
        let due = u32::try_from(self.cost.total().as_nanos() / TIME_PER_REQUEST.as_nanos());
        let due = due.unwrap_or(u32::MAX);
        let unpaid = due.saturating_sub(self.charged_for_cost.fetch_max(due, Ordering::Relaxed));
        if unpaid > 0
            && let Some(meter) = self.limits.meter(self.budget())
        {
            self.report(meter.charge(principal, unpaid));
        }
    }
}

/// Work on other threads can end after the response, for instance because that took too long.
impl Drop for RequestLimitsInner {
    fn drop(&mut self) {
        self.charge_cost();
    }
}

/// Middleware that counts requests and adds the `RateLimit` headers. It is outside the layer that converts
/// errors to responses, so that error responses have the headers, too. It therefore converts its own errors. It is also outside the
/// layer with the slots, so refusals wait without one.
pub async fn layer<E: Endpoint<Output = Response>>(
    limits: Option<Arc<RateLimits>>,
    proxies: &TrustedProxies,
    inner: Arc<E>,
    mut request: Request,
) -> poem::Result<Response> {
    let Some(limits) = limits else { return inner.as_ref().call(request).await };
    let request_limits = RequestLimits::new(&limits, request_id::cost_meter(&request).unwrap_or_default());
    let charged =
        limits.count_address(proxies, &request).map_or(Ok(()), |state| request_limits.record(state));
    let response = match charged {
        Ok(()) => {
            request.set_data(request_limits.clone());
            inner.as_ref().call(request).await
        }
        Err(error) => Ok(problem::error_response(&error, RequestId::from_request(&request).as_str())),
    };
    if request_limits.0.is_refused.load(Ordering::Relaxed) {
        sleep(REFUSAL_DELAY).await;
    }
    let mut response = response?;
    request_limits.0.charge_cost();
    request_limits.write_headers(response.headers_mut());
    Ok(response)
}

#[cfg(test)]
mod tests {
    use poem::{IntoResponse, endpoint::make};

    use super::*;
    use crate::{
        clock::Clock,
        domain::{teams::TeamRowId, time::Timestamp},
        market::{Activity, MarketId, Scheduler, Share},
    };

    /// Creates limits with these settings, and their clock.
    fn limits_with(settings: &LimitSettings) -> (Arc<RateLimits>, Arc<Clock>) {
        let clock = Arc::new(Clock::stopped(Timestamp::parse("2026-03-01T09:00:00Z").unwrap()));
        let limits = RateLimits::new(settings, &Stopwatch::start(Arc::clone(&clock))).unwrap();
        (Arc::new(limits), clock)
    }

    /// Sends a request of team 1 with a read of the given length. Returns the `RateLimit` header.
    async fn send(limits: &Arc<RateLimits>, clock: &Arc<Clock>, milliseconds: i64) -> String {
        send_reads(limits, clock, vec![(Budget::Other, milliseconds)]).await
    }

    /// Like [`send`], with a read of each length, in an operation with this budget.
    async fn send_reads(limits: &Arc<RateLimits>, clock: &Arc<Clock>, reads: Vec<(Budget, i64)>) -> String {
        let (time, stopwatch) = (Arc::clone(clock), Stopwatch::start(Arc::clone(clock)));
        let readers = Scheduler::new(Activity::Read, 1, 1, Share::LeaveOneForOthers, stopwatch);
        let endpoint = Arc::new(make(move |request: Request| {
            let (readers, time, reads) = (readers.clone(), Arc::clone(&time), reads.clone());
            async move {
                let team = Principal::Team(TeamRowId(1));
                for (budget, milliseconds) in reads {
                    RequestLimits::set_budget(&request, budget);
                    RequestLimits::charge_principal(&request, team).map_err(problem::ApiError)?;
                    let client = RequestLimits::client_requester(&request, &Settings::default());
                    let permit = readers
                        .acquire(client.into_principal(MarketId(0), team))
                        .await
                        .map_err(problem::ApiError)?;
                    time.advance(milliseconds * 1000);
                    drop(permit);
                }
                Ok::<_, poem::Error>("done".into_response())
            }
        }));
        let response =
            layer(Some(Arc::clone(limits)), &TrustedProxies::default(), endpoint, Request::default()).await;
        match response {
            Ok(response) => response.headers()[RATELIMIT].to_str().unwrap().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_wait() {
        let (limits, clock) = limits_with(&LimitSettings { other: 1, ..unlimited() });
        for expected in [Duration::ZERO, REFUSAL_DELAY, REFUSAL_DELAY] {
            let start = tokio::time::Instant::now();
            send(&limits, &clock, 0).await;
            assert_eq!(start.elapsed(), expected);
        }
    }

    #[tokio::test]
    async fn long_reads_cost_as_much_as_several_requests() {
        let (limits, clock) = limits_with(&LimitSettings { other: 10, ..unlimited() });
        assert_eq!(send(&limits, &clock, 49).await, r#""other";r=9;t=6"#, "included in the request");
        assert_eq!(send(&limits, &clock, 120).await, r#""other";r=6;t=24"#, "two more");
        assert_eq!(
            send(&limits, &clock, 500).await,
            r#""other";r=0;t=90"#,
            "ten more, of which five are owed"
        );
        let rejected = send(&limits, &clock, 0).await;
        assert!(rejected.contains("`other` budget"), "{rejected}");
        clock.advance(30_000_000);
        assert!(send(&limits, &clock, 0).await.contains("`other` budget"), "five are still to be paid");
        clock.advance(6_000_000);
        assert!(send(&limits, &clock, 0).await.starts_with(r#""other";r=0"#));
    }

    /// Each operation of an agent's request is counted and charged to its own budget.
    #[tokio::test]
    async fn operations_of_one_request_have_their_own_budgets() {
        let (limits, clock) = limits_with(&LimitSettings { catalog: 10, sales: 10, ..unlimited() });
        let reads = vec![(Budget::Catalog, 120), (Budget::Sales, 500)];
        let header = send_reads(&limits, &clock, reads).await;
        assert_eq!(header, r#""catalog";r=7;t=18, "sales";r=0;t=66"#);
    }

    fn unlimited() -> LimitSettings {
        let mut limits = Settings::default().limits;
        for budget in [
            &mut limits.catalog,
            &mut limits.history,
            &mut limits.sales,
            &mut limits.purchases,
            &mut limits.quality_checks,
            &mut limits.uploads,
            &mut limits.other,
            &mut limits.address,
        ] {
            *budget = 0;
        }
        limits
    }
}
