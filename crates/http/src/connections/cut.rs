//! Connections that are closed on purpose instead of completing a response, which worlds do on demand.

use std::fmt;

/// Where the connection of a response is closed. It is part of the data of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Before any of it is sent.
    BeforeHead,
    /// In the middle of its head.
    InHead,
}

/// The error with which the HTTP library closes a connection without a response.
#[derive(Clone, Copy, Debug)]
pub struct NoResponse;

impl fmt::Display for NoResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is closed without a response")
    }
}

impl std::error::Error for NoResponse {}
