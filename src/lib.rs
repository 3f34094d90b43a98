//! A data marketplace in one binary. See ARCHITECTURE.md for the map and its arrows.

pub mod domain;
pub mod error;
