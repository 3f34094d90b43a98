//! Tests of the shares of clients and teams in the slots.

use std::sync::atomic::AtomicUsize;

use poem::{EndpointExt, IntoResponse, endpoint::make, http::StatusCode};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep},
};

use super::*;
use crate::{
    clock::Clock,
    domain::{row_ids::KeyRowId, teams::TeamRowId},
    web::problem::ApiError,
};

const TEAM: Principal = Principal::Team(TeamRowId(1));
const OTHER_TEAM: Principal = Principal::Team(TeamRowId(2));

/// An operator key with the row ID of the first team.
const OPERATOR: Principal = Principal::Operator(KeyRowId(1));

/// Sends a request from a client, which is on behalf of a principal if there is one.
async fn send_as<E: Endpoint<Output = Response>>(
    app: Arc<E>,
    client: u8,
    principal: Option<Principal>,
) -> StatusCode {
    let mut request = Request::builder().header("x-forwarded-for", format!("192.0.2.{client}")).finish();
    if let Some(principal) = principal {
        request.set_data(principal);
    }
    app.get_response(request).await.status()
}

/// What the requests of an app do in their slots: they wait until the semaphore has a permit for each.
struct Work {
    release: Semaphore,
    /// Number of requests that got a slot.
    started: AtomicUsize,
}

/// Returns an app with 8 slots.
fn shared_app() -> (Arc<Work>, Arc<impl Endpoint<Output = Response>>) {
    let work = Arc::new(Work { release: Semaphore::new(0), started: AtomicUsize::new(0) });
    let shared = Arc::clone(&work);
    let endpoint = make(move |request: Request| {
        let work = Arc::clone(&shared);
        async move {
            if let Some(principal) = request.data::<Principal>() {
                Slot::assign_to_principal(&request, MarketId(0), *principal).await.map_err(ApiError)?;
            }
            work.started.fetch_add(1, Ordering::Relaxed);
            work.release.acquire().await.unwrap().forget();
            Ok::<_, poem::Error>("done".into_response())
        }
    });
    let mut settings = Settings::default();
    (settings.limits.in_flight, settings.limits.queue) = (8, 8);
    (settings.limits.queue_milliseconds, settings.limits.burst_milliseconds) = (50, 0);
    settings.limits.trust_forwarded_for = true;
    let capacity = Capacity::new(&settings, Stopwatch::start(Arc::new(Clock::System)));
    (work, Arc::new(endpoint.around(move |inner, request| capacity.clone().layer(inner, request))))
}

/// However many requests a principal or a client sends, another one's request gets a slot at once.
#[tokio::test(start_paused = true)]
async fn slots_are_left_for_another_principal_and_another_client() {
    for (greedy, other) in
        [(None, OTHER_TEAM), (Some(TEAM), OTHER_TEAM), (Some(TEAM), OPERATOR), (Some(OPERATOR), TEAM)]
    {
        let (work, app) = shared_app();
        let start = Instant::now();
        let flood: Vec<_> = (0..30)
            .map(|number| {
                // The requests of a principal come from many clients.
                let client = if greedy.is_some() { number } else { 0 };
                tokio::spawn(send_as(Arc::clone(&app), client, greedy))
            })
            .collect();
        sleep(Duration::from_millis(60)).await;
        let other = tokio::spawn(send_as(Arc::clone(&app), 200, Some(other)));
        sleep(Duration::from_millis(1)).await;
        assert_eq!(work.started.load(Ordering::Relaxed), 5, "half of 8 slots, and the other one's");
        work.release.add_permits(100);
        assert_eq!(other.await.unwrap(), StatusCode::OK);
        assert_eq!(start.elapsed().as_millis(), 61);
        let mut accepted = 0;
        for response in flood {
            accepted += usize::from(response.await.unwrap() == StatusCode::OK);
        }
        assert_eq!(accepted, 4, "half of 8 slots");
    }
}

#[tokio::test(start_paused = true)]
async fn request_of_a_team_with_its_share_waits_for_a_slot_of_that_team() {
    let (work, app) = shared_app();
    let team = Some(TEAM);
    let first: Vec<_> = (0..5).map(|client| tokio::spawn(send_as(Arc::clone(&app), client, team))).collect();
    tokio::task::yield_now().await;
    let sixth = tokio::spawn(send_as(Arc::clone(&app), 9, team));
    sleep(Duration::from_millis(20)).await;
    work.release.add_permits(6);
    assert_eq!(sixth.await.unwrap(), StatusCode::OK);
    for response in first {
        assert_eq!(response.await.unwrap(), StatusCode::OK);
    }
}
