//! Commands that use the operator API, on the data directory or on a running server.

pub mod client;
pub mod names;
mod server;

pub use client::{Client, OperatorCommand, OperatorOptions, body_of, parse_value};
