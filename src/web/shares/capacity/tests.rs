use std::sync::atomic::{AtomicUsize, Ordering};

use poem::{
    EndpointExt, IntoResponse,
    endpoint::make,
    http::{Method, StatusCode},
};
use tokio::{
    io::AsyncWriteExt,
    sync::Notify,
    time::{Instant, sleep},
};

use super::*;
use crate::{clock::Clock, domain::time::Timestamp, web::problem::ApiError};

/// An endpoint that responds when it is notified, and counts the requests that it has started.
struct Slow {
    started: AtomicUsize,
    release: Notify,
}

fn slow() -> (Arc<Slow>, impl Endpoint<Output = Response>) {
    let slow = Arc::new(Slow { started: AtomicUsize::new(0), release: Notify::new() });
    let shared = Arc::clone(&slow);
    let endpoint = make(move |_| {
        let slow = Arc::clone(&shared);
        async move {
            slow.started.fetch_add(1, Ordering::SeqCst);
            slow.release.notified().await;
            "done".into_response()
        }
    });
    (slow, endpoint)
}

/// Slots for which requests wait for up to 50 ms.
fn capacity(in_flight: u32, queue: u32, answer_seconds: u32) -> Capacity {
    let mut settings = Settings::default();
    (settings.limits.in_flight, settings.limits.queue) = (in_flight, queue);
    (settings.limits.queue_milliseconds, settings.limits.burst_milliseconds) = (50, 0);
    settings.server.answer_seconds = answer_seconds;
    Capacity::new(&settings, Stopwatch::start(Arc::new(Clock::System)))
}

fn with_capacity<E: Endpoint<Output = Response> + 'static>(
    capacity: &Capacity,
    endpoint: E,
) -> Arc<impl Endpoint<Output = Response> + use<E>> {
    let capacity = capacity.clone();
    Arc::new(endpoint.around(move |inner, request| capacity.clone().layer(inner, request)))
}

async fn send<E: Endpoint<Output = Response>>(app: Arc<E>) -> (StatusCode, Option<String>) {
    let response = app.get_response(Request::default()).await;
    let retry = response.headers().get("retry-after").map(|wait| wait.to_str().unwrap().to_owned());
    (response.status(), retry)
}

#[tokio::test(start_paused = true)]
async fn excess_request_waits_briefly_and_is_rejected_at_once_if_queue_is_full() {
    let (slow, endpoint) = slow();
    let app = with_capacity(&capacity(1, 1, 0), endpoint);
    let first = tokio::spawn(send(Arc::clone(&app)));
    while slow.started.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let start = Instant::now();
    let second = tokio::spawn(send(Arc::clone(&app)));
    tokio::task::yield_now().await;
    let full = (StatusCode::SERVICE_UNAVAILABLE, Some("1".to_owned()));
    assert_eq!(send(Arc::clone(&app)).await, full);
    assert_eq!(start.elapsed(), Duration::ZERO, "a full queue rejects at once");
    assert_eq!(second.await.unwrap(), full);
    assert!(start.elapsed() >= Duration::from_millis(50));
    let third = tokio::spawn(send(Arc::clone(&app)));
    tokio::task::yield_now().await;
    slow.release.notify_one();
    assert_eq!(first.await.unwrap().0, StatusCode::OK);
    slow.release.notify_one();
    assert_eq!(third.await.unwrap().0, StatusCode::OK, "a slot became free while it waited");
}

#[tokio::test(start_paused = true)]
async fn burst_waits_until_the_server_is_overloaded() {
    let mut settings = Settings::default();
    (settings.limits.in_flight, settings.limits.queue) = (1, 10);
    (settings.limits.queue_milliseconds, settings.limits.burst_milliseconds) = (20, 100);
    let clock = Arc::new(Clock::stopped(Timestamp(0)));
    let (slow, endpoint) = slow();
    let app = with_capacity(&Capacity::new(&settings, Stopwatch::start(Arc::clone(&clock))), endpoint);
    let sent = [0; 4].map(|_| tokio::spawn(send(Arc::clone(&app))));
    let wait = |milliseconds| async move { sleep(Duration::from_millis(milliseconds)).await };
    wait(200).await;
    clock.advance(99_000);
    wait(200).await;
    assert!(sent.iter().all(|request| !request.is_finished()), "the queue has not been empty for 99 ms");
    slow.release.notify_one();
    wait(1).await;
    assert_eq!(sent.iter().filter(|request| request.is_finished()).count(), 1, "one request is served");
    clock.advance(1_000);
    wait(40).await;
    assert_eq!(sent.iter().filter(|request| request.is_finished()).count(), 3, "overloaded after 100 ms");
    // The queue is empty, so the server is no longer overloaded.
    let last = tokio::spawn(send(Arc::clone(&app)));
    wait(200).await;
    assert!(!last.is_finished());
    slow.release.notify_one();
    wait(1).await;
    slow.release.notify_one();
    assert_eq!(last.await.unwrap().0, StatusCode::OK);
    let mut statuses = Vec::new();
    for request in sent {
        statuses.push(request.await.unwrap().0.as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 503, 503]);
}

#[tokio::test(start_paused = true)]
async fn slow_response_times_out_and_keeps_its_slot_until_it_ends() {
    let (slow, endpoint) = slow();
    let app = with_capacity(&capacity(1, 0, 60), endpoint);
    let start = Instant::now();
    assert_eq!(send(Arc::clone(&app)).await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(start.elapsed().as_secs(), 60);
    assert_eq!(send(Arc::clone(&app)).await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(start.elapsed().as_secs(), 60, "its slot is still occupied");
    slow.release.notify_one();
    sleep(Duration::from_millis(1)).await;
    slow.release.notify_one();
    assert_eq!(send(app).await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn work_continues_after_client_disconnects() {
    let (slow, endpoint) = slow();
    let app = with_capacity(&capacity(1, 0, 60), endpoint);
    let result = timeout(Duration::from_secs(1), send(Arc::clone(&app))).await;
    assert!(result.is_err(), "the client disconnected while it waited");
    assert_eq!(send(Arc::clone(&app)).await.0, StatusCode::SERVICE_UNAVAILABLE, "its slot is still occupied");
    slow.release.notify_one();
    sleep(Duration::from_millis(1)).await;
    slow.release.notify_one();
    assert_eq!(send(app).await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn receiving_a_body_takes_no_slot() {
    for method in [Method::GET, Method::HEAD, Method::POST, Method::DELETE] {
        let endpoint = make(async |mut request: Request| {
            let body = request.take_body();
            let received = Slot::release_during(&request, body.into_vec()).await.map_err(ApiError)?;
            Ok::<_, poem::Error>(received.unwrap().into_response())
        });
        let app = with_capacity(&capacity(1, 0, 0), endpoint);
        let (mut sender, receiver) = tokio::io::duplex(64);
        let body = poem::Body::from_async_read(receiver);
        let request = Request::builder().method(method.clone()).body(body);
        let response = tokio::spawn({
            let app = Arc::clone(&app);
            async move { app.get_response(request).await.status() }
        });
        sleep(Duration::from_secs(5)).await;
        assert_eq!(send(Arc::clone(&app)).await.0, StatusCode::OK, "{method}: the slot is free");
        sender.write_all(b"x").await.unwrap();
        drop(sender);
        assert_eq!(response.await.unwrap(), StatusCode::OK, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn last_body_needs_no_slot_afterwards() {
    let endpoint = make(async |mut request: Request| {
        if *request.method() == Method::GET {
            std::future::pending::<()>().await;
        }
        let body = request.take_body();
        let received = Slot::release_for_rest(&request, body.into_vec()).await;
        Ok::<_, poem::Error>(received.unwrap().into_response())
    });
    let app = with_capacity(&capacity(1, 0, 0), endpoint);
    let (sender, receiver) = tokio::io::duplex(64);
    let request = Request::builder().method(Method::PUT).body(poem::Body::from_async_read(receiver));
    let response = tokio::spawn({
        let app = Arc::clone(&app);
        async move { app.get_response(request).await.status() }
    });
    sleep(Duration::from_millis(1)).await;
    let _other = tokio::spawn(send(Arc::clone(&app)));
    sleep(Duration::from_secs(5)).await;
    drop(sender);
    assert_eq!(response.await.unwrap(), StatusCode::OK, "although the only slot is taken");
}

/// Returns an app that waits in each POST request until it is notified, and responds to all others.
fn waiting_changes() -> (Arc<Slow>, impl Endpoint<Output = Response>) {
    let (slow, endpoint) = slow();
    let endpoint = Arc::new(endpoint);
    let app = make(move |request: Request| {
        let endpoint = Arc::clone(&endpoint);
        async move {
            if *request.method() == Method::GET {
                return Ok("read".into_response());
            }
            Slot::move_to_changes(&request).await.map_err(ApiError)?;
            endpoint.call(request).await
        }
    });
    (slow, app.map_to_response())
}

#[tokio::test(start_paused = true)]
async fn waiting_changes_occupy_no_slot_of_reads() {
    let (slow, endpoint) = waiting_changes();
    let capacity = capacity(4, 8, 0);
    let app = with_capacity(&capacity, endpoint);
    let change = || {
        let request = Request::builder().method(Method::POST).finish();
        let app = Arc::clone(&app);
        tokio::spawn(async move { app.get_response(request).await.status() })
    };
    let changes = [change(), change(), change()];
    sleep(Duration::from_millis(1)).await;
    assert_eq!(slow.started.load(Ordering::SeqCst), 2, "half of the slots");
    assert_eq!(capacity.loads(), [(0, 0), (2, 1)]);
    assert_eq!(send(Arc::clone(&app)).await.0, StatusCode::OK);
    sleep(Duration::from_millis(100)).await;
    let [first, second, third] = changes;
    assert_eq!(third.await.unwrap(), StatusCode::SERVICE_UNAVAILABLE, "it has waited too long");
    slow.release.notify_waiters();
    assert_eq!([first.await.unwrap(), second.await.unwrap()], [StatusCode::OK; 2]);
    assert!(!capacity.has_requests());
}
