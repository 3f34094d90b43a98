//! All integration tests in one binary: real SQLite, real search index, fixed clock. They use the public
//! interface where possible.

mod administration;
mod anonymity;
mod buyer_api;
pub mod catalog;
mod cli;
mod console;
mod contract;
mod delivery;
mod events;
mod fixtures;
mod gym;
mod harness;
mod listing_lifecycle;
mod market_operations;
mod mcp;
mod money;
mod monitoring;
mod operator_api;
mod opportunities;
mod permissions;
mod sales;
mod story;
mod team_settings;
mod tour;
mod untrusted_files;
pub mod vendor_api;
mod webhooks;
mod worlds;
