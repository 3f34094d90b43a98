//! A request to a world, and its answer.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use uuid::Uuid;

use super::{body::RecordedBody, space::Charge};
use crate::{
    domain::time::Timestamp,
    error::Code,
    string_enum::{StringEnum, string_enum},
};

/// Estimated bytes of memory of an entry, without its texts and bodies.
const ENTRY_BYTES: usize = 1_024;

/// Estimated bytes of memory of a header, without its texts.
const HEADER_BYTES: usize = 64;

string_enum! {
    /// Which API a request was for.
    Origin {
        /// One of the world.
        World = "world",
        /// The part of the sandbox API for the world.
        Sandbox = "sandbox",
    }
}

string_enum! {
    /// An API of worlds.
    WorldApi {
        /// The API of vendors.
        Vendor = "vendor",
        /// The API of buyers.
        Buyer = "buyer",
        /// The API of operators.
        Operator = "operator",
    }
}

/// The operation of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationName {
    /// Name of the first API that has the operation: `vendor`, `buyer`, `operator`, or `sandbox`.
    pub api: &'static str,
    /// Names of the other APIs that have the operation.
    pub other_apis: Vec<&'static str>,
    /// `operationId` in its document.
    pub id: String,
}

impl OperationName {
    /// Whether an API has the operation.
    pub fn is_of(&self, api: WorldApi) -> bool {
        self.api == api.as_str() || self.other_apis.contains(&api.as_str())
    }
}

/// A header. Values that are secrets are masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name, in lower case.
    pub name: String,
    /// Value.
    pub value: Vec<u8>,
}

/// An API key by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLabel {
    /// ID of the key. It is not secret.
    pub id: Uuid,
    /// Name of the key.
    pub name: String,
    /// ID and name of its team; `None` for the key of an operator.
    pub team: Option<(Uuid, String)>,
    /// Whether the key is one of the server, rather than of the world.
    pub is_of_server: bool,
}

/// A request, apart from its body.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// Which API it was for.
    pub origin: Origin,
    /// Whether it came by the port of the world.
    pub is_by_port: bool,
    /// Method.
    pub method: String,
    /// Path as it was sent. For a request to the world, the path below its base address. For a request to the sandbox API, the name
    /// of the world is decoded.
    pub path: String,
    /// Query, as it was sent; `None` if there was none.
    pub query: Option<String>,
    /// HTTP version, such as `HTTP/1.1`.
    pub version: &'static str,
    /// Operation that the method and the path belong to; `None` if no document has one.
    pub operation: Option<OperationName>,
    /// Headers.
    pub headers: Vec<Header>,
    /// Whether there was a key, valid or not.
    pub has_key: bool,
}

/// An answer, apart from its body.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Error code; `None` for success, and for 422, which lists problems instead.
    pub code: Option<Code>,
    /// Headers.
    pub headers: Vec<Header>,
    /// ID of the request.
    pub request_id: Option<String>,
    /// Time from the admission of the request to the head of the answer.
    pub duration: Duration,
    /// Whether the request was executed.
    pub(super) is_executed: bool,
    pub(super) _charge: Charge,
}

/// A request to a world, and its answer.
#[derive(Debug)]
pub struct JournalEntry {
    /// Number in the order of admission, counted from 1.
    pub number: u64,
    /// Time of the world when the request was admitted.
    pub at: Timestamp,
    /// Time of the machine when the request arrived.
    pub received_at: Timestamp,
    /// How long the request waited for its turn.
    pub waited: Duration,
    /// The request.
    pub request: RequestHead,
    /// Its body, as far as the server has read it.
    pub request_body: Arc<RecordedBody>,
    /// Body of the answer, as far as the client has got it.
    pub response_body: Arc<RecordedBody>,
    pub(super) key: OnceLock<Arc<KeyLabel>>,
    pub(super) fault_id: OnceLock<String>,
    pub(super) outcome: OnceLock<Answer>,
    has_begun: AtomicBool,
    _charge: Charge,
}

impl JournalEntry {
    /// Creates the entry of a request that was admitted.
    pub(super) fn new(
        (number, at): (u64, Timestamp),
        (received_at, waited): (Timestamp, Duration),
        request: RequestHead,
        [request_body, response_body]: [Arc<RecordedBody>; 2],
        charge: Charge,
    ) -> JournalEntry {
        JournalEntry {
            number,
            at,
            received_at,
            waited,
            request,
            request_body,
            response_body,
            key: OnceLock::new(),
            fault_id: OnceLock::new(),
            outcome: OnceLock::new(),
            has_begun: AtomicBool::new(false),
            _charge: charge,
        }
    }

    /// Returns the key of the request; `None` without a key, or with an unknown one.
    pub fn key(&self) -> Option<&KeyLabel> {
        self.key.get().map(AsRef::as_ref)
    }

    /// Returns the ID of the fault that caused the answer, or its absence.
    pub fn fault_id(&self) -> Option<&str> {
        self.fault_id.get().map(String::as_str)
    }

    /// Returns the answer; `None` if there is none yet, if the client did not wait for it, or if a fault closed the connection
    /// before the request was executed.
    pub fn answer(&self) -> Option<&Answer> {
        self.outcome().filter(|answer| answer.is_executed)
    }

    /// Returns the recorded answer, for replays; `None` if there is none yet, or if the client did not wait for it.
    ///
    /// If a fault closed the connection before the request was executed, the status is 444, which only replays see. If a replay
    /// executes the request, it gets another status, and reports the difference.
    pub fn outcome(&self) -> Option<&Answer> {
        self.outcome.get()
    }

    /// Says that the request has got to its handler.
    pub(super) fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Whether the request has got to its handler, so that it may have changed something.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Returns the value of a header of the request. `name` is in lower case.
    pub fn request_header(&self, name: &str) -> Option<&[u8]> {
        find_header(&self.request.headers, name)
    }
}

/// Returns the value of the first header with this name, which is in lower case.
pub fn find_header<'a>(headers: &'a [Header], name: &str) -> Option<&'a [u8]> {
    headers.iter().find(|header| header.name == name).map(|header| header.value.as_slice())
}

impl RequestHead {
    /// Returns the estimated bytes of memory of an entry with this request, without the answer.
    pub(super) fn memory(&self) -> usize {
        let texts = self.path.len() + self.query.as_ref().map_or(0, String::len);
        ENTRY_BYTES + texts + memory_of_headers(&self.headers)
    }
}

/// Returns the estimated bytes of memory of headers.
pub(super) fn memory_of_headers(headers: &[Header]) -> usize {
    headers.iter().map(|header| HEADER_BYTES + header.name.len() + header.value.len()).sum()
}
