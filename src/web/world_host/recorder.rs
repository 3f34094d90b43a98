//! Records requests to worlds in their journals. Bodies are copied while they are transferred, so that none is delayed.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use poem::{
    Body, Request, Response,
    http::{HeaderMap, HeaderName, Version, header},
};
use serde::Deserialize;

use crate::{
    domain::time::Timestamp,
    error::Code,
    http_server::{coding, connections::Cut, request_coding, response_body},
    market::{KeyCache, Market, Reader, Requester},
    operations::keys,
    string_enum::StringEnum,
    web::{
        documented_operations::{DocumentedOperation, DocumentedOperations},
        key_headers, path_params, request_id,
        world_host::{fault_answers::NotExecuted, faults},
    },
    worlds::{
        World, Worlds,
        journal::{
            AnswerHead, Ending, Header, INLINE_BYTES, Journal, KeyDigest, KeyLabel, Origin, RecordedBody,
            Recording, RequestHead, secrets,
        },
    },
};

/// What the paths of the sandbox API for a world begin with.
const SANDBOX_PREFIX: &str = "/sandbox/v1/worlds/";

/// The rest of a path of the sandbox API, after the name of the world, for requests that do not change the world.
const NOT_RECORDED: [&str; 4] = ["", "/snapshots", "/expectations", "/journal"];

/// Records requests to the worlds of a server.
pub struct WorldRecorder {
    operations: Arc<DocumentedOperations>,
}

/// A request that is recorded, with what is needed to find its key.
pub struct RecordedRequest {
    recording: Arc<Recording>,
    journal: Arc<Journal>,
    /// SHA-256 digest of the key.
    digest: Option<[u8; 32]>,
    /// Name of the key, once it is known.
    label: Option<Arc<KeyLabel>>,
    /// The error code of the answer, once it is known.
    code: Option<Code>,
    /// The market of the server, if the key may be one of its keys.
    root: Option<Market>,
    /// Number of resets of the world so far, and its market.
    current: (u64, Market),
}

impl WorldRecorder {
    /// Creates a recorder that knows these operations.
    pub const fn new(operations: Arc<DocumentedOperations>) -> WorldRecorder {
        WorldRecorder { operations }
    }

    /// Returns the operations.
    pub const fn operations(&self) -> &Arc<DocumentedOperations> {
        &self.operations
    }

    /// Begins to record a request to a world, whose path is below its base address.
    pub fn start(&self, world: &World, is_by_port: bool, request: &mut Request) -> RecordedRequest {
        // Records the bytes that the server reads, so that secrets in them are found.
        request_coding::decode_body(request);
        let head = self.head(request, Origin::World, is_by_port);
        RecordedRequest::start(world, head, None, request)
    }

    /// Begins to record a request to the server if it is one to the sandbox API that changes a world.
    pub async fn start_of_sandbox(&self, worlds: &Worlds, request: &mut Request) -> Option<RecordedRequest> {
        if request.method().is_safe() {
            return None;
        }
        let rest = request.uri().path().strip_prefix(SANDBOX_PREFIX)?;
        let (name, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if NOT_RECORDED.contains(&path) {
            return None;
        }
        // The router also decodes the name.
        let world = worlds.find(&path_params::decode_segment(name)?)?;
        let path = format!("{SANDBOX_PREFIX}{}{path}", world.name());
        request_coding::decode_body(request);
        let head = RequestHead { path, ..self.head(request, Origin::Sandbox, false) };
        let mut recorded = RecordedRequest::start(&world, head, Some(worlds.root().clone()), request);
        // Looked up before the request is executed, since the request may reset the world.
        recorded.label = recorded.find_label().await;
        Some(recorded)
    }

    fn head(&self, request: &Request, origin: Origin, is_by_port: bool) -> RequestHead {
        let path = request.uri().path();
        let operation = self.operations.find(request.method(), path);
        RequestHead {
            origin,
            is_by_port,
            method: secrets::mask_text(request.method().as_str()),
            path: path.to_owned(),
            query: request.uri().query().map(str::to_owned),
            version: match request.version() {
                Version::HTTP_10 => "HTTP/1.0",
                _ => "HTTP/1.1",
            },
            operation: operation.map(DocumentedOperation::name),
            headers: headers(request.headers()),
            has_key: key_headers::has_key_header(request.headers()),
        }
    }
}

impl RecordedRequest {
    fn start(
        world: &World,
        head: RequestHead,
        root: Option<Market>,
        request: &mut Request,
    ) -> RecordedRequest {
        let journal = Arc::clone(world.journal());
        let recording = Recording::start(&journal, head);
        let body: BoxBody<Bytes, io::Error> = request.take_body().into();
        request.set_body(tee(body, content_length(request.headers()), recording.request_body()));
        request.set_data(Arc::clone(&recording));
        let digest = key_headers::api_key(request.headers()).ok().map(KeyCache::digest);
        let current = world.current();
        RecordedRequest { recording, journal, digest, label: None, code: None, root, current }
    }

    /// Numbers the request, which was admitted to its world.
    pub async fn admitted(&mut self, world: &World) {
        // While the request waited, the world may have been reset, and the key or its team renamed.
        self.current = world.current();
        self.recording.admit(self.now());
        self.label = self.find_label().await;
    }

    /// Returns the time of the world.
    fn now(&self) -> Timestamp {
        self.current.1.clock().now()
    }

    /// Returns the name of the key; `None` if there is no such key, or it cannot be read.
    async fn find_label(&self) -> Option<Arc<KeyLabel>> {
        let digest = self.digest?;
        let known: KeyDigest = (digest, self.root.is_some());
        let (resets, market) = &self.current;
        let commits = |market: &Market| *market.commits().borrow();
        // Determined before anything is read, so that the next request notices a change in between.
        let version = [*resets, commits(market), self.root.as_ref().map(commits).unwrap_or_default()];
        if let Some(label) = self.journal.label_of(&known, version) {
            return Some(label);
        }
        let of_server = self.root.iter().map(|market| (market, true));
        for (market, is_of_server) in of_server.chain([(market, false)]) {
            let read = move |reader: &Reader| keys::find_name(reader, &digest);
            if let Ok(Some(found)) = market.read_inline(Requester::process(), read).await {
                let label = KeyLabel { id: found.id, name: found.name, team: found.team, is_of_server };
                return Some(self.journal.remember_label(known, version, label));
            }
        }
        None
    }

    /// Notes the error code of a response, before a fault delays its body.
    pub async fn note_code(&mut self, response: &mut Response) {
        if response.status().is_client_error() || response.status().is_server_error() {
            let Some(bytes) = response_body::take_in_memory(response).await else { return };
            self.code = error_code(response.headers(), &bytes);
            response.set_body(bytes);
        }
    }

    /// Records the answer.
    pub async fn answer(self, mut response: Response) -> Response {
        let key = match &self.label {
            Some(label) => Some(Arc::clone(label)),
            // Another request may have created it meanwhile.
            None if response.status().as_u16() != 401 => self.find_label().await,
            None => None,
        };
        let body = self.recording.response_body();
        // A fault can delay or cut a body that was in memory.
        let in_memory = if response.headers().contains_key(faults::HEADER) {
            None
        } else {
            response_body::take_in_memory(&mut response).await
        };
        match in_memory {
            Some(bytes) => {
                body.append(&bytes);
                body.end(true);
                response.set_body(bytes);
            }
            None => {
                let streamed: BoxBody<Bytes, io::Error> = response.take_body().into();
                let length = content_length(response.headers());
                response.set_body(tee(streamed, length, body));
            }
        }
        let text = |name: HeaderName| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let head = AnswerHead {
            status: response.status().as_u16(),
            code: self.code,
            headers: headers(response.headers()),
            request_id: text(request_id::HEADER).map(|id| secrets::mask_text(&id)),
            is_sent: response.data::<Cut>().is_none(),
            is_executed: response.data::<NotExecuted>().is_none(),
        };
        let ending = Ending { key, fault_id: text(faults::HEADER), answer: head };
        self.recording.end(ending, self.now());
        response
    }
}

/// Returns headers with their secrets masked.
pub fn headers(all: &HeaderMap) -> Vec<Header> {
    let masked = |(name, value): (&HeaderName, &poem::http::HeaderValue)| {
        let (name, value) = (name.as_str(), secrets::mask_header(name.as_str(), value.as_bytes()));
        Header { name: name.to_owned(), value }
    };
    all.iter().map(masked).collect()
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Returns the code in the body of an error.
fn error_code(headers: &HeaderMap, body: &[u8]) -> Option<Code> {
    #[derive(Deserialize)]
    struct ErrorBody<'a> {
        #[serde(borrow)]
        error: ErrorDetail<'a>,
    }
    #[derive(Deserialize)]
    struct ErrorDetail<'a> {
        code: &'a str,
    }
    let encoding = headers.get(header::CONTENT_ENCODING).map(poem::http::HeaderValue::as_bytes);
    let decoded = coding::decode(encoding, body, INLINE_BYTES)?;
    Code::parse(serde_json::from_slice::<ErrorBody>(&decoded).ok()?.error.code)
}

/// Returns a body that copies what is read from it. `length` is its length, if that is stated.
fn tee(inner: BoxBody<Bytes, io::Error>, length: Option<u64>, to: &Arc<RecordedBody>) -> Body {
    if inner.is_end_stream() {
        to.end(true);
        return Body::from(inner);
    }
    Body::from(BoxBody::new(TeeBody { inner, remaining: length, to: Arc::clone(to) }))
}

/// A body that copies what is read from it.
struct TeeBody {
    inner: BoxBody<Bytes, io::Error>,
    /// Number of outstanding bytes, if known. The reader of a body with a stated length may never ask for its end.
    remaining: Option<u64>,
    to: Arc<RecordedBody>,
}

impl http_body::Body for TeeBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let polled = std::task::ready!(Pin::new(&mut self.inner).poll_frame(context));
        match &polled {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    self.to.append(bytes);
                    let length = bytes.len() as u64;
                    self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(length));
                }
                if self.remaining == Some(0) || self.inner.is_end_stream() {
                    self.to.end(true);
                }
            }
            Some(Err(_)) => self.to.end(false),
            None => self.to.end(true),
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for TeeBody {
    fn drop(&mut self) {
        self.to.end(false);
    }
}
