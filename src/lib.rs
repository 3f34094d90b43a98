//! A data marketplace in one binary. See ARCHITECTURE.md for the modules and their dependencies.

pub mod artifacts;
pub mod blobs;
pub mod cli;
pub mod clock;
pub mod config;
pub mod domain;
pub mod error;
pub mod fixtures;
pub mod gym;
pub mod http_client;
pub mod idle_closer;
mod json_scalars;
pub mod market;
pub mod mcp;
pub mod operations;
pub mod private_files;
pub mod regular_files;
pub mod rest;
pub mod search;
pub mod splitmix64;
pub mod store;
pub mod string_enum;
pub mod text_encoding;
pub mod worlds;
