//! What is wrong with a request or its body, whatever it asks for.

use std::{net::IpAddr, pin::Pin};

use poem::{
    Request, Response,
    http::{HeaderMap, StatusCode},
};

/// Why a request or its body is refused. As the source of an [`std::io::Error`], it is the reason why reading a body fails.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request is not valid HTTP, or its body ended early. Has a sentence for the client.
    #[error("{0}")]
    Malformed(String),
    /// The request did not arrive in time. Has a sentence for the client.
    #[error("{0}")]
    TooSlow(String),
    /// The body is in these content codings, which are not supported.
    #[error("unsupported content coding: {0}")]
    UnsupportedCoding(String),
}

/// A response that is being made.
pub type FutureResponse = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Answers of the program to requests that are refused before its endpoint is called, so that all errors have the same headers
/// and body.
#[derive(Clone, Copy, Debug)]
pub struct Refusals {
    /// Returns the response to a request.
    pub to_request: fn(Request, Refusal) -> FutureResponse,
    /// Returns the headers and the body of the response, with this status, to a client whose request head cannot be read.
    pub to_head: fn(StatusCode, Refusal, IpAddr) -> (HeaderMap, Vec<u8>),
}
