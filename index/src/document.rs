//! The document that the index accepts for a listing.
//!
//! The caller builds documents from the source of truth (the database). A document replaces the listing's
//! earlier one as a whole.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::facet::Facet;
use crate::measure::PerMeasure;

/// Row ID of a listing in the database. It identifies the listing in the index, and is the last tie-breaker
/// of every sort order (larger IDs were inserted later).
pub type ListingRowId = u64;

/// Row ID of a team in the database.
pub type TeamRowId = u64;

/// Lifecycle stage of a listing, as vendors see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// In preparation, or sent back for changes.
    Draft,
    /// Waiting for review.
    Review,
    /// Approved but not yet published.
    Ready,
    /// Published and visible on the market.
    Active,
    /// Archived by the vendor.
    Archived,
}

impl Stage {
    /// All stages, in lifecycle order.
    pub const ALL: [Stage; 5] = [Stage::Draft, Stage::Review, Stage::Ready, Stage::Active, Stage::Archived];

    /// Returns the name of the stage in facets.
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

/// The text of a listing that text queries search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Title of the listing.
    pub title: String,
    /// Description of the listing.
    pub description: String,
    /// Display labels of the listing's domain tags and inventory tags.
    pub tag_labels: Vec<String>,
    /// Name of the vendor team.
    pub team_name: String,
}

/// Labels of a listing. Each kind can be filtered and is counted as a facet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Domain tag slugs (`tags` in filters and facets).
    pub tags: Vec<String>,
    /// Inventory tag slugs.
    pub tag_slugs: Vec<String>,
    /// Kinds of the attached assets, without duplicates.
    pub asset_types: Vec<String>,
    /// Language slugs of the attached codebases.
    pub languages: Vec<String>,
    /// File extensions in the attached raw data, lowercase and without the dot.
    pub file_extensions: Vec<String>,
    /// Declared formats of the attached robotics datasets.
    pub robotics_formats: Vec<String>,
    /// Capabilities of the attached environments.
    pub capabilities: Vec<String>,
}

impl Labels {
    /// Returns the lists with their facets. Digests and cursors follow this order.
    pub const fn lists(&self) -> [(Facet, &Vec<String>); 7] {
        // The pattern names every list, so that the compiler rejects a new one that is forgotten here.
        let Labels {
            tags,
            tag_slugs,
            asset_types,
            languages,
            file_extensions,
            robotics_formats,
            capabilities,
        } = self;
        [
            (Facet::Tags, tags),
            (Facet::TagSlugs, tag_slugs),
            (Facet::AssetTypes, asset_types),
            (Facet::Languages, languages),
            (Facet::FileExtensions, file_extensions),
            (Facet::RoboticsFormats, robotics_formats),
            (Facet::Capabilities, capabilities),
        ]
    }
}

/// Boolean properties of a listing, which filters can require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Independent properties, not states of one thing.
pub struct Flags {
    /// Whether the latest quality run certified the listing.
    pub certified: bool,
    /// Whether the listing has at least one submitted bid.
    pub active_bids: bool,
    /// Whether a sample is offered.
    pub sample_available: bool,
    /// Whether the codebases have a language breakdown in which common languages are a small part.
    pub rare_languages: bool,
}

/// Everything that the index stores about one listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingDocument {
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// Row ID of the vendor team.
    pub team: TeamRowId,
    /// Lifecycle stage.
    pub stage: Stage,
    /// Text for text queries.
    pub text: Text,
    /// Labels for filters and facets.
    pub labels: Labels,
    /// Numeric values for bounds. A missing value equals 0, unless the measure is
    /// [optional](crate::Measure::is_optional).
    pub measures: PerMeasure<Option<u64>>,
    /// Properties for boolean filters.
    pub flags: Flags,
    /// Rank among the featured listings, from 1; absent if the listing is not featured.
    pub featured: Option<u32>,
    /// Time of publication, in microseconds since 1970 (UTC); present for active listings.
    pub published_at: Option<i64>,
    /// Time of creation, in microseconds since 1970 (UTC).
    pub created_at: i64,
}

impl ListingDocument {
    /// Returns a digest of everything that the index stores about the listing. It is equal for documents that
    /// no search can distinguish, and stable across runs. The order of labels and duplicates do not matter.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest(Sha256::new());
        // The patterns name every field, so that the compiler rejects a new one that is forgotten here.
        let ListingDocument {
            listing,
            team,
            stage,
            text,
            labels,
            measures,
            flags,
            featured,
            published_at,
            created_at,
        } = self;
        for value in [*listing, *team, *stage as u64] {
            digest.add_u64(value);
        }
        let Text { title, description, tag_labels, team_name } = text;
        for text in [title, description, team_name] {
            digest.add_text(text);
        }
        digest.add_set(tag_labels);
        for (_, values) in labels.lists() {
            digest.add_set(values);
        }
        digest.add_measures(measures);
        let Flags { certified, active_bids, sample_available, rare_languages } = flags;
        for flag in [certified, active_bids, sample_available, rare_languages] {
            digest.add_u64(u64::from(*flag));
        }
        digest.add_option(featured.map(u64::from));
        digest.add_option(published_at.map(i64::cast_unsigned));
        digest.add_u64(created_at.cast_unsigned());
        let bytes: [u8; 32] = digest.0.finalize().into();
        bytes.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }
}

/// Feeds a hash. Different documents always feed different bytes.
struct Digest(Sha256);

impl Digest {
    fn add_u64(&mut self, value: u64) {
        self.0.update(value.to_be_bytes());
    }

    fn add_option(&mut self, value: Option<u64>) {
        self.add_u64(u64::from(value.is_some()));
        self.add_u64(value.unwrap_or(0));
    }

    fn add_text(&mut self, text: &str) {
        self.add_u64(text.len() as u64);
        self.0.update(text);
    }

    fn add_set(&mut self, values: &[String]) {
        let values: BTreeSet<&String> = values.iter().collect();
        self.add_u64(values.len() as u64);
        for value in values {
            self.add_text(value);
        }
    }

    fn add_measures(&mut self, measures: &PerMeasure<Option<u64>>) {
        for (measure, value) in measures.iter() {
            if measure.is_optional() {
                self.add_option(*value);
            } else {
                self.add_u64(value.unwrap_or(0));
            }
        }
    }
}
