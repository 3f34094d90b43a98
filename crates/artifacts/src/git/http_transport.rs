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
use marketplace_domain::error_sources;
use marketplace_http_client::{self as http_client, NoPublicAddress, PublicResolver};
use reqwest::{
    StatusCode,
    blocking::{Client, RequestBuilder, Response},
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};

/// How this program names itself to hosts, in HTTP and in the protocol of Git.
pub(super) const USER_AGENT: &str = concat!("git/marketplace-", env!("CARGO_PKG_VERSION"));

/// Maximum time to connect to a host. A host that accepts no connection within it is missing.
const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);

/// Maximum size in bytes of a response without a pack: refs and capabilities. They are parsed in memory.
const MAX_METADATA_BYTES: u64 = 4 << 20;

/// Maximum size in bytes of a request body: the wants and haves, which are small.
const MAX_REQUEST_BYTES: usize = 1 << 20;

/// Why a request to a host failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostError {
    /// The host requires credentials, or rejects the given ones (401, 403).
    Denied,
    /// The repository does not exist, or is hidden from us (404, 410).
    NotFound,
    /// The host redirects (3xx).
    Redirected,
    /// The host is not on the public internet.
    NotPublic,
    /// A response, or our request, exceeds a limit.
    TooLarge,
    /// The host timed out.
    TimedOut,
    /// The host cannot be reached, or failed.
    Unreachable,
}

/// State that all requests of one copy share.
#[derive(Debug, Default)]
pub(super) struct TransferState {
    /// Whether the copy is to stop.
    pub(super) is_stopped: AtomicBool,
    /// Number of bytes received.
    pub(super) received_bytes: AtomicU64,
    error: Mutex<Option<HostError>>,
}

impl TransferState {
    /// Returns the first error. All later errors follow from it.
    pub(super) fn first_error(&self) -> Option<HostError> {
        *lock(&self.error)
    }

    pub(super) fn record_error(&self, error: HostError) -> io::Error {
        lock(&self.error).get_or_insert(error);
        io::Error::other(format!("{error:?}"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How to connect to a host.
#[derive(Clone, Copy)]
pub(super) struct ConnectionOptions<'a> {
    /// Value of the `Authorization` header.
    pub(super) authorization: Option<&'a str>,
    /// Whether the host may be in a private network.
    pub(super) may_be_private: bool,
    /// Timeout while the host sends nothing.
    pub(super) idle_timeout: Duration,
    /// Maximum size of a response in bytes.
    pub(super) max_bytes: u64,
}

/// An HTTP client for one host.
pub(super) struct HostClient {
    client: Client,
    authorization: Option<HeaderValue>,
    max_bytes: u64,
    state: Arc<TransferState>,
}

impl HostClient {
    pub(super) fn new(options: ConnectionOptions, state: Arc<TransferState>) -> io::Result<HostClient> {
        let builder = http_client::blocking()
            .map_err(io::Error::other)?
            .connect_timeout(options.idle_timeout.min(MAX_CONNECT_TIME))
            .timeout(options.idle_timeout)
            .user_agent(USER_AGENT);
        let builder =
            if options.may_be_private { builder } else { builder.dns_resolver(Arc::new(PublicResolver)) };
        let authorization = options.authorization.map(|value| {
            let mut value = HeaderValue::from_str(value).map_err(io::Error::other)?;
            value.set_sensitive(true);
            Ok::<_, io::Error>(value)
        });
        Ok(HostClient {
            client: builder.build().map_err(io::Error::other)?,
            authorization: authorization.transpose()?,
            max_bytes: options.max_bytes,
            state,
        })
    }

    fn start_exchange<S: AsRef<str>>(
        &self,
        request: RequestBuilder,
        headers: impl IntoIterator<Item = S>,
    ) -> SharedExchange {
        let mut header_map = HeaderMap::new();
        for line in headers {
            if let Some((name, value)) = line.as_ref().split_once(':')
                && let (Ok(name), Ok(value)) =
                    (HeaderName::try_from(name.trim()), HeaderValue::try_from(value.trim()))
            {
                header_map.append(name, value);
            }
        }
        if let Some(authorization) = &self.authorization {
            header_map.insert(AUTHORIZATION, authorization.clone());
        }
        let exchange = Exchange {
            request: Some(request.headers(header_map)),
            body: Vec::new(),
            response: None,
            remaining_bytes: 0,
            max_bytes: self.max_bytes,
            state: Arc::clone(&self.state),
        };
        SharedExchange(Arc::new(Mutex::new(exchange)))
    }
}

impl Http for HostClient {
    type Headers = Headers;
    type ResponseBody = BufReader<SharedExchange>;
    type PostBody = SharedExchange;

    fn get(
        &mut self,
        url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::Result<GetResponse<Headers, BufReader<SharedExchange>>> {
        let exchange = self.start_exchange(self.client.get(url), headers);
        Ok(GetResponse {
            headers: Headers::new(&exchange),
            body: BufReader::with_capacity(1 << 16, exchange),
        })
    }

    fn post(
        &mut self,
        url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _body: PostBodyDataKind,
    ) -> gix::Result<PostResponse<Headers, BufReader<SharedExchange>, SharedExchange>> {
        let exchange = self.start_exchange(self.client.post(url), headers);
        Ok(PostResponse {
            post_body: SharedExchange(Arc::clone(&exchange.0)),
            headers: Headers::new(&exchange),
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
    remaining_bytes: u64,
    /// Maximum size in bytes of a response with a pack.
    max_bytes: u64,
    state: Arc<TransferState>,
}

/// An exchange with several owners: one writes the request body, others read the response headers and body.
pub(super) struct SharedExchange(Arc<Mutex<Exchange>>);

impl Exchange {
    fn response(&mut self) -> io::Result<&mut Response> {
        if let Some(request) = self.request.take() {
            // Only the response with the pack may be large.
            let is_metadata =
                self.body.is_empty() || self.body.windows(15).any(|part| part == b"command=ls-refs");
            self.remaining_bytes =
                if is_metadata { MAX_METADATA_BYTES.min(self.max_bytes) } else { self.max_bytes };
            let body = std::mem::take(&mut self.body);
            let request = if body.is_empty() { request } else { request.body(body) };
            let response =
                request.send().map_err(|error| self.state.record_error(error_for_request(&error)))?;
            if let Some(error) = error_for_status(response.status()) {
                return Err(self.state.record_error(error));
            }
            self.response = Some(response);
        }
        self.response.as_mut().ok_or_else(|| io::Error::other("the request failed before"))
    }
}

fn error_for_status(status: StatusCode) -> Option<HostError> {
    match status {
        status if status.is_success() => None,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Some(HostError::Denied),
        StatusCode::NOT_FOUND | StatusCode::GONE => Some(HostError::NotFound),
        status if status.is_redirection() => Some(HostError::Redirected),
        _ => Some(HostError::Unreachable),
    }
}

/// Classifies a failed request by its chain of sources.
fn error_for_request(error: &reqwest::Error) -> HostError {
    if error.is_timeout() {
        return HostError::TimedOut;
    }
    if error_sources::sources(error).any(<dyn std::error::Error + 'static>::is::<NoPublicAddress>) {
        return HostError::NotPublic;
    }
    HostError::Unreachable
}

impl Read for SharedExchange {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut exchange = lock(&self.0);
        let state = Arc::clone(&exchange.state);
        if state.is_stopped.load(Ordering::SeqCst) {
            return Err(io::Error::other("stopped"));
        }
        let count = exchange.response()?.read(buffer).map_err(|error| {
            let is_timed_out = error.kind() == io::ErrorKind::TimedOut
                || error
                    .get_ref()
                    .and_then(|inner| inner.downcast_ref::<reqwest::Error>())
                    .is_some_and(reqwest::Error::is_timeout);
            state.record_error(if is_timed_out { HostError::TimedOut } else { HostError::Unreachable })
        })?;
        state.received_bytes.fetch_add(count as u64, Ordering::Relaxed);
        exchange.remaining_bytes = exchange
            .remaining_bytes
            .checked_sub(count as u64)
            .ok_or_else(|| state.record_error(HostError::TooLarge))?;
        Ok(count)
    }
}

impl Write for SharedExchange {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut exchange = lock(&self.0);
        if exchange.body.len() + bytes.len() > MAX_REQUEST_BYTES {
            return Err(exchange.state.record_error(HostError::TooLarge));
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
    exchange: SharedExchange,
    lines: Option<Cursor<Vec<u8>>>,
}

impl Headers {
    fn new(exchange: &SharedExchange) -> Headers {
        Headers { exchange: SharedExchange(Arc::clone(&exchange.0)), lines: None }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_without_public_address_is_recognized_by_the_type_of_the_error() {
        let client = http_client::blocking().unwrap().dns_resolver(Arc::new(PublicResolver)).build().unwrap();
        let error = client.get("http://localhost:9/").send().unwrap_err();
        assert_eq!(error_for_request(&error), HostError::NotPublic);
        let client = http_client::blocking().unwrap().build().unwrap();
        let error = client.get("http://127.0.0.1:1/the-name-has-no-public-address").send().unwrap_err();
        assert_eq!(error_for_request(&error), HostError::Unreachable);
    }
}
