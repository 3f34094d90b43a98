//! The taxonomy of the catalog: domains, tags, asset kinds, and languages.

use super::{assets::Kind, time::Timestamp};

/// A slug with its display name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Identifier, as used in filters.
    pub slug: String,
    /// Display name.
    pub label: String,
}

/// A tag that describes listings in more detail than a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryTag {
    /// Identifier, as used in filters.
    pub slug: String,
    /// Display name.
    pub label: String,
    /// What the tag says about a listing.
    pub description: String,
    /// Category of the tag.
    pub category: String,
}

/// A programming language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language {
    /// Identifier, as used in filters.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Alternative names of the language.
    pub aliases: Vec<String>,
}

/// The deprecation of an asset kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// Time at which the deprecation was announced.
    pub deprecated_at: Timestamp,
    /// Time at which the kind is retired.
    pub retires_at: Timestamp,
    /// Whether assets of this kind can still be added to listings.
    pub accepts_new_listings: bool,
    /// Explanation for vendors, including what to use instead.
    pub message: String,
}

impl Deprecation {
    /// Whether the kind is retired at `now`.
    pub fn is_retired(&self, now: Timestamp) -> bool {
        self.retires_at <= now
    }
}

/// An asset kind as configured in the marketplace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetType {
    /// The asset kind.
    pub kind: Kind,
    /// Display name.
    pub label: String,
    /// Whether vendors can create assets of this kind.
    pub is_enabled: bool,
    /// Former names of listings with assets of this kind.
    pub listing_kinds: Vec<String>,
    /// The deprecation, if one was announced.
    pub deprecation: Option<Deprecation>,
}
