//! Turns of streams to read, so that many streams that catch up do not delay other requests. One stream reads at a time, of the
//! principal that has had the least time, and one that has more to read pauses if other requests are in progress.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{
    clock::Stopwatch,
    error::Result,
    market::{Activity, Permit, Requester, Scheduler, Share},
    web::shares::capacity::Capacity,
};

/// How much longer than a read the pause after it is: together, streams that catch up read for a quarter of the time.
const PAUSE_PER_READ: u32 = 3;

/// Maximum length of a pause, after a read that has mostly waited.
const MAX_PAUSE: Duration = Duration::from_millis(250);

/// The turns of the streams of a server.
#[derive(Clone, Debug)]
pub struct StreamTurns {
    turns: Scheduler,
    /// The requests in progress; none if the server has no others.
    requests: Option<Capacity>,
}

/// The turn of a stream, which ends when it is dropped.
#[derive(Debug)]
pub struct StreamTurn {
    permit: Permit,
    began: Instant,
    requests: Option<Capacity>,
}

impl StreamTurns {
    /// Creates the turns of a server with these slots for requests in progress.
    pub fn new(requests: Option<Capacity>, stopwatch: Stopwatch) -> StreamTurns {
        // The places of held requests bound how many streams wait.
        let turns = Scheduler::new(Activity::Read, 1, usize::MAX, Share::AsManyAsFree, stopwatch);
        StreamTurns { turns, requests }
    }

    /// Waits for a turn. Its time is no cost of a request.
    pub async fn acquire(self, requester: Requester) -> Result<StreamTurn> {
        let permit = self.turns.acquire(Requester::unmetered(requester.owner())).await?;
        Ok(StreamTurn { permit, began: Instant::now(), requests: self.requests })
    }
}

impl StreamTurn {
    /// Ends the turn of a stream that has more to read. While other requests are in progress, no stream has a turn for some
    /// time, for which the caller does not wait.
    pub fn end_with_more(self) {
        if !self.requests.as_ref().is_some_and(Capacity::has_requests) {
            return;
        }
        let pause = (self.began.elapsed() * PAUSE_PER_READ).min(MAX_PAUSE);
        tokio::spawn(async move {
            sleep(pause).await;
            drop(self.permit);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use poem::{Endpoint, EndpointExt, IntoResponse, Request, endpoint::make};
    use tokio::sync::Notify;

    use super::*;
    use crate::{
        clock::Clock,
        config::Settings,
        domain::{principals::Principal, row_ids::KeyRowId},
        market::{MarketId, WorkOwner},
    };

    fn operator(key: i64) -> Requester {
        Requester::unmetered(WorkOwner::Principal(MarketId(0), Principal::Operator(KeyRowId(key))))
    }

    #[tokio::test(start_paused = true)]
    async fn streams_read_one_after_another_and_pause_while_requests_are_in_progress() {
        let stopwatch = Stopwatch::start(Arc::new(Clock::System));
        let capacity = Capacity::new(&Settings::default(), stopwatch.clone());
        let turns = StreamTurns::new(Some(capacity.clone()), stopwatch);
        let read = async |key: i64, has_more: bool| {
            let turn = turns.clone().acquire(operator(key)).await.unwrap();
            sleep(Duration::from_millis(10)).await;
            if has_more {
                turn.end_with_more();
            }
        };
        let two_reads = async |has_more: bool| {
            let start = Instant::now();
            tokio::join!(read(1, has_more), read(2, has_more));
            start.elapsed().as_millis()
        };
        assert_eq!((two_reads(false).await, two_reads(true).await), (20, 20), "nobody else waits");
        let release = Arc::new(Notify::new());
        let (entered, released) = (Arc::new(Notify::new()), Arc::clone(&release));
        let inner = Arc::clone(&entered);
        let endpoint = make(move |_: Request| {
            let (entered, released) = (Arc::clone(&inner), Arc::clone(&released));
            async move {
                entered.notify_one();
                released.notified().await;
                "done".into_response()
            }
        });
        let app = endpoint.around(move |inner, request| capacity.clone().layer(inner, request));
        let request = tokio::spawn(async move { app.get_response(Request::default()).await });
        entered.notified().await;
        assert_eq!(two_reads(true).await, 50, "10 ms, a pause of 30 ms, 10 ms");
        sleep(Duration::from_millis(30)).await;
        assert_eq!(two_reads(false).await, 20, "streams that follow do not pause");
        release.notify_one();
        request.await.unwrap();
        assert_eq!(two_reads(true).await, 20, "the request has ended");
    }

    #[tokio::test(start_paused = true)]
    async fn principal_with_many_streams_does_not_delay_another() {
        let stopwatch = Stopwatch::start(Arc::new(Clock::System));
        let turns = StreamTurns::new(None, stopwatch);
        let first = turns.clone().acquire(operator(1)).await.unwrap();
        let mut many: Vec<_> = (0..50).map(|_| Box::pin(turns.clone().acquire(operator(1)))).collect();
        for turn in &mut many {
            assert!(futures_util::poll!(turn).is_pending());
        }
        let mut other = Box::pin(turns.clone().acquire(operator(2)));
        assert!(futures_util::poll!(&mut other).is_pending(), "one reads at a time");
        drop(first);
        assert!(futures_util::poll!(&mut other).is_ready(), "it is the next although 50 wait");
    }
}
