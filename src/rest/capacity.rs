//! How many requests are answered at the same time, and for how long: what is too much is refused at once, so that what
//! was begun ends soon.
//!
//! A request keeps its place until its work has ended, whether its caller still waits or not.

use std::{pin::pin, sync::Arc, time::Duration};

use poem::{Endpoint, Request, Response};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{problem, request_id::RequestId};
use crate::{config::Settings, error::Error};

/// Seconds after which a caller that was refused may try again.
const RETRY_SECONDS: u64 = 1;

/// The server's places.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// Those of requests that are being answered; any number where there is none.
    places: Option<Arc<Semaphore>>,
    /// Those of requests that wait for one.
    queue: Arc<Semaphore>,
    /// How long they wait.
    patience: Duration,
    /// How long an answer may take.
    deadline: Option<Duration>,
}

impl Capacity {
    /// The places of the settings.
    pub fn new(settings: &Settings) -> Capacity {
        let (limits, seconds) = (&settings.limits, settings.server.answer_seconds);
        let places = (limits.in_flight > 0).then(|| Arc::new(Semaphore::new(limits.in_flight as usize)));
        Capacity {
            places,
            queue: Arc::new(Semaphore::new(limits.queue as usize)),
            patience: Duration::from_millis(limits.queue_milliseconds.into()),
            deadline: (seconds > 0).then(|| Duration::from_secs(seconds.into())),
        }
    }

    /// Answers within these places, or refuses.
    pub async fn layer<E: Endpoint<Output = Response> + 'static>(
        self,
        inner: Arc<E>,
        request: Request,
    ) -> poem::Result<Response> {
        let id = RequestId::of(&request);
        let Ok(place) = self.enter().await else {
            return Ok(problem::respond(&Error::AtCapacity { retry_seconds: RETRY_SECONDS }, id.as_str()));
        };
        let answer = async move {
            let _place = place;
            inner.call(request).await
        };
        let Some(deadline) = self.deadline else { return answer.await };
        let mut answer = Box::pin(answer);
        match timeout(deadline, &mut answer).await {
            Ok(answer) => answer,
            Err(_) => {
                tokio::spawn(answer);
                Ok(problem::respond(&Error::TooSlow { retry_seconds: RETRY_SECONDS }, id.as_str()))
            }
        }
    }

    /// A place, after a short wait if all are taken.
    async fn enter(&self) -> Result<Option<OwnedSemaphorePermit>, Full> {
        let Some(places) = &self.places else { return Ok(None) };
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            return Ok(Some(place));
        }
        let _waiting = self.queue.try_acquire().map_err(|_| Full)?;
        let place = pin!(Arc::clone(places).acquire_owned());
        timeout(self.patience, place).await.map_err(|_| Full)?.map(Some).map_err(|_| Full)
    }
}

/// There is no place.
#[derive(Debug)]
struct Full;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use poem::{EndpointExt, IntoResponse, endpoint::make, http::StatusCode};
    use tokio::{
        sync::Notify,
        time::{Instant, sleep},
    };

    use super::*;

    /// An endpoint that answers when it is told to, and how many answers it has begun.
    struct Slow {
        begun: AtomicUsize,
        go: Notify,
    }

    fn slow() -> (Arc<Slow>, impl Endpoint<Output = Response>) {
        let slow = Arc::new(Slow { begun: AtomicUsize::new(0), go: Notify::new() });
        let of_endpoint = Arc::clone(&slow);
        let endpoint = make(move |_| {
            let slow = Arc::clone(&of_endpoint);
            async move {
                slow.begun.fetch_add(1, Ordering::SeqCst);
                slow.go.notified().await;
                "done".into_response()
            }
        });
        (slow, endpoint)
    }

    fn capacity(in_flight: u32, queue: u32, answer_seconds: u32) -> Capacity {
        let mut settings = Settings::default();
        settings.limits.in_flight = in_flight;
        settings.limits.queue = queue;
        settings.server.answer_seconds = answer_seconds;
        Capacity::new(&settings)
    }

    fn within<E: Endpoint<Output = Response> + 'static>(
        capacity: &Capacity,
        endpoint: E,
    ) -> Arc<impl Endpoint<Output = Response> + use<E>> {
        let capacity = capacity.clone();
        Arc::new(endpoint.around(move |inner, request| capacity.clone().layer(inner, request)))
    }

    async fn ask<E: Endpoint<Output = Response>>(app: Arc<E>) -> (StatusCode, Option<String>) {
        let answer = app.get_response(Request::default()).await;
        let retry = answer.headers().get("retry-after").map(|wait| wait.to_str().unwrap().to_owned());
        (answer.status(), retry)
    }

    #[tokio::test(start_paused = true)]
    async fn what_finds_no_place_waits_shortly_and_what_finds_no_queue_not_at_all() {
        let (slow, endpoint) = slow();
        let app = within(&capacity(1, 1, 0), endpoint);
        let first = tokio::spawn(ask(Arc::clone(&app)));
        while slow.begun.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let began = Instant::now();
        let second = tokio::spawn(ask(Arc::clone(&app)));
        tokio::task::yield_now().await;
        let full = (StatusCode::SERVICE_UNAVAILABLE, Some("1".to_owned()));
        assert_eq!(ask(Arc::clone(&app)).await, full);
        assert_eq!(began.elapsed(), Duration::ZERO, "without a place in the queue the answer comes at once");
        assert_eq!(second.await.unwrap(), full);
        assert!(began.elapsed() >= Duration::from_millis(50));
        let third = tokio::spawn(ask(Arc::clone(&app)));
        tokio::task::yield_now().await;
        slow.go.notify_one();
        assert_eq!(first.await.unwrap().0, StatusCode::OK);
        slow.go.notify_one();
        assert_eq!(third.await.unwrap().0, StatusCode::OK, "a place came free while it waited");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_answer_is_given_up_and_keeps_its_place_until_it_ends() {
        let (slow, endpoint) = slow();
        let app = within(&capacity(1, 0, 60), endpoint);
        let began = Instant::now();
        assert_eq!(ask(Arc::clone(&app)).await.0, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(began.elapsed().as_secs(), 60);
        assert_eq!(ask(Arc::clone(&app)).await.0, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(began.elapsed().as_secs(), 60, "its place is taken");
        slow.go.notify_one();
        sleep(Duration::from_millis(1)).await;
        slow.go.notify_one();
        assert_eq!(ask(app).await.0, StatusCode::OK);
    }

    #[tokio::test(start_paused = true)]
    async fn without_bounds_nothing_is_refused() {
        let (slow, endpoint) = slow();
        let app = within(&capacity(0, 0, 0), endpoint);
        let all: Vec<_> = (0..100).map(|_| tokio::spawn(ask(Arc::clone(&app)))).collect();
        while slow.begun.load(Ordering::SeqCst) < 100 {
            sleep(Duration::from_secs(10)).await;
        }
        slow.go.notify_waiters();
        for answer in all {
            assert_eq!(answer.await.unwrap().0, StatusCode::OK);
        }
    }
}
