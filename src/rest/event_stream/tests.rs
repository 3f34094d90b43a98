use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use poem::http::StatusCode;
use uuid::Uuid;

use super::*;
use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    domain::{
        collections::Collection,
        due_steps::StepKind,
        events::{EventData, EventType, LabelData},
        keys::TeamKeyScope,
        principals::KeyScope,
        time::Timestamp,
    },
    error::Code,
    market::{KeyCache, OpenMode, OpenOptions, Requester, Writer, this_program},
    operations::{access::Authenticated, cleanup, keys},
    rest::RENDERER,
    store::{self, Durability, keys::NewKey},
};

/// The operator's key.
const SECRET: &str = "mkt_op_of_these_tests";

/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

/// A market that is served, and an operator of it.
struct Served {
    market: ServedMarket,
    operator: Operator,
    key: Uuid,
    clock: Arc<Clock>,
    _directory: tempfile::TempDir,
}

impl Served {
    async fn start(change: impl FnOnce(&mut Settings)) -> Served {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        change(&mut settings);
        let clock = Arc::new(Clock::stopped(Timestamp(0)));
        let market = Market::open(OpenOptions {
            data_dir: directory.path().to_owned(),
            settings,
            clock: Arc::clone(&clock),
            entropy: Entropy::seeded(1),
            durability: Durability::None,
            mode: OpenMode::Serve,
            renderer: RENDERER,
            run_step: crate::operations::due_steps::run_step,
            program: this_program(),
        })
        .unwrap();
        let key = market.write_blocking(insert_key).unwrap();
        let authenticated = Authenticated::authenticate(&market, Requester::process(), SECRET).await.unwrap();
        let operator = Operator::authorize(authenticated).unwrap();
        let served = Served {
            market: ServedMarket::without_server(market, ""),
            operator,
            key,
            clock,
            _directory: directory,
        };
        served.append(1);
        served
    }

    fn market(&self) -> &Market {
        self.market.market()
    }

    async fn try_open(
        &self,
        last_event_id: Option<&str>,
        stop: Option<ServerStop>,
        filters: Filters,
    ) -> Result<EventStream> {
        let request = StreamRequest { last_event_id: last_event_id.map(str::to_owned), stop };
        EventStream::open(&self.market, self.operator.clone(), request, Some(events::NOW), filters).await
    }

    /// Opens a stream of what happens from now on.
    async fn open(&self) -> EventStream {
        self.try_open(None, None, Filters::default()).await.unwrap()
    }

    /// Appends events.
    fn append(&self, count: usize) {
        let label = LabelData { slug: "maps".to_owned(), label: "Maps".to_owned() };
        let data = EventData::DomainUpdated(label);
        let append = |writer: &mut Writer| (0..count).try_for_each(|_| writer.emit(None, "maps", &data));
        self.market().write_blocking(append).unwrap();
    }
}

/// Inserts the key of an operator, which expires after 100 days. The operation that creates keys needs the right to act
/// for the platform, which code that serves requests does not have.
fn insert_key(writer: &mut Writer) -> Result<Uuid> {
    let key = NewKey {
        id: writer.new_id(Collection::Keys),
        team: None,
        team_scope: TeamKeyScope::Api,
        scope: KeyScope::All,
        name: "test",
        digest: KeyCache::digest(SECRET),
        is_fixture: false,
        created_at: writer.now,
        expires_at: Some(writer.now.plus_days(100)),
        revoked_at: None,
    };
    let row_id = store::keys::insert(writer.rows, &key)?;
    writer.schedule(StepKind::KeyExpires, row_id, writer.now.plus_days(100))?;
    Ok(key.id)
}

/// Returns the numbers in the `id` lines of a frame.
fn ids(frame: Option<Bytes>) -> Vec<i64> {
    let text = String::from_utf8(frame.expect("the stream goes on").into()).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("id: ").and_then(EventId::parse));
    lines.map(|id| id.0.0).collect()
}

#[tokio::test]
async fn event_is_sent_when_it_is_committed() {
    let served = Served::start(|_| {}).await;
    let mut stream = served.open().await;
    assert!(stream.next().now_or_never().is_none(), "nothing has happened");
    let (frame, ()) = tokio::join!(stream.next(), async { served.append(1) });
    let text = String::from_utf8(frame.unwrap().into()).unwrap();
    insta::assert_snapshot!(text);
    for count in [1, 3, 250] {
        served.append(count);
        let mut found = Vec::new();
        while found.len() < count {
            found.extend(ids(stream.next().await));
        }
        assert!(found.windows(2).all(|pair| pair[1] == pair[0] + 1) && found.len() == count);
    }
    assert!(stream.next().now_or_never().is_none());
}

#[tokio::test]
async fn stream_continues_after_the_last_event_that_the_client_has() {
    let served = Served::start(|_| {}).await;
    served.append(5);
    for (last, expected) in [("evt_0000000000000003", vec![4, 5, 6]), ("evt_0000000000000006", vec![])] {
        let mut stream = served.try_open(Some(last), None, Filters::default()).await.unwrap();
        match stream.next().now_or_never() {
            None if expected.is_empty() => {}
            None => assert_eq!(ids(stream.next().await), expected),
            Some(frame) => assert_eq!(ids(frame), expected),
        }
    }
    for last in ["evt_7", "6", "evt_0000000000000007"] {
        let error = served.try_open(Some(last), None, Filters::default()).await.err().unwrap();
        assert_eq!(error.code(), Some(Code::InvalidCursor), "{last}");
        assert!(error.message().starts_with("`Last-Event-ID` is not the ID"), "{last}: {}", error.message());
    }
    // Browsers send an empty value before the first event.
    assert!(served.try_open(Some(""), None, Filters::default()).await.is_ok());
    for last in [None, Some("")] {
        let request = StreamRequest { last_event_id: last.map(str::to_owned), stop: None };
        let (operator, filters) = (served.operator.clone(), Filters::default());
        let opened = EventStream::open(&served.market, operator, request, Some("evt_7"), filters).await;
        let error = opened.err().unwrap();
        assert!(error.message().starts_with("The cursor is not valid"), "{}", error.message());
    }
}

#[tokio::test(start_paused = true)]
async fn quiet_stream_sends_a_comment_and_the_place_that_a_filter_has_reached() {
    let served = Served::start(|_| {}).await;
    let filters = Filters { types: vec![EventType::DomainCreated], team: None, subject: None };
    let mut stream = served.try_open(None, None, filters).await.unwrap();
    let start = Instant::now();
    let mut next = async || String::from_utf8(stream.next().await.unwrap().into()).unwrap();
    assert_eq!(next().await, ": keep-alive\n\n");
    assert_eq!(start.elapsed(), KEEP_ALIVE);
    served.append(3);
    assert_eq!(next().await, ": keep-alive\nid: evt_0000000000000004\n\n");
    assert_eq!(next().await, ": keep-alive\n\n");
    assert_eq!(start.elapsed(), KEEP_ALIVE * 3);
}

#[tokio::test]
async fn stream_ends_with_its_key() {
    let served = Served::start(|_| {}).await;
    let mut stream = served.open().await;
    let revoke = async { served.market().write_blocking(|writer| keys::revoke(writer, served.key)).unwrap() };
    assert_eq!(tokio::join!(stream.next(), revoke).0, None);

    let served = Served::start(|_| {}).await;
    let mut stream = served.open().await;
    let expire = async {
        served.clock.advance(100 * DAY);
        served.market().run_due_steps().unwrap();
    };
    assert_eq!(tokio::join!(stream.next(), expire).0, None);
}

#[tokio::test]
async fn stream_ends_when_the_server_stops() {
    let served = Served::start(|_| {}).await;
    let (stopping, stopped) = watch::channel(false);
    let stop = Some(ServerStop::new(stopped));
    let mut stream = served.try_open(None, stop, Filters::default()).await.unwrap();
    served.append(1);
    assert_eq!(ids(stream.next().await), [2]);
    assert!(stream.next().now_or_never().is_none());
    assert_eq!(tokio::join!(stream.next(), async { stopping.send(true).unwrap() }).0, None);
}

#[tokio::test]
async fn stream_ends_when_its_next_events_have_been_removed() {
    let served = Served::start(|_| {}).await;
    served.append(5);
    let mut stream = served.try_open(Some("evt_0000000000000002"), None, Filters::default()).await.unwrap();
    served.clock.advance(91 * DAY);
    cleanup::sweep(served.market()).unwrap();
    assert_eq!(stream.next().await, None);
    let error = served.try_open(Some("evt_0000000000000002"), None, Filters::default()).await.err().unwrap();
    assert_eq!(error.code(), Some(Code::CursorExpired));
}

#[tokio::test]
async fn stream_that_nobody_reads_costs_nothing_and_delays_nobody() {
    let served = Served::start(|_| {}).await;
    let slow = served.open().await;
    let mut fast = served.open().await;
    for _ in 0..20 {
        served.append(1);
        let statements = served.market().statement_count();
        assert_eq!(ids(fast.next().await).len(), 1);
        assert!(served.market().statement_count() - statements <= 8, "only the fast stream reads");
    }
    drop(slow);
}

#[tokio::test(start_paused = true)]
async fn many_commits_cost_few_reads() {
    let served = Served::start(|_| {}).await;
    let mut stream = served.open().await;
    let (start, mut reads, mut found) = (Instant::now(), 0, 0);
    while found < 200 {
        let committing = async {
            for _ in 0..4 {
                served.append(1);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let (frame, ()) = tokio::join!(stream.next(), committing);
        found += ids(frame).len();
        reads += 1;
    }
    let elapsed = start.elapsed();
    assert!(reads <= elapsed.as_millis() / READ_INTERVAL.as_millis() + 1, "{reads} reads in {elapsed:?}");
}

#[tokio::test]
async fn operator_has_a_number_of_streams() {
    let served = Served::start(|settings| settings.limits.held_per_principal = 2).await;
    let streams = [served.open().await, served.open().await];
    let statements = served.market().statement_count();
    for _ in 0..1_000 {
        let error = served.try_open(None, None, Filters::default()).await.err().unwrap();
        assert!(matches!(error, Error::AtCapacity { retry_seconds: 5 }));
    }
    assert_eq!(served.market().statement_count(), statements, "an attempt costs no statement");
    drop(streams);
    served.open().await;
}

#[tokio::test]
async fn response_is_a_stream_of_events() {
    let served = Served::start(|_| {}).await;
    let response = served.open().await.into_response();
    assert_eq!(
        (response.status(), response.header("content-type")),
        (StatusCode::OK, Some("text/event-stream"))
    );
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let mut body = response.into_body().into_bytes_stream();
    assert_eq!(body.next().await.unwrap().unwrap(), "retry: 3000\nid: evt_0000000000000001\n\n");
    served.append(1);
    assert!(
        body.next().await.unwrap().unwrap().starts_with(b"id: evt_0000000000000002\nevent: domain.updated\n")
    );
}

#[test]
fn stream_is_sent_to_those_who_prefer_it() {
    for (accept, expected) in [
        ("text/event-stream", true),
        ("Text/Event-Stream; charset=utf-8", true),
        ("text/html, text/event-stream;q=0.9", true),
        ("application/json;q=0.5, text/event-stream", true),
        ("application/json, text/event-stream;q=0.5", false),
        ("text/event-stream;q=0", false),
        ("application/json", false),
        ("*/*", false),
        ("text/*", false),
        ("", false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        assert_eq!(accepts_stream(&headers), expected, "{accept}");
    }
    assert!(!accepts_stream(&HeaderMap::new()));
}
