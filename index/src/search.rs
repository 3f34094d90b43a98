//! What a search asks for and what it answers.

use std::sync::Arc;

use crate::document::{ListingNumber, Stage, TeamNumber};
use crate::facets::Facets;
use crate::order::{Position, Sort};

/// Which documents a search is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// What the market sees: active listings, dated by their publication.
    Market,
    /// Every listing of a team, whatever its stage, dated by its creation.
    Team(TeamNumber),
}

/// Bounds of a number, both inclusive. A missing number lies in no bounds, and no number lies in bounds whose least is
/// above their most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The least value that matches; absent for any.
    pub min: Option<u64>,
    /// The largest value that matches; absent for any.
    pub max: Option<u64>,
}

/// What documents must have besides matching the text. Each part narrows; the default narrows nothing.
///
/// Of a list of values a document must have at least one; an empty list does not filter. A value that no document has
/// matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Independent conditions, not states of one thing.
pub struct Filters {
    /// Domain tag slugs.
    pub tags: Vec<String>,
    /// Inventory tag slugs.
    pub tag_slugs: Vec<String>,
    /// Kinds of attached assets.
    pub asset_types: Vec<String>,
    /// Languages of codebases.
    pub languages: Vec<String>,
    /// Extensions of files in raw data.
    pub file_extensions: Vec<String>,
    /// Formats of robotics datasets.
    pub robotics_formats: Vec<String>,
    /// Capabilities of environments.
    pub capabilities: Vec<String>,
    /// Stages of life.
    pub stages: Vec<Stage>,
    /// Only listings of this team.
    pub team: Option<TeamNumber>,
    /// Only certified listings.
    pub certified: bool,
    /// Only listings with a submitted bid.
    pub active_bids: bool,
    /// Only listings of rare languages.
    pub rare_languages: bool,
    /// Only listings without any asset.
    pub no_assets: bool,
    /// Only listings with a sample, or only those without.
    pub sample_available: Option<bool>,
    /// Only teams of these tiers; an empty list matches nothing.
    pub vendor_tiers: Option<Vec<u64>>,
    /// Buy-now price.
    pub price: Bounds,
    /// Price of the sample.
    pub sample_price: Bounds,
    /// Price divided by the tasks.
    pub price_per_task: Bounds,
    /// Tier of the vendor team.
    pub vendor_tier: Bounds,
    /// Tasks.
    pub tasks: Bounds,
    /// Lines of code.
    pub loc: Bounds,
    /// Files in zips.
    pub zip_files: Bounds,
    /// Bytes of zips.
    pub zip_bytes: Bounds,
    /// Codebases.
    pub codebases: Bounds,
    /// Tasksets and bundles.
    pub tasksets: Bounds,
    /// Environments.
    pub environments: Bounds,
    /// Robotics datasets.
    pub robotics_datasets: Bounds,
    /// Raw data zips.
    pub raw_data: Bounds,
}

impl Filters {
    /// Whether nothing is filtered.
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }
}

/// Where a page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// At the first listing.
    #[default]
    First,
    /// Right behind a position, which an earlier answer to the same search gave.
    After(Position),
    /// Behind so many listings.
    Offset(u64),
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    /// The documents that it is about.
    pub scope: Scope,
    /// Words and phrases to find, as a person typed them; blank for no text.
    pub text: String,
    /// What the documents must have.
    pub filters: Filters,
    /// The order of the answer.
    pub sort: Sort,
    /// Where the page begins.
    pub start: Start,
    /// How many listings a page holds at most.
    pub limit: usize,
    /// The team whose listings `Totals::owned` counts.
    pub viewer: Option<TeamNumber>,
    /// Whether the answer has totals.
    pub totals: bool,
}

/// A page of listings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The listings in order.
    pub listings: Vec<ListingNumber>,
    /// Where the next page begins; absent when nothing follows.
    pub next: Option<Position>,
    /// Present when the search asked for them.
    pub totals: Option<Totals>,
}

/// What a first page says of all pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Documents that match text and filters.
    pub all: u64,
    /// Those of the viewer among them.
    pub owned: u64,
    /// Labels of every document in scope, or of those that match the text, whatever the filters.
    pub facets: Arc<Facets>,
}
