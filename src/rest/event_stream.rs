//! Streams of events for operators, as server-sent events. A stream follows the outbox: it sends each event once, in
//! the order of the commits, and continues after the last one that the client has.
//!
//! A stream reads only when the connection has room for more, and at most a page, so a slow client delays nobody and
//! holds little; [`super::connections`] closes its connection. While a stream waits for a commit, it has no thread and
//! no connection to the database. It ends when its key does, when the server stops, and when the events that follow
//! have been removed.

use std::{fmt::Write, time::Duration};

use bytes::Bytes;
use poem::{
    Body, IntoResponse, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue, header},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    held_requests::{HeldPlace, ServerStop},
    served_market::ServedMarket,
    shapes::events::render,
};
use crate::{
    domain::events::{EventId, EventRowId},
    error::{Error, ErrorChain, Result},
    market::{Market, Reader},
    operations::{
        access::{Operator, PrincipalProof},
        events::{self, EventPage, Filters, Start},
    },
    string_enum::StringEnum,
};

/// The content type of a stream.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// The header with the last event that the client has.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Maximum time without data, so that neither end mistakes a quiet stream for a broken connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Milliseconds after which a client connects again.
const RECONNECTION_MS: u32 = 3_000;

/// Maximum number of events that a stream reads at once.
const MAX_EVENTS: usize = 100;

/// How a client requests events: as a page or as a stream.
#[derive(Debug)]
pub struct StreamRequest {
    last_event_id: Option<String>,
    stop: Option<ServerStop>,
}

impl StreamRequest {
    /// Returns what a request says about the stream that it asks for; `None` if it asks for a page.
    pub fn from_request(request: &Request) -> Option<StreamRequest> {
        let headers = request.headers();
        accepts_stream(headers).then(|| StreamRequest {
            last_event_id: headers
                .get(LAST_EVENT_ID)
                .map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned()),
            stop: ServerStop::of_request(request),
        })
    }

    /// Returns where the stream begins: after the event that a client had before it connected again, or else at the
    /// cursor of the query.
    fn start(&self, cursor: Option<&str>) -> Result<Start> {
        match self.last_event_id.as_deref() {
            Some(id) if !id.is_empty() => Start::parse(Some(id)),
            _ => Start::parse(cursor),
        }
    }
}

/// Whether a client prefers a stream to a page.
fn accepts_stream(headers: &HeaderMap) -> bool {
    let weight = |kind: &str| {
        let lists = headers.get_all(header::ACCEPT).iter().filter_map(|list| list.to_str().ok());
        let entries = lists.flat_map(|list| list.split(','));
        let weights = entries.filter_map(|entry| {
            let mut parts = entry.split(';').map(str::trim);
            let is_kind = parts.next()?.eq_ignore_ascii_case(kind);
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            is_kind.then(|| weight.unwrap_or(1.0))
        });
        weights.fold(0.0_f32, f32::max)
    };
    let stream = weight(CONTENT_TYPE);
    stream > 0.0 && stream >= weight("application/json")
}

/// A stream that has begun.
pub struct EventStream {
    market: Market,
    operator: Operator,
    filters: Filters,
    /// The place up to which events were sent, or did not match.
    after: EventRowId,
    /// The place that the client knows of.
    known: EventRowId,
    /// Whether there may be more events after that place.
    has_more: bool,
    commits: watch::Receiver<u64>,
    stop: Option<ServerStop>,
    keep_alive_at: Instant,
    _place: HeldPlace,
}

impl EventStream {
    /// Opens a stream. Fails if the operator has too many of them, if there is no place to begin at, or if the
    /// events after it have been removed.
    pub async fn open(
        served: &ServedMarket,
        operator: Operator,
        request: StreamRequest,
        cursor: Option<&str>,
        filters: Filters,
    ) -> Result<EventStream> {
        let start = request.start(cursor)?;
        let place = served.held_requests().try_acquire(PrincipalProof::principal(&operator))?;
        let market = served.market().clone();
        let platform = operator.platform();
        let find = move |reader: &Reader| events::find_start(reader, platform, start);
        let after = market.read_inline(PrincipalProof::requester(&operator), find).await?;
        Ok(EventStream {
            commits: market.commits(),
            market,
            operator,
            filters,
            after,
            known: after,
            has_more: true,
            stop: request.stop,
            keep_alive_at: Instant::now() + KEEP_ALIVE,
            _place: place,
        })
    }

    /// Returns the next bytes, as soon as there are some; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        let stop = self.stop.clone();
        let stopped = async {
            match stop {
                Some(mut stop) => stop.wait().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stopped => None,
            next = self.next_until_stop() => next,
        }
    }

    async fn next_until_stop(&mut self) -> Option<Bytes> {
        loop {
            if self.has_more {
                match self.read().await {
                    Ok(page) => {
                        self.after = page.through;
                        self.has_more = page.has_more;
                        if !page.events.is_empty() {
                            self.known = page.through;
                            return Some(self.frame_of_page(&page));
                        }
                    }
                    Err(error) => return self.end(&error),
                }
            }
            // While a filter skips many events, the client still gets a sign of life.
            tokio::select! {
                biased;
                () = sleep_until(self.keep_alive_at) => return Some(self.keep_alive()),
                () = std::future::ready(()), if self.has_more => {}
                changed = self.commits.changed(), if !self.has_more => match changed {
                    Ok(()) => self.has_more = true,
                    Err(_) => return None,
                },
            }
        }
    }

    /// Reads the next page. It also checks the key, which a commit may have ended.
    async fn read(&mut self) -> Result<EventPage> {
        // Before the read, so that it includes the commits that count as seen.
        self.commits.mark_unchanged();
        let (operator, filters, after) = (self.operator.clone(), self.filters.clone(), self.after);
        let read = move |reader: &Reader| events::follow(reader, &operator, &filters, after, MAX_EVENTS);
        self.market.read(PrincipalProof::requester(&self.operator), read).await
    }

    fn frame_of_page(&mut self, page: &EventPage) -> Bytes {
        self.keep_alive_at = Instant::now() + KEEP_ALIVE;
        let mut text = String::new();
        for event in &page.events {
            let (id, kind) = (EventId(event.row_id), event.event_type);
            let _ = write!(text, "id: {id}\nevent: {}\ndata: {}\n\n", kind.as_str(), render(event));
        }
        text.into()
    }

    /// Returns a comment, and the place that the stream has reached if the client does not know it: events that a
    /// filter skips need not be read again when it continues.
    fn keep_alive(&mut self) -> Bytes {
        self.keep_alive_at = Instant::now() + KEEP_ALIVE;
        if self.known == self.after {
            return Bytes::from_static(b": keep-alive\n\n");
        }
        self.known = self.after;
        format!(": keep-alive\nid: {}\n\n", EventId(self.after)).into()
    }

    /// Ends the stream. The client learns the reason when it connects again.
    fn end(&self, error: &Error) -> Option<Bytes> {
        match error {
            Error::Unauthorized(_) | Error::Gone(..) | Error::AtCapacity { .. } => {
                tracing::debug!(%error, "stream of events ended");
            }
            error => tracing::error!(cause = %ErrorChain(error), "stream of events failed"),
        }
        None
    }
}

impl IntoResponse for EventStream {
    fn into_response(self) -> Response {
        // Browsers continue after this place, even if no event was sent before the connection broke.
        let first = format!("retry: {RECONNECTION_MS}\nid: {}\n\n", EventId(self.after));
        let frames =
            futures_util::stream::unfold((Some(Bytes::from(first)), self), async |(first, mut stream)| {
                let frame = match first {
                    Some(first) => Some(first),
                    None => stream.next().await,
                };
                frame.map(|frame| (Ok::<_, std::io::Error>(frame), (None, stream)))
            });
        let mut response = Response::builder()
            .header(header::CONTENT_TYPE, CONTENT_TYPE)
            .body(Body::from_bytes_stream(Box::pin(frames)));
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Proxies of the kind of nginx would collect the events otherwise.
        headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
        response
    }
}

#[cfg(test)]
mod tests;
