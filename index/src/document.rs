//! What the index knows of a listing: the only thing that it accepts.
//!
//! A document is built by the caller from the truth (the database) and replaces the listing's earlier document whole.

/// The row number of a listing in the database: its identity here, and the last tie-breaker of every order (a larger
/// number was inserted later).
pub type ListingNumber = u64;

/// The row number of a team in the database.
pub type TeamNumber = u64;

/// Where a listing stands in its life, as vendors see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Being written, or sent back for changes.
    Draft,
    /// Waiting for a review.
    Review,
    /// Approved and not yet published.
    Ready,
    /// Published: what the market sees.
    Active,
    /// Put away.
    Archived,
}

impl Stage {
    /// Every stage, in the order of a listing's life.
    pub const ALL: [Stage; 5] = [Stage::Draft, Stage::Review, Stage::Ready, Stage::Active, Stage::Archived];

    /// The stage's name in facets.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Draft => "draft",
            Stage::Review => "review",
            Stage::Ready => "ready",
            Stage::Active => "active",
            Stage::Archived => "archived",
        }
    }
}

/// The words of a listing that a text query searches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The listing's title.
    pub title: String,
    /// The listing's description.
    pub description: String,
    /// Labels of the listing's domain tags and inventory tags.
    pub tag_labels: Vec<String>,
    /// The name of the vendor team.
    pub team_name: String,
}

/// The many-valued labels of a listing: each is a filter and a facet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Domain tag slugs (`tags` in filters and facets).
    pub tags: Vec<String>,
    /// Inventory tag slugs.
    pub tag_slugs: Vec<String>,
    /// Kinds of the attached assets, each once.
    pub asset_types: Vec<String>,
    /// Language slugs of the attached codebases.
    pub languages: Vec<String>,
    /// Extensions of files in the attached raw data, lowercase and without the dot.
    pub file_extensions: Vec<String>,
    /// Declared formats of the attached robotics datasets.
    pub robotics_formats: Vec<String>,
    /// Capabilities of the attached environments.
    pub capabilities: Vec<String>,
}

/// The numbers of a listing that filters bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Buy-now price in cents.
    pub price: Option<u64>,
    /// Price of the sample in cents; present only where a sample is offered.
    pub sample_price: Option<u64>,
    /// Buy-now price divided by the task count, in cents rounded half up; absent without tasks or price.
    pub price_per_task: Option<u64>,
    /// Tier of the vendor team, 1 to 3.
    pub vendor_tier: u64,
    /// Tasks in tasksets and bundles.
    pub tasks: u64,
    /// Lines of code.
    pub loc: u64,
    /// Files in the attached zips.
    pub zip_files: u64,
    /// Bytes of the attached zips.
    pub zip_bytes: u64,
    /// Attached codebases.
    pub codebases: u64,
    /// Attached tasksets and bundles.
    pub tasksets: u64,
    /// Attached environments.
    pub environments: u64,
    /// Attached robotics datasets.
    pub robotics_datasets: u64,
    /// Attached raw data zips.
    pub raw_data: u64,
    /// Attached assets of any kind.
    pub assets: u64,
}

/// The yes-or-no facts of a listing that filters ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Its latest quality run certified it.
    pub certified: bool,
    /// At least one submitted bid.
    pub active_bids: bool,
    /// A sample is offered.
    pub sample_available: bool,
    /// Its codebases have a language breakdown, and common languages are a small part of it.
    pub rare_languages: bool,
}

/// Everything that the index holds of one listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingDocument {
    /// The listing's row number.
    pub listing: ListingNumber,
    /// The vendor team's row number.
    pub team: TeamNumber,
    /// Where the listing stands.
    pub stage: Stage,
    /// What text queries search.
    pub text: Text,
    /// What label filters and facets see.
    pub labels: Labels,
    /// What bounds see.
    pub measures: Measures,
    /// What yes-or-no filters see.
    pub flags: Flags,
    /// The listing's place among the featured ones, from 1; absent when it is not featured.
    pub featured: Option<u32>,
    /// When it was published, in microseconds since 1970; present on active listings.
    pub published_at: Option<i64>,
    /// When it was created, in microseconds since 1970.
    pub created_at: i64,
}
