//! The catalog's words: domains, tags, asset kinds and languages.

use super::{assets::Kind, time::Timestamp};

/// A slug with its name for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// As filters use it.
    pub slug: String,
    /// As people read it.
    pub label: String,
}

/// A finer label of listings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryTag {
    /// As filters use it.
    pub slug: String,
    /// As people read it.
    pub label: String,
    /// What it says of a listing.
    pub description: String,
    /// What it stands under.
    pub category: String,
}

/// A programming language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language {
    /// As filters use it.
    pub slug: String,
    /// As people write it.
    pub name: String,
    /// Other names that people use.
    pub aliases: Vec<String>,
}

/// The announced retirement of an asset kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// When it was announced.
    pub deprecated_at: Timestamp,
    /// When the kind is retired.
    pub retires_at: Timestamp,
    /// Whether listings may still take on assets of the kind.
    pub accepts_new_listings: bool,
    /// What to do instead.
    pub message: String,
}

impl Deprecation {
    /// Whether the kind is retired at `now`.
    pub fn is_retired(&self, now: Timestamp) -> bool {
        self.retires_at <= now
    }
}

/// An asset kind as the market offers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetType {
    /// The kind.
    pub kind: Kind,
    /// As people read it.
    pub label: String,
    /// Whether vendors can choose it.
    pub is_enabled: bool,
    /// What listings of the kind were called.
    pub listing_kinds: Vec<String>,
    /// Its retirement, if one is announced.
    pub deprecation: Option<Deprecation>,
}
