//! Tests of the shares of clients and teams in the slots.

use poem::{EndpointExt, IntoResponse, endpoint::make, http::StatusCode};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep},
};

use super::*;
use crate::{clock::Clock, domain::teams::TeamRowId, rest::problem::ApiError};

/// Sends a request from a client, which is on behalf of a team if there is one.
async fn send_as<E: Endpoint<Output = Response>>(
    app: Arc<E>,
    client: u8,
    team: Option<TeamRowId>,
) -> StatusCode {
    let mut request = Request::builder().header("x-forwarded-for", format!("192.0.2.{client}")).finish();
    if let Some(team) = team {
        request.set_data(team);
    }
    app.get_response(request).await.status()
}

/// Returns an app with 8 slots whose requests wait until the semaphore has a permit for each.
fn shared_app() -> (Arc<Semaphore>, Arc<impl Endpoint<Output = Response>>) {
    let release = Arc::new(Semaphore::new(0));
    let shared = Arc::clone(&release);
    let endpoint = make(move |request: Request| {
        let release = Arc::clone(&shared);
        async move {
            if let Some(team) = request.data::<TeamRowId>() {
                Slot::assign_to_principal(&request, (*team).into()).await.map_err(ApiError)?;
            }
            release.acquire().await.unwrap().forget();
            Ok::<_, poem::Error>("done".into_response())
        }
    });
    let mut settings = Settings::default();
    (settings.limits.in_flight, settings.limits.queue) = (8, 8);
    settings.limits.trust_forwarded_for = true;
    let capacity = Capacity::new(&settings, Stopwatch::start(Arc::new(Clock::System)));
    (release, Arc::new(endpoint.around(move |inner, request| capacity.clone().layer(inner, request))))
}

/// However many requests a team or a client sends, another one's request gets a slot at once.
#[tokio::test(start_paused = true)]
async fn slots_are_left_for_another_team_and_another_client() {
    for team in [None, Some(TeamRowId(1))] {
        let (release, app) = shared_app();
        let start = Instant::now();
        let flood: Vec<_> = (0..30)
            .map(|number| {
                // The requests of a team come from many clients.
                let client = if team.is_some() { number } else { 0 };
                tokio::spawn(send_as(Arc::clone(&app), client, team))
            })
            .collect();
        sleep(Duration::from_millis(60)).await;
        let other = tokio::spawn(send_as(Arc::clone(&app), 200, Some(TeamRowId(2))));
        sleep(Duration::from_millis(1)).await;
        release.add_permits(100);
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
    let (release, app) = shared_app();
    let team = Some(TeamRowId(1));
    let first: Vec<_> = (0..5).map(|client| tokio::spawn(send_as(Arc::clone(&app), client, team))).collect();
    tokio::task::yield_now().await;
    let sixth = tokio::spawn(send_as(Arc::clone(&app), 9, team));
    sleep(Duration::from_millis(20)).await;
    release.add_permits(6);
    assert_eq!(sixth.await.unwrap(), StatusCode::OK);
    for response in first {
        assert_eq!(response.await.unwrap(), StatusCode::OK);
    }
}
