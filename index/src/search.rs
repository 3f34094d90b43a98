//! Search requests and results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::document::{Labels, ListingRowId, Stage, TeamRowId};
use crate::facets::Facets;
use crate::measure::PerMeasure;
use crate::order::{Position, Sort, SortValues};

/// The documents that a search covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The market: active listings, dated by publication.
    Market,
    /// All listings of a team, at any stage, dated by creation.
    Team(TeamRowId),
}

/// Inclusive bounds of a number. A missing number is never within set bounds, and no number is within bounds
/// whose minimum exceeds their maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Minimum; `None` for no limit.
    pub min: Option<u64>,
    /// Maximum; `None` for no limit.
    pub max: Option<u64>,
}

/// Conditions on documents besides the text. A document has to meet all of them; the default has no
/// conditions.
///
/// A document must have at least one of the values of a list; an empty list does not filter. A value that no
/// document has matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Independent conditions, not states of one thing.
pub struct Filters {
    /// Values of each kind of label.
    pub labels: Labels,
    /// Lifecycle stages.
    pub stages: Vec<Stage>,
    /// Only listings of this team.
    pub team: Option<TeamRowId>,
    /// Only certified listings.
    pub certified: bool,
    /// Only listings with a submitted bid.
    pub active_bids: bool,
    /// Only listings of mainly rare languages.
    pub rare_languages: bool,
    /// Only listings without assets.
    pub no_assets: bool,
    /// Only listings with a sample (`true`) or without one (`false`).
    pub sample_available: Option<bool>,
    /// Only vendor teams of these tiers. An empty list matches nothing.
    pub vendor_tiers: Option<Vec<u64>>,
    /// Bounds of measures.
    pub bounds: PerMeasure<Bounds>,
    /// Only listings of any of these teams. An empty list matches nothing.
    pub teams: Option<Vec<TeamRowId>>,
    /// Only these listings. An empty set matches nothing.
    pub listings: Option<Arc<BTreeSet<ListingRowId>>>,
    /// Inclusive bounds of the time of the latest publication, in microseconds. A listing that is not active is never
    /// within set bounds.
    pub published: (Option<i64>, Option<i64>),
}

impl Filters {
    /// Returns whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }
}

/// The first listing of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The first listing of the results.
    #[default]
    First,
    /// The listing after a position, which an earlier page of the same search returned.
    After(Position),
    /// The listing after this many others.
    Offset(u64),
}

/// A search request.
#[derive(Clone, Debug)]
pub struct Search {
    /// The documents to search.
    pub scope: Scope,
    /// Words and phrases to find, as a user typed them; blank for no text condition.
    pub text: String,
    /// Conditions on the documents.
    pub filters: Filters,
    /// Sort order of the results.
    pub sort: Sort,
    /// Start of the page.
    pub start: Start,
    /// Earlier values of these listings, at [`Position::as_of`], by which a market search orders them instead of by the current
    /// ones. They affect neither filters nor totals.
    pub ordered_as: BTreeMap<ListingRowId, SortValues>,
    /// Maximum number of listings on the page.
    pub limit: usize,
    /// Team whose listings [`Totals::owned`] counts.
    pub viewer: Option<TeamRowId>,
    /// Whether to compute totals.
    pub totals: bool,
}

/// A page of search results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResults {
    /// Row IDs of the listings, in order.
    pub listings: Vec<ListingRowId>,
    /// Position of the next page; `None` on the last page.
    pub next: Option<Position>,
    /// Totals over all pages, if the search requested them.
    pub totals: Option<Totals>,
}

/// Totals over all pages of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Number of documents that match text and filters.
    pub all: u64,
    /// Number of those that belong to the viewer.
    pub owned: u64,
    /// Label counts of all documents that are in scope and match the text, regardless of filters.
    pub facets: Arc<Facets>,
}
