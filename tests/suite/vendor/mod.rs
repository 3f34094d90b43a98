//! The vendor API: the interface's rules, each by a test that names it.

mod bad_input;
mod codebases;
mod collections;
mod concurrency;
mod groups;
mod idempotency;
mod isolation;
mod listed;
mod listings;
mod raw_data;
mod stock;
mod tasks;
