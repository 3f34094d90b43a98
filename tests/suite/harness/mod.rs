//! A market on a temporary folder, with a stopped clock and repeatable secrets, answered in process.
//!
//! Dropping one checks what must hold after every test: the index equals one that is rebuilt from the database, and the
//! ledger sums to zero.

pub mod documents;
pub mod git;
pub mod random;
pub mod records;
pub mod s3;
pub mod server;

use std::sync::{Arc, OnceLock};

use marketplace::{
    clock::{Clock, Entropy},
    config::{Layers, RepositorySettings, Settings},
    domain::time::Timestamp,
    fixtures::{self, Set},
    market::{Market, Opening, Purpose},
    mcp, operations, rest,
    store::Durability,
};
use poem::{Body, Endpoint, Request, Response, endpoint::BoxEndpoint, http::Method};
use serde_json::Value;
use tempfile::TempDir;

/// What the clock of every test begins with.
pub const NOW: &str = "2026-03-01T09:00:00Z";

/// The base of the links that the server makes in tests.
pub const BASE: &str = "http://market.test";

/// A market and its HTTP face.
pub struct TestMarket {
    market: Market,
    app: BoxEndpoint<'static, Response>,
    clock: Arc<Clock>,
    _folder: TempDir,
}

impl TestMarket {
    /// A market that holds the taxonomy and nothing else.
    pub fn empty() -> TestMarket {
        TestMarket::with_settings(|_| {})
    }

    /// The same with other settings.
    pub fn with_settings(change: impl FnOnce(&mut Settings)) -> TestMarket {
        let folder = tempfile::tempdir().unwrap();
        let mut layers = Layers::new();
        layers.demo().unwrap();
        let mut settings = layers.settle().unwrap();
        stay_here(&mut settings.repositories);
        change(&mut settings);
        let clock = Arc::new(Clock::stopped(Timestamp::parse(NOW).unwrap()));
        let market = Market::open(Opening {
            folder: folder.path().to_owned(),
            settings,
            clock: Arc::clone(&clock),
            entropy: Entropy::seeded(7),
            durability: Durability::None,
            purpose: Purpose::Serve,
            renderer: rest::RENDERER,
        })
        .unwrap();
        fixtures::prepare(&market).unwrap();
        let app = mcp::app(market.clone(), BASE);
        TestMarket { market, app, clock, _folder: folder }
    }

    /// A demo market of its own, for a test that changes it.
    pub fn demo() -> TestMarket {
        let market = TestMarket::empty();
        market.seed(&fixtures::demo().unwrap());
        market
    }

    /// Writes a fixture set into it.
    pub fn seed(&self, set: &Set) {
        fixtures::seed(&self.market, set).unwrap();
    }

    /// Writes a fixture set, given as the JSON of one file, into it.
    pub fn seed_json(&self, json: &Value) {
        self.seed(&Set::parse("test", &[("test.json".to_owned(), json.to_string())]).unwrap());
    }

    /// The market itself.
    pub fn market(&self) -> &Market {
        &self.market
    }

    /// Its clock, which a test may move on.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Answers a GET with a key as bearer token.
    pub async fn get(&self, key: &str, path: &str) -> Answer {
        self.send(Method::GET, path, &[("authorization", &format!("Bearer {key}"))]).await
    }

    /// Answers a request with a key and a JSON body, `Null` being none, and holds the answer against the documents.
    pub async fn call(&self, key: &str, method: &str, path: &str, body: &Value) -> Answer {
        self.call_with(key, method, path, body, &[]).await
    }

    /// The same with further headers.
    pub async fn call_with(
        &self,
        key: &str,
        method: &str,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Answer {
        let key = format!("Bearer {key}");
        let mut all = vec![("authorization", key.as_str())];
        all.extend(headers);
        let verb = Method::from_bytes(method.as_bytes()).unwrap();
        let answer = if body.is_null() {
            self.send(verb, path, &all).await
        } else {
            all.push(("content-type", "application/json"));
            self.send_body(verb, path, &all, body.to_string().into_bytes()).await
        };
        documents::check_answer(method, path, &answer);
        answer
    }

    /// Carries out what requests asked for and is not finished.
    pub fn run_background(&self) {
        operations::background::run_open(&self.market, &|| true).unwrap();
    }

    /// Answers any request without a body.
    pub async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send_body(method, path, headers, Vec::new()).await
    }

    /// Answers any request.
    pub async fn send_body(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path.parse().unwrap());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.app.get_response(request.body(body.into())).await;
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            bytes: body.into_vec().await.unwrap(),
        }
    }
}

/// No test asks a host out there.
fn stay_here(settings: &mut RepositorySettings) {
    for url in [&mut settings.github_url, &mut settings.gitlab_url, &mut settings.bitbucket_url] {
        "file:///nowhere".clone_into(url);
    }
    for url in [&mut settings.github_api_url, &mut settings.gitlab_api_url, &mut settings.bitbucket_api_url] {
        url.clear();
    }
}

impl Drop for TestMarket {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.run_background();
            let faults = operations::verify::faults(&self.market).unwrap();
            assert!(faults.is_empty(), "the market is not in order: {faults:#?}");
        }
    }
}

/// The demo market that tests which only read share; nothing may change it.
pub fn demo() -> &'static TestMarket {
    static DEMO: OnceLock<TestMarket> = OnceLock::new();
    DEMO.get_or_init(TestMarket::demo)
}

/// What a request was answered with.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: poem::http::HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.bytes)))
    }

    /// A header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The body, which must come with status 200.
    pub fn ok(&self) -> Value {
        self.with(200)
    }

    /// The body, which must come with this status.
    pub fn with(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.bytes));
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// The problems of a 422: each its place and its type.
    pub fn problems(&self) -> Vec<String> {
        let told = self.with(422)["detail"].as_array().unwrap().clone();
        told.iter()
            .map(|problem| {
                let way: Vec<String> = problem["loc"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned))
                    .collect();
                format!("{} {}", way.join("."), problem["type"].as_str().unwrap())
            })
            .collect()
    }

    /// The code of a failure of this status.
    pub fn refused(&self, status: u16) -> String {
        self.with(status);
        self.code()
    }

    /// The code of the envelope, or the type of the first problem.
    pub fn code(&self) -> String {
        let json = self.json();
        let code = json["error"]["code"].as_str().or_else(|| json["detail"][0]["type"].as_str());
        code.unwrap_or_default().to_owned()
    }
}
