//! A data marketplace in one binary. See ARCHITECTURE.md for the modules and their dependencies.

pub mod blobs;
pub mod cli;
pub mod clock;
pub mod config;
pub mod console;
pub mod error;
pub mod fixtures;
pub mod gym;
pub mod idle_closer;
pub mod market;
pub mod mcp;
pub mod operations;
pub mod replica;
pub mod request_problems;
pub mod rest;
pub mod search;
pub mod splitmix64;
pub mod store;
pub mod web;
pub mod worlds;

// Code that the attribute `routes` writes names this crate, whether it is in it or in a test.
extern crate self as marketplace;

// The crates of the workspace, by the names that the modules of this one use.
pub use marketplace_artifacts as artifacts;
pub use marketplace_domain as domain;
use marketplace_domain::json_values;
pub use marketplace_domain::string_enum;
pub use marketplace_files::{private_files, regular_files};
use marketplace_http as http_server;
pub use marketplace_http_client as http_client;
use marketplace_text::encoding as text_encoding;
