//! Pure rules and plain data: what the marketplace is about, with no database, no transport and no clock of its own.

pub mod assets;
pub mod deals;
pub mod estimations;
pub mod ledger;
pub mod listings;
pub mod notifications;
pub mod opportunities;
pub mod quality;
pub mod tasks;
pub mod teams;
pub mod vocabulary;
