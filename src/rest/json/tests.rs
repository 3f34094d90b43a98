use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::future::join_all;

use super::*;
use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    market::{Market, OpenMode, OpenOptions},
    rest::RENDERER,
    store::Durability,
};

#[tokio::test]
async fn json_is_sent_unchanged_with_documented_status() {
    let response = Json::<String, 201>::from_bytes("\"a\"").into_response();
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.content_type(), Some("application/json"));
    assert_eq!(response.into_body().into_string().await.unwrap(), "\"a\"");
    assert_eq!(Json::<String, 201>::meta().responses[0].status, Some(201));
    let plain: Json<String> = Json::from_small(&"a".to_owned());
    assert_eq!(plain.into_response().status(), StatusCode::OK);
}

#[test]
fn serializing_stops_at_the_maximum() {
    use std::cell::Cell;

    use serde::ser::{SerializeSeq, Serializer};

    /// An endless list, which counts the items that are serialized.
    struct Endless(Cell<usize>);

    impl Serialize for Endless {
        fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
            let mut list = serializer.serialize_seq(None)?;
            loop {
                self.0.set(self.0.get() + 1);
                list.serialize_element("12345678")?;
            }
        }
    }

    assert_eq!(serialize(&"abc", 5).unwrap(), b"\"abc\"");
    assert!(matches!(serialize(&"abc", 4), Err(Error::Malformed(_))));
    let endless = Endless(Cell::new(0));
    assert!(matches!(serialize(&endless, 1_000), Err(Error::Malformed(_))));
    assert!(endless.0.get() <= 100, "{}", endless.0.get());
}

/// Counts the values that exist, and how many of them are serialized on a thread that serves requests.
#[derive(Default)]
struct Counts {
    now: AtomicUsize,
    most: AtomicUsize,
    on_serving_thread: AtomicUsize,
}

/// A value that was read for a response.
struct Counted {
    counts: Arc<Counts>,
    serving: std::thread::ThreadId,
}

impl Counted {
    fn new(counts: Arc<Counts>, serving: std::thread::ThreadId) -> Counted {
        let now = counts.now.fetch_add(1, Ordering::SeqCst) + 1;
        counts.most.fetch_max(now, Ordering::SeqCst);
        Counted { counts, serving }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counts.now.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Serialize for Counted {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let is_serving = std::thread::current().id() == self.serving;
        self.counts.on_serving_thread.fetch_add(usize::from(is_serving), Ordering::SeqCst);
        "x".repeat(100_000).serialize(serializer)
    }
}

/// However many requests there are, only as many values as there are readers are in memory at the same time.
#[tokio::test]
async fn values_exist_only_in_slots_of_readers() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.data.readers = 2;
    let market = Market::open(OpenOptions {
        data_dir: directory.path().to_owned(),
        settings,
        clock: Clock::stopped(crate::domain::time::Timestamp(0)).into(),
        entropy: Entropy::seeded(1),
        durability: Durability::None,
        mode: OpenMode::Command,
        renderer: RENDERER,
        run_step: crate::operations::due_steps::run_step,
        program: crate::market::this_program(),
    });
    let served = ServedMarket::without_server(market.unwrap(), "");
    let (counts, serving) = (Arc::new(Counts::default()), std::thread::current().id());
    let responses = (0..50).map(|_| {
        let counts = Arc::clone(&counts);
        Json::<_>::read(&served, Requester::process(), move |_| Ok(Counted::new(counts, serving)))
    });
    for response in join_all(responses).await {
        assert_eq!(response.unwrap().bytes.len(), 100_002);
    }
    let most = counts.most.load(Ordering::SeqCst);
    assert!((1..=2).contains(&most), "{most} values existed at the same time");
    assert_eq!((counts.now.load(Ordering::SeqCst), counts.on_serving_thread.load(Ordering::SeqCst)), (0, 0));
}
