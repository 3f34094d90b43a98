//! The HTTP transport that Git uses here. It is our own client, so that every byte is counted, every wait has
//! a timeout, redirects are not followed, and credentials go only to the one host.

use std::{
    io::{self, BufRead, BufReader, Cursor, Read, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use gix::protocol::transport::client::blocking_io::http::{
    GetResponse, Http, PostBodyDataKind, PostResponse,
};
use reqwest::{
    StatusCode,
    blocking::{Client, RequestBuilder, Response},
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};

use super::addresses::{NOT_PUBLIC, PublicOnly};
use crate::http_client;

/// Maximum size in bytes of a response without a pack: refs and capabilities.
const MAX_TALK: u64 = 64 << 20;

/// Maximum size in bytes of a request body: the wants and haves, which are small.
const MAX_REQUEST: usize = 1 << 20;

/// Why a request to a host failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The host requires credentials, or rejects ours (401, 403).
    Denied,
    /// The repository does not exist, or is hidden from us (404, 410).
    Missing,
    /// The host redirects (3xx).
    Moved,
    /// The host is not on the public internet.
    Private,
    /// A response, or our request, exceeds a limit.
    TooMuch,
    /// The host timed out.
    Silent,
    /// The host cannot be reached, or failed.
    Unreachable,
}

/// State that all requests of one copy share.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// Whether the copy is to stop.
    pub(super) is_stopped: AtomicBool,
    /// Number of bytes received.
    pub(super) taken: AtomicU64,
    fault: Mutex<Option<Fault>>,
}

impl Guard {
    /// Returns the first error. All later errors follow from it.
    pub(super) fn fault(&self) -> Option<Fault> {
        *lock(&self.fault)
    }

    fn fail(&self, fault: Fault) -> io::Error {
        lock(&self.fault).get_or_insert(fault);
        io::Error::other(format!("{fault:?}"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How to connect to a host.
#[derive(Clone, Copy)]
pub(super) struct Manners<'a> {
    /// Value of the `Authorization` header.
    pub(super) authorization: Option<&'a str>,
    /// Whether the host may be in a private network.
    pub(super) may_be_private: bool,
    /// Timeout while the host sends nothing.
    pub(super) idle: Duration,
    /// Maximum size of a response in bytes.
    pub(super) bytes: u64,
}

/// An HTTP client for one host.
pub(super) struct Host {
    client: Client,
    authorization: Option<HeaderValue>,
    bytes: u64,
    guard: Arc<Guard>,
}

impl Host {
    pub(super) fn new(manners: Manners, guard: Arc<Guard>) -> io::Result<Host> {
        let builder = http_client::blocking()
            .map_err(io::Error::other)?
            .connect_timeout(manners.idle)
            .timeout(manners.idle)
            .user_agent(concat!("git/marketplace-", env!("CARGO_PKG_VERSION")));
        let builder =
            if manners.may_be_private { builder } else { builder.dns_resolver(Arc::new(PublicOnly)) };
        let authorization = manners.authorization.map(|value| {
            let mut value = HeaderValue::from_str(value).map_err(io::Error::other)?;
            value.set_sensitive(true);
            Ok::<_, io::Error>(value)
        });
        Ok(Host {
            client: builder.build().map_err(io::Error::other)?,
            authorization: authorization.transpose()?,
            bytes: manners.bytes,
            guard,
        })
    }

    fn exchange<S: AsRef<str>>(
        &self,
        request: RequestBuilder,
        headers: impl IntoIterator<Item = S>,
    ) -> Shared {
        let mut all = HeaderMap::new();
        for line in headers {
            if let Some((name, value)) = line.as_ref().split_once(':')
                && let (Ok(name), Ok(value)) =
                    (HeaderName::try_from(name.trim()), HeaderValue::try_from(value.trim()))
            {
                all.append(name, value);
            }
        }
        if let Some(authorization) = &self.authorization {
            all.insert(AUTHORIZATION, authorization.clone());
        }
        let exchange = Exchange {
            request: Some(request.headers(all)),
            body: Vec::new(),
            response: None,
            left: 0,
            most: self.bytes,
            guard: Arc::clone(&self.guard),
        };
        Shared(Arc::new(Mutex::new(exchange)))
    }
}

impl Http for Host {
    type Headers = Headers;
    type ResponseBody = BufReader<Shared>;
    type PostBody = Shared;

    fn get(
        &mut self,
        url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::Result<GetResponse<Headers, BufReader<Shared>>> {
        let exchange = self.exchange(self.client.get(url), headers);
        Ok(GetResponse { headers: Headers::of(&exchange), body: BufReader::with_capacity(1 << 16, exchange) })
    }

    fn post(
        &mut self,
        url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _body: PostBodyDataKind,
    ) -> gix::Result<PostResponse<Headers, BufReader<Shared>, Shared>> {
        let exchange = self.exchange(self.client.post(url), headers);
        Ok(PostResponse {
            post_body: Shared(Arc::clone(&exchange.0)),
            headers: Headers::of(&exchange),
            body: BufReader::with_capacity(1 << 16, exchange),
        })
    }

    fn configure(&mut self, _config: &dyn std::any::Any) -> gix::Result {
        // Git settings for proxies, redirects and headers do not apply here.
        Ok(())
    }
}

/// A request and its response. The request is sent when the response is first read: by then its body is
/// complete.
struct Exchange {
    request: Option<RequestBuilder>,
    body: Vec<u8>,
    response: Option<Response>,
    /// Number of bytes of the response that may still be read.
    left: u64,
    /// Maximum size in bytes of a response with a pack.
    most: u64,
    guard: Arc<Guard>,
}

/// An exchange with several owners: one writes the request body, others read the response headers and body.
pub(super) struct Shared(Arc<Mutex<Exchange>>);

impl Exchange {
    fn response(&mut self) -> io::Result<&mut Response> {
        if let Some(request) = self.request.take() {
            // Only the response with the pack may be large.
            let is_talk =
                self.body.is_empty() || self.body.windows(15).any(|part| part == b"command=ls-refs");
            self.left = if is_talk { MAX_TALK.min(self.most) } else { self.most };
            let body = std::mem::take(&mut self.body);
            let request = if body.is_empty() { request } else { request.body(body) };
            let response = request.send().map_err(|error| self.guard.fail(fault_of(&error)))?;
            if let Some(fault) = refusal_of(response.status()) {
                return Err(self.guard.fail(fault));
            }
            self.response = Some(response);
        }
        self.response.as_mut().ok_or_else(|| io::Error::other("the request failed before"))
    }
}

fn refusal_of(status: StatusCode) -> Option<Fault> {
    match status {
        status if status.is_success() => None,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Some(Fault::Denied),
        StatusCode::NOT_FOUND | StatusCode::GONE => Some(Fault::Missing),
        status if status.is_redirection() => Some(Fault::Moved),
        _ => Some(Fault::Unreachable),
    }
}

/// Classifies a failed request by its chain of sources.
fn fault_of(error: &reqwest::Error) -> Fault {
    if error.is_timeout() {
        return Fault::Silent;
    }
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.to_string().contains(NOT_PUBLIC) {
            return Fault::Private;
        }
        cause = error.source();
    }
    Fault::Unreachable
}

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut exchange = lock(&self.0);
        let guard = Arc::clone(&exchange.guard);
        if guard.is_stopped.load(Ordering::SeqCst) {
            return Err(io::Error::other("stopped"));
        }
        let count = exchange.response()?.read(buffer).map_err(|error| {
            let is_silent = error.kind() == io::ErrorKind::TimedOut
                || error
                    .get_ref()
                    .and_then(|inner| inner.downcast_ref::<reqwest::Error>())
                    .is_some_and(reqwest::Error::is_timeout);
            guard.fail(if is_silent { Fault::Silent } else { Fault::Unreachable })
        })?;
        guard.taken.fetch_add(count as u64, Ordering::Relaxed);
        exchange.left = exchange.left.checked_sub(count as u64).ok_or_else(|| guard.fail(Fault::TooMuch))?;
        Ok(count)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut exchange = lock(&self.0);
        if exchange.body.len() + bytes.len() > MAX_REQUEST {
            return Err(exchange.guard.fail(Fault::TooMuch));
        }
        exchange.body.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The response headers as lines of text.
pub(super) struct Headers {
    exchange: Shared,
    lines: Option<Cursor<Vec<u8>>>,
}

impl Headers {
    fn of(exchange: &Shared) -> Headers {
        Headers { exchange: Shared(Arc::clone(&exchange.0)), lines: None }
    }

    fn lines(&mut self) -> io::Result<&mut Cursor<Vec<u8>>> {
        if self.lines.is_none() {
            let mut lines = Vec::new();
            for (name, value) in lock(&self.exchange.0).response()?.headers() {
                lines.extend_from_slice(name.as_str().as_bytes());
                lines.push(b':');
                lines.extend_from_slice(value.as_bytes());
                lines.push(b'\n');
            }
            self.lines = Some(Cursor::new(lines));
        }
        Ok(self.lines.get_or_insert_default())
    }
}

impl Read for Headers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.lines()?.read(buffer)
    }
}

impl BufRead for Headers {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.lines()?.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if let Some(lines) = &mut self.lines {
            lines.consume(count);
        }
    }
}
