//! Tests of what requests may hold.

use std::net::Ipv4Addr;

use poem::{
    EndpointExt, IntoResponse,
    endpoint::make_sync,
    http::{HeaderName, StatusCode},
};

use super::*;
use crate::{
    clock::Clock,
    domain::{teams::TeamRowId, time::Timestamp},
    market::{CostMeter, MarketId, WorkOwner},
};

impl RequestTransfers {
    /// Creates the resources of a request of a team.
    pub fn for_team(shared: &Arc<TransferLimits>, team: TeamRowId, cost: CostMeter) -> RequestTransfers {
        let network = Ipv4Addr::LOCALHOST.into();
        RequestTransfers(Arc::new(Inner {
            shared: Arc::clone(shared),
            network,
            requester: Requester::new(WorkOwner::Client(network), cost),
            principal: (MarketId(0), Principal::Team(team)).into(),
            is_read: true,
            memory: Mutex::default(),
        }))
    }
}

impl TransferLimits {
    /// Takes a permit for heavy work on behalf of the process.
    pub fn take_heavy_permit(&self) -> Permit {
        self.heavy_work.try_acquire(&Requester::unmetered(WorkOwner::Process)).expect("a free permit")
    }
}

/// Creates resources with this much memory, and the clock that measures heavy work.
pub fn with_memory(megabytes: u32) -> (Arc<Clock>, Arc<TransferLimits>) {
    let mut settings = Settings::default();
    settings.limits.memory_mb = megabytes;
    settings.limits.queue_milliseconds = 50;
    settings.limits.trust_forwarded_for = true;
    let clock = Arc::new(Clock::stopped(Timestamp(0)));
    let transfers = TransferLimits::new(&settings, Stopwatch::start(Arc::clone(&clock)));
    (clock, Arc::new(transfers))
}

/// Sends a request from a client network without a key.
pub async fn get(app: &impl Endpoint<Output = Response>, network: u8, coding: &'static str) -> Response {
    let forwarded_for = HeaderName::from_static("x-forwarded-for");
    let request = Request::builder().header(forwarded_for, format!("192.0.2.{network}"));
    app.get_response(request.header(header::ACCEPT_ENCODING, coding).finish()).await
}

#[tokio::test(start_paused = true)]
async fn networks_without_a_key_take_at_most_a_quarter_together() {
    let (_, transfers) = with_memory(4);
    let shared = Arc::clone(&transfers);
    let app = make_sync(|_| vec![0_u8; 128 << 10].into_response())
        .around(move |inner, request| Arc::clone(&shared).layer(inner, request));
    let mut unread = Vec::new();
    for network in 0..20 {
        let response = get(&app, network, "").await;
        if response.status() == StatusCode::OK {
            unread.push(response);
        }
    }
    assert_eq!(unread.len(), 8, "1 of 4 MB");
    let team = RequestTransfers::for_team(&transfers, TeamRowId(1), CostMeter::default());
    team.memory().grow(1 << 20).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn heavy_work_takes_turns_and_is_paid_for() {
    let (clock, transfers) = with_memory(1);
    let (greedy_cost, cost) = (CostMeter::default(), CostMeter::default());
    let greedy = RequestTransfers::for_team(&transfers, TeamRowId(1), greedy_cost.clone());
    let honest = RequestTransfers::for_team(&transfers, TeamRowId(2), cost.clone());
    // The work of the first team is long.
    let permit = greedy.heavy_work().await.unwrap();
    clock.advance(300_000);
    drop(permit);
    assert_eq!(greedy_cost.total(), Duration::from_millis(300));
    let held = greedy.heavy_work().await.unwrap();
    let mut waiting: Vec<_> = (0..50).map(|_| Box::pin(greedy.heavy_work())).collect();
    for work in &mut waiting {
        assert!(futures_util::poll!(work).is_pending());
    }
    let permit = honest.heavy_work().await.unwrap();
    let mut second = Box::pin(honest.heavy_work());
    clock.advance(1_000);
    drop((permit, held));
    assert!(futures_util::poll!(&mut second).is_ready(), "it is the next although 50 wait");
    assert_eq!(cost.total(), Duration::from_millis(1));
}

#[tokio::test(start_paused = true)]
async fn memory_that_is_kept_counts_until_the_response() {
    let (_, transfers) = with_memory(4);
    let request = || RequestTransfers::for_team(&transfers, TeamRowId(1), CostMeter::default());
    let (first, second) = (request(), request());
    for request in [&first, &second] {
        let mut memory = request.memory();
        memory.grow(100 << 10).await.unwrap();
        request.keep(memory);
    }
    first.keep_more(600 << 10).await.unwrap();
    assert!(second.keep_more(600 << 10).await.is_err(), "more than a quarter of 4 MB");
    first.count_response(&mut Response::default()).await.unwrap();
    second.keep_more(600 << 10).await.unwrap();
}
