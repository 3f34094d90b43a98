//! Tests of the vendor API. Each rule of the interface has a test that names it.

mod archives;
mod bad_input;
mod changed_assets;
mod codebases;
mod collections;
mod concurrency;
mod estimations;
mod groups;
mod idempotency;
mod isolation;
mod joined_uploads;
mod link_hosts;
mod listing_assets;
mod listing_quality;
mod listings;
mod opportunities;
mod quality_runs;
mod raw_data;
mod repositories;
mod sales;
pub mod seller_market;
mod storage;
mod task_checks;
mod tasks;
mod unreadable_data;
mod upload_interleavings;
mod uploads;
