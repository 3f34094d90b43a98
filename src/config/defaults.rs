//! The compiled-in settings file.

/// The first layer, which defines every key.
pub const DEFAULTS: &str = include_str!("../../marketplace.toml");
