//! Every integration test, in one binary: real SQLite, real index, fixed clock, through the public face where that is
//! possible.

mod buyer;
pub mod catalog;
mod cli;
mod contract;
mod fixtures;
mod harness;
mod mcp;
mod readme;
mod vendor;
