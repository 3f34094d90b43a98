//! Commands that use the operator API, on the data directory or on a running server.

pub mod client;
mod file_parts;
pub mod names;
pub mod part_uploads;
mod records;
mod server;

pub use client::{ApiCommand, Client, OperatorCommand, OperatorOptions, body_of, parse_id, parse_value};
pub use file_parts::SourceFile;
pub use records::{ListLimit, MAX_SUGGESTED, Records, suggestion};
