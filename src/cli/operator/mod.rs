//! Commands that use the operator API, on the data directory or on a running server.

pub mod client;
pub mod names;
pub mod part_uploads;
mod records;
mod server;

pub use client::{ApiCommand, Client, OperatorCommand, OperatorOptions, body_of, parse_value};
pub use records::{ListLimit, Records};
