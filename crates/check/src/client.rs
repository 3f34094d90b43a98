//! Requests to the deployment, one after another. Nothing that the deployment sends is trusted: times, sizes, and the
//! number of requests are bounded, and redirects are not followed.

use std::{
    cell::{Cell, OnceCell},
    error::Error as _,
    io::Read,
    thread,
    time::{Duration, Instant},
};

use marketplace_domain::{error_sources::BoxedError, written::counted};
use reqwest::{
    Method,
    blocking::Response,
    header::{HeaderMap, RETRY_AFTER},
};
use serde_json::Value;
use url::Url;
use uuid::Uuid;

use super::keys::Key;

/// Maximum size of a response in bytes.
pub const MAX_RESPONSE_BYTES: u64 = 16 << 20;

/// How often a request is repeated that is refused because of a rate limit or the load.
const MAX_REPETITIONS: u32 = 5;

/// The header with the ID of a request.
pub const REQUEST_ID: &str = "x-request-id";

/// Maximum length of the ID of a request.
pub const MAX_ID: usize = 128;

/// Maximum number of seconds before a request is repeated.
const MAX_WAIT_SECONDS: u64 = 60;

/// On whose behalf a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The key with this position, as a bearer token.
    Key(usize),
    /// The key with this position, in another header.
    KeyIn(usize, &'static str),
    /// Nobody: the request has no key.
    Nobody,
    /// Somebody with a key that does not exist.
    Stranger,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// HTTP method.
    pub method: &'static str,
    /// Path and query, below the URL of the deployment.
    pub target: String,
    /// On whose behalf it is made.
    pub caller: Caller,
    /// Headers besides the key and the request ID.
    pub headers: Vec<(&'static str, String)>,
    /// The body, which is JSON.
    pub body: Option<String>,
}

impl Request {
    /// Creates a GET request.
    pub const fn get(target: String, caller: Caller) -> Request {
        Request { method: "GET", target, caller, headers: Vec::new(), body: None }
    }

    /// Returns the ID that the request has in its own header.
    fn request_id(&self) -> Option<&str> {
        self.headers.iter().find(|(name, _)| *name == REQUEST_ID).map(|(_, id)| id.as_str())
    }

    /// Returns the request with another method.
    pub fn with_method(self, method: &'static str) -> Request {
        Request { method, ..self }
    }

    /// Returns the request with a header.
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Request {
        self.headers.push((name, value.into()));
        self
    }
}

/// A request and the response to it.
#[derive(Debug)]
pub struct Exchange {
    /// The request.
    pub request: Request,
    /// The ID of the request that the response must repeat; `None` if the request has no valid one.
    pub sent_id: Option<String>,
    /// Status of the response.
    pub status: u16,
    /// Headers of the response.
    pub headers: HeaderMap,
    /// Body of the response.
    pub body: Vec<u8>,
    json: OnceCell<Result<Value, String>>,
}

impl Exchange {
    /// Returns the body as JSON; null if it is not JSON.
    pub fn json(&self) -> &Value {
        self.parsed().as_ref().unwrap_or(&Value::Null)
    }

    /// Returns the body as JSON, or why it is not JSON.
    pub fn parsed(&self) -> &Result<Value, String> {
        self.json.get_or_init(|| serde_json::from_slice(&self.body).map_err(|cause| cause.to_string()))
    }

    /// Returns a header, empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the code of an error response, empty if it has none.
    pub fn code(&self) -> &str {
        self.json()["error"]["code"].as_str().unwrap_or_default()
    }
}

/// Why there is no response.
#[derive(Debug)]
pub enum Failure {
    /// The response is missing, too slow, or too large, or not HTTP. Later requests may have one.
    NoResponse(String),
    /// The check must end.
    Stop(Stop),
}

/// Why the check must end.
#[derive(Debug)]
pub enum Stop {
    /// The maximum number of requests, or the time, is used up.
    Limit(String),
    /// The deployment cannot be reached, or redirects elsewhere.
    Unreachable(String),
}

/// Bounds of a check.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum number of requests.
    pub max_requests: u32,
    /// Time that a response may take.
    pub response_time: Duration,
    /// Time that the check may take.
    pub total_time: Duration,
}

/// Sends requests to a deployment.
pub struct Client {
    http: reqwest::blocking::Client,
    base_url: String,
    keys: Vec<Key>,
    bounds: Bounds,
    started: Instant,
    sent: Cell<u32>,
    /// Whether changes are undone, which the bounds must not prevent.
    is_cleaning_up: Cell<bool>,
    run: String,
}

impl Client {
    /// Prepares requests to a deployment, with these keys. Fails if the certificates that the system trusts cannot be read.
    pub fn new(base_url: &Url, keys: Vec<Key>, bounds: Bounds) -> Result<Client, BoxedError> {
        let builder = marketplace_http_client::blocking()?.timeout(bounds.response_time);
        let http = builder.user_agent("marketplace-check").build()?;
        let base_url = base_url.as_str().trim_end_matches('/').to_owned();
        let mut run = Uuid::new_v4().simple().to_string();
        run.truncate(8);
        Ok(Client {
            http,
            base_url,
            keys,
            bounds,
            started: Instant::now(),
            sent: Cell::new(0),
            is_cleaning_up: Cell::new(false),
            run,
        })
    }

    /// Returns the URL of the deployment, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the keys.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns the number of requests that were sent.
    pub fn sent(&self) -> u32 {
        self.sent.get()
    }

    /// Returns a name that no other check uses.
    pub fn run_name(&self) -> &str {
        &self.run
    }

    /// From now on, changes are undone: the number of requests and the time are no longer bounded.
    pub fn begin_clean_up(&self) {
        self.is_cleaning_up.set(true);
    }

    /// Waits as long as a response asks for. Returns whether the request should be repeated then: it was refused because
    /// of a rate limit or the load, and was not repeated too often.
    pub fn wait(&self, exchange: &Exchange, repetitions: u32) -> Result<bool, Failure> {
        if !matches!(exchange.status, 429 | 503) || repetitions >= MAX_REPETITIONS {
            return Ok(false);
        }
        let seconds = exchange.header(RETRY_AFTER.as_str()).parse().unwrap_or(1).min(MAX_WAIT_SECONDS);
        self.check_time(Duration::from_secs(seconds))?;
        thread::sleep(Duration::from_secs(seconds));
        Ok(true)
    }

    /// Fails if the check would take too long after another `wait`.
    fn check_time(&self, wait: Duration) -> Result<(), Failure> {
        if self.started.elapsed() + wait > self.bounds.total_time && !self.is_cleaning_up.get() {
            let time = counted(self.bounds.total_time.as_secs(), "second has", "seconds have");
            let message = format!("{time} passed");
            return Err(Failure::Stop(Stop::Limit(message)));
        }
        Ok(())
    }

    /// Sends a request.
    pub fn send(&self, request: Request) -> Result<Exchange, Failure> {
        self.check_time(Duration::ZERO)?;
        if self.sent.get() >= self.bounds.max_requests && !self.is_cleaning_up.get() {
            let message =
                format!("{} sent", counted(self.bounds.max_requests.into(), "request was", "requests were"));
            return Err(Failure::Stop(Stop::Limit(message)));
        }
        self.sent.set(self.sent.get() + 1);
        let sent_id = match request.request_id() {
            Some(id) => is_valid_id(id).then(|| id.to_owned()),
            None => Some(format!("check-{}-{}", self.run, self.sent.get())),
        };
        let deadline = Instant::now() + self.bounds.response_time;
        let mut response = self.start(&request, sent_id.as_deref()).map_err(|cause| self.failure(&cause))?;
        let body = read_body(&mut response, deadline)?;
        let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
        Ok(Exchange { request, sent_id, status, headers, body, json: OnceCell::new() })
    }

    fn start(&self, request: &Request, id: Option<&str>) -> reqwest::Result<Response> {
        let method = Method::from_bytes(request.method.as_bytes()).unwrap_or(Method::GET);
        let mut builder = self.http.request(method, format!("{}{}", self.base_url, request.target));
        builder = match request.caller {
            Caller::Key(key) => builder.bearer_auth(&self.keys[key].secret),
            Caller::KeyIn(key, header) => builder.header(header, &self.keys[key].secret),
            Caller::Stranger => builder.bearer_auth(format!("mkt_{}", Uuid::new_v4().simple())),
            Caller::Nobody => builder,
        };
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        if let Some(id) = id.filter(|_| request.request_id().is_none()) {
            builder = builder.header(REQUEST_ID, id);
        }
        if let Some(body) = &request.body {
            builder = builder.header("content-type", "application/json").body(body.clone());
        }
        builder.send()
    }

    fn failure(&self, cause: &reqwest::Error) -> Failure {
        let root = std::iter::successors(cause.source(), |&cause| cause.source()).last();
        let reason = root.map_or_else(|| cause.to_string(), ToString::to_string);
        if cause.is_connect() {
            return Failure::Stop(Stop::Unreachable(format!(
                "cannot connect to {}: {reason}",
                self.base_url
            )));
        }
        if cause.is_timeout() {
            return Failure::NoResponse(late(self.bounds.response_time));
        }
        Failure::NoResponse(format!("no complete HTTP response: {reason}"))
    }
}

/// Whether a text is a request ID that responses repeat.
fn is_valid_id(id: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_allowed)
}

fn late(limit: Duration) -> String {
    format!("no complete response within {}", counted(limit.as_secs(), "second", "seconds"))
}

/// Reads a body until a deadline, which may be exceeded by the time that one read may take.
fn read_body(response: &mut Response, deadline: Instant) -> Result<Vec<u8>, Failure> {
    let (mut body, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let count = response
            .read(&mut chunk)
            .map_err(|cause| Failure::NoResponse(format!("the body of the response ends early: {cause}")))?;
        if count == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&chunk[..count]);
        if body.len() as u64 > MAX_RESPONSE_BYTES {
            let message = format!("the body has more than {} MB", MAX_RESPONSE_BYTES >> 20);
            return Err(Failure::NoResponse(message));
        }
        if Instant::now() > deadline {
            return Err(Failure::NoResponse("the body of the response takes too long".to_owned()));
        }
    }
}
