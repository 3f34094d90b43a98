//! What the marketplace can do: one function a capability, each a proof of access, a rule and a transaction.
//!
//! Read operations take a [`Reader`](crate::market::Reader) and writes a [`Writer`](crate::market::Writer); none of them
//! knows a transport.

pub mod access;
pub mod browse;
pub mod bundles;
pub mod keys;
pub mod listings;
pub mod notifications;
pub mod quality;
pub mod tasksets;
pub mod taxonomy;
pub mod teams;
pub mod verify;
pub mod wallet;
