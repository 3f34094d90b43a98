//! What the index knows of a listing: the only thing that it accepts.
//!
//! A document is built by the caller from the truth (the database) and replaces the listing's earlier document whole.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

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
#[allow(clippy::struct_excessive_bools)] // Independent facts, not states of one thing.
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

impl ListingDocument {
    /// A digest of everything that the index holds of the listing: equal for documents that no search tells apart, and
    /// the same in every run. The order and repetition of labels do not matter.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest(Sha256::new());
        // The patterns name every field, so that a new one cannot be forgotten here.
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
        for number in [*listing, *team, *stage as u64] {
            digest.number(number);
        }
        let Text { title, description, tag_labels, team_name } = text;
        for text in [title, description, team_name] {
            digest.text(text);
        }
        digest.set(tag_labels);
        let Labels {
            tags,
            tag_slugs,
            asset_types,
            languages,
            file_extensions,
            robotics_formats,
            capabilities,
        } = labels;
        for values in
            [tags, tag_slugs, asset_types, languages, file_extensions, robotics_formats, capabilities]
        {
            digest.set(values);
        }
        digest.measures(measures);
        let Flags { certified, active_bids, sample_available, rare_languages } = flags;
        for flag in [certified, active_bids, sample_available, rare_languages] {
            digest.number(u64::from(*flag));
        }
        digest.option(featured.map(u64::from));
        digest.option(published_at.map(i64::cast_unsigned));
        digest.number(created_at.cast_unsigned());
        let bytes: [u8; 32] = digest.0.finalize().into();
        bytes.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }
}

/// Feeds a hash so that no two different documents feed it the same bytes.
struct Digest(Sha256);

impl Digest {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn option(&mut self, number: Option<u64>) {
        self.number(u64::from(number.is_some()));
        self.number(number.unwrap_or(0));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    fn set(&mut self, values: &[String]) {
        let values: BTreeSet<&String> = values.iter().collect();
        self.number(values.len() as u64);
        for value in values {
            self.text(value);
        }
    }

    fn measures(&mut self, measures: &Measures) {
        let Measures {
            price,
            sample_price,
            price_per_task,
            vendor_tier,
            tasks,
            loc,
            zip_files,
            zip_bytes,
            codebases,
            tasksets,
            environments,
            robotics_datasets,
            raw_data,
            assets,
        } = measures;
        for number in [price, sample_price, price_per_task] {
            self.option(*number);
        }
        for number in [
            vendor_tier,
            tasks,
            loc,
            zip_files,
            zip_bytes,
            codebases,
            tasksets,
            environments,
            robotics_datasets,
            raw_data,
            assets,
        ] {
            self.number(*number);
        }
    }
}
