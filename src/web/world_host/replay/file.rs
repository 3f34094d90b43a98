//! The file of a replay: a ZIP archive with the initial state of a world, and its requests with their answers.
//!
//! `replay.json` describes the world, `requests.jsonl` has a request per line, `bodies/` has the bodies that are not in that
//! file, and `start.zip` is the exported state of a world that was not forked from `demo` or `empty`.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// What the file says it is.
pub const FORMAT: &str = "marketplace-replay";

/// Version of the format.
pub const FORMAT_VERSION: u32 = 1;

/// Names of the files in the archive.
pub const HEAD: &str = "replay.json";
/// The requests, one per line.
pub const REQUESTS: &str = "requests.jsonl";
/// The exported state that the world began with.
pub const START: &str = "start.zip";
/// The directory of bodies.
pub const BODIES: &str = "bodies";

/// What the world was, and whether the file is complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayHead {
    /// [`FORMAT`].
    pub format: String,
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// Version of the program that wrote the file.
    pub version: String,
    /// Whether the file has everything that a replay needs.
    pub complete: bool,
    /// What is missing.
    pub missing: Vec<String>,
    /// What can make a replay differ although nothing is wrong.
    pub notes: Vec<String>,
    /// How the world began.
    pub world: ReplayWorld,
    /// The server.
    pub server: ReplayServer,
    /// The keys that were sent, by their names.
    pub keys: Vec<ReplayKey>,
    /// Number of requests.
    pub requests: u64,
}

/// How a world began.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayWorld {
    /// Name of the world.
    pub name: String,
    /// What it was forked from.
    pub from: String,
    /// Whether `start.zip` has its state.
    pub has_start: bool,
    /// Seed of its clock.
    pub seed: u64,
    /// Time at which it began, in microseconds since 1970; null for that of what it was forked from.
    pub now: Option<i64>,
    /// Whether its clock ran.
    pub clock: String,
    /// When its jobs ran.
    pub jobs: String,
    /// Its settings that differ from the usual ones of worlds.
    pub settings: BTreeMap<String, Value>,
}

/// What of a server is visible in responses.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayServer {
    /// Base URL of stored addresses.
    pub base_url: String,
    /// The setting `server.public_url`.
    pub public_url: String,
    /// Whether pages show the keys of the demo.
    pub shows_demo_keys: bool,
}

/// A key that was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayKey {
    /// ID of the key.
    pub id: Uuid,
    /// Name of the key.
    pub name: String,
    /// Name of its team; null for a key of an operator.
    pub team: Option<String>,
}

/// A request with its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayRequest {
    /// Number in the journal.
    pub number: u64,
    /// Time of the world.
    pub at: String,
    /// `world` or `sandbox`.
    pub origin: String,
    /// Whether it came by the port of the world.
    pub by_port: bool,
    /// `operationId`; null if the request belongs to no operation.
    pub operation: Option<String>,
    /// Method.
    pub method: String,
    /// Path, in parts.
    pub path: Vec<PathPart>,
    /// Query, with the signature masked if it is to be signed again.
    pub query: Option<String>,
    /// Whether the address had a valid signature.
    pub is_signed: bool,
    /// Headers, with secrets masked.
    pub headers: Vec<ReplayHeader>,
    /// ID of the key; null if there was none, or none that existed.
    pub key: Option<Uuid>,
    /// Whether the next request was admitted before this one was answered.
    pub overlaps: bool,
    /// Body.
    pub body: ReplayBody,
    /// The answer; null if there was none. The status 444 means that a fault closed the connection before the request was executed.
    pub answer: Option<ReplayAnswer>,
}

/// A part of a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathPart {
    /// Text.
    Text(String),
    /// A secret of an earlier answer.
    Secret(SecretPlace),
}

/// Where a secret was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretPlace {
    /// Number of the request whose answer had it.
    pub request: u64,
    /// Number of the secret in the answer, counted from 0.
    pub secret: usize,
}

/// A header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayHeader {
    /// Name, in lower case.
    pub name: String,
    /// The value, or its base64 if it is not a text.
    pub value: String,
    /// Whether the value is in base64.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_base64: bool,
}

/// An answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayAnswer {
    /// HTTP status.
    pub status: u16,
    /// Headers, with secrets masked.
    pub headers: Vec<ReplayHeader>,
    /// Body before compression, with secrets masked.
    pub body: ReplayBody,
    /// XXH3 hash of the body as it was sent, in hexadecimal.
    pub hash: String,
}

/// A body.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayBody {
    /// Number of bytes that were transferred.
    pub size: u64,
    /// Whether it was transferred to its end.
    pub is_complete: bool,
    /// The body, if it is short and text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The body in base64, if it is short and no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Whether the body is a file of the archive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_in_file: bool,
}

impl ReplayHeader {
    /// Creates a header.
    pub fn new(name: &str, value: &[u8]) -> ReplayHeader {
        match std::str::from_utf8(value) {
            Ok(text) => ReplayHeader { name: name.to_owned(), value: text.to_owned(), is_base64: false },
            Err(_) => ReplayHeader { name: name.to_owned(), value: STANDARD.encode(value), is_base64: true },
        }
    }

    /// Returns the value; none if it should be in base64 but is not.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        if self.is_base64 { STANDARD.decode(&self.value).ok() } else { Some(self.value.clone().into_bytes()) }
    }
}

impl ReplayBody {
    /// Creates a short body.
    pub fn inline(bytes: &[u8], size: u64, is_complete: bool) -> ReplayBody {
        let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
        let base64 = text.is_none().then(|| STANDARD.encode(bytes));
        ReplayBody { size, is_complete, text, base64, is_in_file: false }
    }

    /// Returns the bytes of a short body; none if the body is in a file, is not kept, or should be in base64 but is not.
    pub fn inline_bytes(&self) -> Option<Vec<u8>> {
        match (&self.text, &self.base64) {
            (Some(text), _) => Some(text.clone().into_bytes()),
            (None, Some(base64)) => STANDARD.decode(base64).ok(),
            (None, None) => None,
        }
    }
}

/// Returns the name of the file with the body of a request.
pub fn request_file(number: u64) -> String {
    format!("{BODIES}/{number}.request")
}

/// Returns the name of the file with the body of an answer.
pub fn answer_file(number: u64) -> String {
    format!("{BODIES}/{number}.answer")
}
