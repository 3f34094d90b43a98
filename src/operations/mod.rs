//! What the marketplace can do: one function a capability, each a proof of access, a rule and a transaction.
//!
//! Read operations take a [`Reader`](crate::market::Reader) and writes a [`Writer`](crate::market::Writer); none of them
//! knows a transport.

pub mod access;
pub mod archives;
pub mod assets;
pub mod background;
pub mod browse;
pub mod bundles;
pub mod certifications;
pub mod checking;
pub mod codebases;
pub mod deals;
pub mod estimations;
pub mod grants;
pub mod groups;
pub mod idempotency;
pub mod jobs;
pub mod keys;
pub mod listings;
pub mod notifications;
pub mod opportunities;
pub mod own_listings;
pub mod qc_refreshes;
pub mod quality;
pub mod quality_runs;
pub mod raw_data;
pub mod repositories;
pub mod structures;
pub mod sweeping;
pub mod tasks;
pub mod tasksets;
pub mod taxonomy;
pub mod teams;
pub mod uploads;
pub mod verify;
pub mod wallet;
