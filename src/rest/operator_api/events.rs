//! Events of the market, as pages and as a stream.

use crate::{
    domain::events::EventId,
    operations::events::{self, Filters, Start},
    rest::{
        event_stream::{EventStream, PageOrStream, StreamPreference},
        operator_api::prelude::*,
        shapes::events::Event,
    },
};

/// The query of the list of events.
#[derive(Debug, Object)]
pub struct EventsQuery {
    /// Maximum number of events on the page. It does not apply to a stream.
    #[oai(default = "default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    /// ID of an event, a `next_cursor`, or an `end_cursor`: the list contains what follows. `now` for what happens from
    /// now on; omit it to begin with the oldest event that is kept. The filters may change from page to page.
    cursor: Option<String>,
    /// Types of events; omit it for all.
    #[oai(default)]
    types: Vec<EnumValue<EventType>>,
    /// ID of the team whose view the events are. There are none of an unknown team.
    team: Option<Uuid>,
}

const fn default_limit() -> u32 {
    24
}

/// A page of events.
#[derive(Debug, Object, Serialize)]
pub struct EventPage {
    /// The events, oldest first: in the order of the commits. There may be fewer than the limit although there are more,
    /// and none although there are more, since a page ends after a number of events that do not match.
    pub items: Vec<Event>,
    /// Cursor of the next page; null if the page reaches the newest event.
    pub next_cursor: Option<String>,
    /// The place that the page reaches: continue there later. Every event up to it that matches is on this page or
    /// before it.
    pub end_cursor: String,
}

#[routes(prefix = "/operator/v1", tag = Events)]
impl EventsApi {
    /// List events
    ///
    /// Returns what has happened in the market, oldest first. Events are kept for a number of days (the setting
    /// `events.keep_days`); then the oldest are removed together, and an event `outbox.trimmed` says so. A cursor before
    /// that place is 410 `cursor_expired`.
    ///
    /// With `Accept: text/event-stream`, the same is a stream of server-sent events, which continues with what happens
    /// later: `id` and `event` are the ID and the type of an event, and `data` is its JSON. A comment every 15 seconds
    /// keeps the connection open. The stream ends when the key does, when the server stops, and when the client reads
    /// too slowly; connect again with the last ID in `Last-Event-ID`.
    #[get(
        "/events",
        routes::read(
            Contract::new(Target::None)
                .with_queries(&[
                    "types=listing.published&types=offer.accepted",
                    "cursor=evt_0000000000000010&limit=5",
                    "cursor=now",
                    "team=00000000-0000-0000-0000-000000000000",
                ])
                .with_misspelled("type=listing.published", "types")
                .with_pages("limit=1", "limit=100", 2),
        ),
    )]
    async fn list_events(
        call: Call<Operator>,
        preference: StreamPreference,
        query: Params<EventsQuery>,
    ) -> std::result::Result<PageOrStream<EventPage>, ApiError> {
        let EventsQuery { limit, cursor, types, team } = query.0;
        let filters =
            Filters { types: types.into_iter().map(|value| value.0).collect(), team, subject: None };
        if let Some(request) = preference.0 {
            let stream =
                EventStream::open(&call.served, call.access, request, cursor.as_deref(), filters).await?;
            return Ok(PageOrStream::Stream(Box::new(stream)));
        }
        let start = Start::parse(cursor.as_deref())?;
        let (requester, platform) = (call.access.requester(), call.access.platform());
        let page = Json::read(&call.served, requester, move |reader| {
            let page = events::list(reader, platform, &filters, start, limit as usize)?;
            let end_cursor = EventId(page.through).to_string();
            Ok(EventPage {
                items: page.events.into_iter().map(Event::new).collect::<Result<_>>()?,
                next_cursor: page.has_more.then(|| end_cursor.clone()),
                end_cursor,
            })
        });
        Ok(PageOrStream::Page(page.await?))
    }
}
