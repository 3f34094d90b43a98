//! The marketplace.
