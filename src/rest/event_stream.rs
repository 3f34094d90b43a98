//! Streams of events for operators, as server-sent events. A stream follows the outbox: it sends each event once, in
//! the order of the commits, and continues after the last one that the client has.
//!
//! A stream reads only when the connection has room for more, and at most a page, so a slow client delays nobody and
//! holds little; [`super::connections`] closes its connection. Streams read one after another
//! ([`super::stream_turns`]). While a stream waits for a commit, it has no thread and no connection to the database.
//! It ends when its key does, when the server stops, and when the events that follow have been removed.

use std::{fmt::Write, pin::Pin, time::Duration};

use bytes::Bytes;
use poem::{
    Body, IntoResponse, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue, header},
};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
    types::Type,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{json::Json, shapes::events::Event};
use crate::{
    domain::events::{EventId, EventRowId},
    error::{Error, ErrorChain, Result},
    market::{Market, Reader},
    operations::{
        access::Operator,
        events::{self, EventPage, Filters, Start},
    },
    rest::arguments::{
        header_argument::{HeaderArgument, header_argument},
        schema_marks::LAST_EVENT_ID_MARK,
    },
    string_enum::StringEnum,
    web::{
        accept,
        served_market::ServedMarket,
        shares::{
            held_requests::{HeldPlace, ServerStop},
            stream_turns::{StreamTurn, StreamTurns},
        },
    },
};

/// The content type of a stream.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// The header with the last event that the client has.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Maximum time without data, so that neither end mistakes a quiet stream for a broken connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Minimum time from a read until a stream that has waited for a commit reads again. So a stream costs a bounded
/// number of reads, however many commits there are.
const READ_INTERVAL: Duration = Duration::from_millis(25);

/// Milliseconds after which a client connects again.
const RECONNECTION_MS: u32 = 3_000;

/// Maximum number of events that a stream reads at once.
const MAX_EVENTS: usize = 100;

/// What the headers of a request say about the stream that it asks for.
#[derive(Debug)]
pub struct StreamRequest {
    last_event_id: Option<String>,
    stop: Option<ServerStop>,
}

/// Whether a client asks for a stream or for a page.
#[derive(Debug)]
pub struct StreamPreference(pub Option<StreamRequest>);

header_argument!(StreamPreference, LAST_EVENT_ID_MARK);

impl HeaderArgument for StreamPreference {
    fn read(request: &Request) -> Result<StreamPreference> {
        let headers = request.headers();
        let stream = || StreamRequest {
            last_event_id: headers
                .get(LAST_EVENT_ID)
                .map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned()),
            stop: ServerStop::of_request(request),
        };
        Ok(StreamPreference(accepts_stream(headers).then(stream)))
    }
}

impl StreamRequest {
    /// Returns where the stream begins: after the event that a client had before it connected again, or else at the
    /// cursor of the query.
    fn start(&self, cursor: Option<&str>) -> Result<Start> {
        Start::parse(self.last_event_id().or(cursor)).map_err(|error| self.name_header(error))
    }

    /// Returns the event that a client has. Browsers send an empty value before the first event.
    fn last_event_id(&self) -> Option<&str> {
        // `id.is_empty()` would be a method of `poem_openapi::types::Type`, which is about values of JSON.
        self.last_event_id.as_deref().filter(|id| !str::is_empty(id))
    }

    /// Returns an error about the place at which the stream begins, as the header or the query states it.
    fn name_header(&self, error: Error) -> Error {
        match error {
            Error::InvalidCursor if self.last_event_id().is_some() => Error::InvalidLastEventId,
            other => other,
        }
    }
}

/// Whether a client prefers a stream to a page.
fn accepts_stream(headers: &HeaderMap) -> bool {
    let stream = accept::weight(headers, CONTENT_TYPE);
    stream > 0.0 && stream >= accept::weight(headers, "application/json")
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
    /// When the stream reads again at the earliest, once it has waited for a commit.
    next_read_at: Instant,
    turns: StreamTurns,
    /// The turn that the stream waits for, while its client reads. A turn of a client that reads nothing would delay others.
    next_turn: Option<Pin<Box<dyn Future<Output = Result<StreamTurn>> + Send>>>,
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
        let place = served.held_requests().try_acquire(served.market().id(), operator.principal())?;
        let market = served.market().clone();
        let platform = operator.platform();
        let find = move |reader: &Reader| events::find_start(reader, platform, start);
        let found = market.read_inline(operator.requester(), find).await;
        let after = found.map_err(|error| request.name_header(error))?;
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
            next_read_at: Instant::now(),
            turns: served.held_requests().turns(),
            next_turn: None,
            _place: place,
        })
    }

    /// Returns the next bytes, as soon as there are some; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        let stop = self.stop.clone();
        tokio::select! {
            biased;
            () = ServerStop::wait_for(stop) => None,
            next = self.next_until_stop() => next,
        }
    }

    async fn next_until_stop(&mut self) -> Option<Bytes> {
        loop {
            if self.has_more {
                let Some(turn) = self.wait_for_turn().await else { return Some(self.keep_alive()) };
                match self.read(turn).await {
                    Ok(page) => {
                        self.after = page.through;
                        self.has_more = page.has_more;
                        if !page.frame.is_empty() {
                            self.known = page.through;
                            self.keep_alive_at = Instant::now() + KEEP_ALIVE;
                            return Some(page.frame);
                        }
                    }
                    Err(error) => return end(&error),
                }
            }
            // While a filter skips many events, the client still gets a sign of life.
            tokio::select! {
                biased;
                () = sleep_until(self.keep_alive_at) => return Some(self.keep_alive()),
                () = std::future::ready(()), if self.has_more => {}
                changed = self.commits.changed(), if !self.has_more => match changed {
                    Ok(()) => {
                        self.has_more = true;
                        sleep_until(self.next_read_at).await;
                    }
                    Err(_) => return None,
                },
            }
        }
    }

    /// Waits for a turn to read. Returns `None` if a sign of life is due before.
    async fn wait_for_turn(&mut self) -> Option<Result<StreamTurn>> {
        let (turns, requester) = (&self.turns, self.operator.requester());
        let next = self.next_turn.get_or_insert_with(|| Box::pin(turns.clone().acquire(requester)));
        let turn = tokio::select! {
            biased;
            turn = next => turn,
            () = sleep_until(self.keep_alive_at) => {
                self.next_turn = None;
                return None;
            }
        };
        self.next_turn = None;
        Some(turn)
    }

    /// Reads the next page. It also checks the key, which a commit may have ended.
    async fn read(&mut self, turn: Result<StreamTurn>) -> Result<FramedPage> {
        let turn = turn?;
        // This comes before the read, so that the read includes all commits that are marked as seen.
        self.commits.mark_unchanged();
        self.next_read_at = Instant::now() + READ_INTERVAL;
        let (operator, filters, after) = (self.operator.clone(), self.filters.clone(), self.after);
        let read = move |reader: &Reader| {
            FramedPage::new(events::follow(reader, &operator, &filters, after, MAX_EVENTS)?)
        };
        let page = self.market.read(self.operator.requester(), read).await?;
        if page.has_more {
            turn.end_with_more();
        }
        Ok(page)
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
}

/// A page of events as it is sent.
struct FramedPage {
    /// The lines of the events; empty if there are none.
    frame: Bytes,
    /// The place up to which the page goes.
    through: EventRowId,
    /// Whether there may be more events after that place.
    has_more: bool,
}

impl FramedPage {
    /// Converts a page, which takes as long as reading it. The fields of an event are on one line.
    fn new(page: EventPage) -> Result<FramedPage> {
        let mut text = String::new();
        for event in page.events {
            let event = Event::new(event)?;
            let data = serde_json::to_string(&event).map_err(Error::internal)?;
            let _ =
                write!(text, "id: {}\nevent: {}\ndata: {data}\n\n", event.id, event.event_type.0.as_str());
        }
        Ok(FramedPage { frame: text.into(), through: page.through, has_more: page.has_more })
    }
}

/// Ends a stream. The client learns the reason when it connects again.
fn end(error: &Error) -> Option<Bytes> {
    match error {
        Error::Unauthorized(_) | Error::Gone(..) | Error::AtCapacity { .. } => {
            tracing::debug!(%error, "stream of events ended");
        }
        error => tracing::error!(cause = %ErrorChain(error), "stream of events failed"),
    }
    None
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

/// A page of events, or a stream.
pub enum PageOrStream<T> {
    /// A page.
    Page(Json<T>),
    /// A stream.
    Stream(Box<EventStream>),
}

impl<T: Send> IntoResponse for PageOrStream<T> {
    fn into_response(self) -> Response {
        match self {
            PageOrStream::Page(page) => page.into_response(),
            PageOrStream::Stream(stream) => stream.into_response(),
        }
    }
}

impl<T: Type> ApiResponse for PageOrStream<T> {
    fn meta() -> MetaResponses {
        let mut meta = Json::<T>::meta();
        let schema = MetaSchema {
            description: Some("Server-sent events: the ID, the type, and the JSON of each event."),
            ..MetaSchema::new("string")
        };
        let stream =
            MetaMediaType { content_type: CONTENT_TYPE, schema: MetaSchemaRef::Inline(Box::new(schema)) };
        if let Some(response) = meta.responses.first_mut() {
            response.content.push(stream);
        }
        meta
    }

    fn register(registry: &mut Registry) {
        <Json<T> as ApiResponse>::register(registry);
    }
}

#[cfg(test)]
mod tests;
