//! JSON responses: bytes that are already serialized, and the schema that documents them.
//!
//! The functions that run an operation are not `async` themselves. They only pass it on, so no state machine is compiled for each
//! operation.

use std::{io, marker::PhantomData, sync::Arc};

use poem::{
    IntoResponse, Response,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, Registry},
    types::Type,
};
use serde::Serialize;

use crate::{
    domain::problems::Problems,
    error::{Error, Result},
    market::{CheckContext, ReadWork, Reader, Requester, WriteWork, Writer},
    rest::arguments::request_body::BodySource,
    web::{problem::ApiError, served_market::ServedMarket},
};

/// Size in bytes that a response may have in any case, whatever the limit on memory.
const MIN_MAX_BYTES: usize = 32 << 20;

/// Size in bytes for which a response has memory from the beginning.
const INITIAL_CAPACITY: usize = 1024;

/// The result of a handler. The status is 200 unless given, as in `JsonResult<Codebase, 201>`.
pub type JsonResult<T, const STATUS: u16 = 200> = std::result::Result<Json<T, STATUS>, ApiError>;

/// Serialized JSON of a `T`.
///
/// Handlers create it with [`Json::read`] and [`Json::write`], which convert rows and serialize values in the
/// slot of the reader or the writer. So no more large responses than there are slots are built at the same
/// time, and none on a thread that serves requests.
///
/// Catalog pages are assembled from stored JSON fragments; a test validates them against the schema of `T`.
pub struct Json<T, const STATUS: u16 = 200> {
    bytes: bytes::Bytes,
    marker: PhantomData<fn() -> T>,
}

impl<T, const STATUS: u16> Json<T, STATUS> {
    /// Creates a response from bytes that must be the JSON of a `T`.
    pub fn from_bytes(bytes: impl Into<bytes::Bytes>) -> Self {
        Json { bytes: bytes.into(), marker: PhantomData }
    }

    /// Returns the same bytes as the JSON of a `U`, with another status.
    pub fn cast<U, const OTHER: u16>(self) -> Json<U, OTHER> {
        Json::from_bytes(self.bytes)
    }
}

impl<T: Serialize, const STATUS: u16> Json<T, STATUS> {
    /// Reads a value and serializes it, on a blocking thread. Fails if the JSON is too long.
    pub fn read(
        served: &ServedMarket,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> + Send {
        let max_bytes = max_bytes(served);
        let read = move |reader: &Reader| serialize(&work(reader)?, max_bytes);
        Json::of(served.market().read(requester, read))
    }

    /// Reads a small value of a few rows by key and serializes it, on the current thread if a connection is
    /// free. Only for JSON of less than 64 KB.
    pub fn read_inline(
        served: &ServedMarket,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> + Send {
        let max_bytes = max_bytes(served);
        let read = move |reader: &Reader| serialize(&work(reader)?, max_bytes);
        Json::of(served.market().read_inline(requester, read))
    }

    /// Changes something and serializes the result, on a blocking thread.
    pub fn write(
        served: &ServedMarket,
        requester: Requester,
        work: impl FnOnce(&mut Writer) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> + Send {
        let write = move |writer: &mut Writer| Self::render(&work(writer)?);
        Json::of(served.market().write(requester, write))
    }

    /// Like [`Json::write`], for a request with a body. `check` gets the problems of the body, and must fail
    /// with them and its own. `work` runs in the same transaction with what `check` returns.
    pub fn write_body<C>(
        served: &ServedMarket,
        requester: Requester,
        body: BodySource,
        check: impl FnOnce(&CheckContext, Problems) -> Result<C> + Send + 'static,
        work: impl FnOnce(&mut Writer, C) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> + Send {
        let body = Arc::new(body);
        let work = if body.is_valid() {
            BodyWork::Write(Box::new(move |writer| {
                let checked = check(&writer.check_context(), Problems::default())?;
                Self::render(&work(writer, checked)?)
            }))
        } else {
            let source = Arc::clone(&body);
            BodyWork::Reject(Box::new(move |reader| source.reject(reader, check)))
        };
        Json::of(work.run(served, requester, body))
    }

    /// Makes a value that is not in the market and serializes it, on a blocking thread.
    pub fn of_blocking(
        served: &ServedMarket,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> + Send {
        Json::of(served.market().spawn_blocking(move |_| Self::render(&work()?)))
    }

    /// Serializes a value for [`Json::from_bytes`], on a thread that does not serve requests.
    pub fn render(value: &T) -> Result<Vec<u8>> {
        serialize(value, usize::MAX)
    }

    /// Serializes a small value of fixed size on the current thread.
    pub fn from_small(value: &T) -> Self {
        Json::from_bytes(Self::render(value).expect("a response serializes"))
    }
}

/// What a request with a body does.
pub enum BodyWork {
    /// Executes the operation.
    Write(WriteWork<Vec<u8>>),
    /// Fails with what is wrong with the body.
    Reject(ReadWork<()>),
}

impl BodyWork {
    async fn run(
        self,
        served: &ServedMarket,
        requester: Requester,
        body: Arc<BodySource>,
    ) -> Result<Vec<u8>> {
        let result = match self {
            BodyWork::Write(work) => {
                let (market, source) = (served.market().clone(), Arc::clone(&body));
                let write = move |writer: &mut Writer| {
                    source.ensure_space(&market)?;
                    work(writer)
                };
                served.market().write_freeing(requester, write).await
            }
            BodyWork::Reject(check) => {
                served.market().read(requester, |reader| check(reader).map(|()| Vec::new())).await
            }
        };
        body.sort_problems(served, result).await
    }
}

impl<T, const STATUS: u16> Json<T, STATUS> {
    /// Like [`Json::read`], for JSON that `work` puts together.
    pub fn read_bytes(
        served: &ServedMarket,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<Vec<u8>> + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> + Send {
        let max_bytes = max_bytes(served);
        let read = move |reader: &Reader| {
            let bytes = work(reader)?;
            if bytes.len() <= max_bytes { Ok(bytes) } else { Err(too_long(max_bytes)) }
        };
        Json::of(served.market().read(requester, read))
    }

    /// Waits for bytes that must be the JSON of a `T`.
    pub async fn of(bytes: impl Future<Output = Result<Vec<u8>>>) -> JsonResult<T, STATUS> {
        Ok(Json::from_bytes(bytes.await?))
    }
}

/// Returns the maximum size of a response in bytes: what a team may use of the memory for bodies and
/// responses.
fn max_bytes(served: &ServedMarket) -> usize {
    match served.market().settings().limits.memory_mb as usize {
        0 => usize::MAX,
        megabytes => ((megabytes << 20) / 4).max(MIN_MAX_BYTES),
    }
}

/// Serializes a value, and stops when it exceeds the maximum. All responses are serialized here, so serializers of their types
/// are compiled once.
fn serialize<T: Serialize>(value: &T, max_bytes: usize) -> Result<Vec<u8>> {
    let bytes = Vec::with_capacity(INITIAL_CAPACITY);
    let mut writer = LimitedWriter { bytes, max_bytes, is_full: false };
    match serde_json::to_writer(&mut writer, value) {
        Ok(()) => Ok(writer.bytes),
        Err(_) if writer.is_full => Err(too_long(max_bytes)),
        Err(cause) => Err(Error::internal(cause)),
    }
}

fn too_long(max_bytes: usize) -> Error {
    Error::Malformed(format!(
        "The response would have more than {max_bytes} bytes. Request fewer items, for example with a lower \
         `limit`."
    ))
}

/// Collects bytes up to a maximum.
struct LimitedWriter {
    bytes: Vec<u8>,
    max_bytes: usize,
    is_full: bool,
}

impl io::Write for LimitedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= bytes.len() > self.max_bytes - self.bytes.len();
        if self.is_full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<T: Send, const STATUS: u16> IntoResponse for Json<T, STATUS> {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(STATUS).unwrap_or(StatusCode::OK);
        Response::builder().status(status).header(header::CONTENT_TYPE, "application/json").body(self.bytes)
    }
}

impl<T: Type, const STATUS: u16> ApiResponse for Json<T, STATUS> {
    fn meta() -> MetaResponses {
        let content = MetaMediaType { content_type: "application/json", schema: T::schema_ref() };
        let response = MetaResponse {
            description: match STATUS {
                201 => "Created.",
                202 => "Accepted. The work continues in the background; poll the resource for its result.",
                _ => "Success.",
            },
            status: Some(STATUS),
            status_range: None,
            content: vec![content],
            headers: Vec::new(),
        };
        MetaResponses { responses: vec![response] }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

/// A response without a body (204).
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        Response::builder().status(StatusCode::NO_CONTENT).finish()
    }
}

impl ApiResponse for NoContent {
    fn meta() -> MetaResponses {
        let response = MetaResponse {
            description: "Success; the response has no body.",
            status: Some(204),
            status_range: None,
            content: Vec::new(),
            headers: Vec::new(),
        };
        MetaResponses { responses: vec![response] }
    }

    fn register(_: &mut Registry) {}
}

#[cfg(test)]
mod tests;
