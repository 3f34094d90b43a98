//! The search index of the marketplace: listing documents in, listing numbers and facets out.
//!
//! Knows no HTTP, no SQL and nothing of the crate that uses it.
pub mod document;
