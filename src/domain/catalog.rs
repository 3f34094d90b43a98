//! A listing with everything about it that the catalog shows or searches: what is rendered and what is indexed.

use uuid::Uuid;

use super::{
    assets::Kind,
    listings::{DeliveryMethod, ListingNumber, Status},
    money::Cents,
    scale::{Part, Scale},
    teams::TeamNumber,
    time::Timestamp,
};

/// The vendor of a listing, as the catalog shows it.
#[derive(Clone, Debug)]
pub struct Vendor {
    /// The team's row number.
    pub number: TeamNumber,
    /// The organization's name.
    pub name: String,
    /// Its seller tier.
    pub tier: u8,
}

/// A taskset behind an asset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TasksetRef {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Its live tasks.
    pub task_count: u64,
}

/// An asset on a listing.
#[derive(Clone, Debug)]
pub struct EntryAsset {
    /// Its id.
    pub id: Uuid,
    /// Its kind.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// Slugs of its business fields.
    pub domain_tags: Vec<String>,
    /// What it adds to the scale.
    pub part: Part,
    /// Tasksets that it stands for: one of a taskset, several of a bundle.
    pub tasksets: Vec<TasksetRef>,
    /// Extensions of the files of raw data.
    pub file_extensions: Vec<String>,
    /// Capabilities of an environment.
    pub capabilities: Vec<String>,
    /// Formats of a robotics dataset, as words.
    pub robotics_formats: Vec<String>,
}

/// A file of a delivery bundle.
#[derive(Clone, Debug)]
pub struct BundleFile {
    /// Its path in the bundle.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256 digest in hexadecimal.
    pub sha256: String,
}

/// A listing with all of it.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// Its row number.
    pub number: ListingNumber,
    /// Its id.
    pub id: Uuid,
    /// Its vendor.
    pub vendor: Vendor,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
    /// Slugs of its business fields.
    pub domain_tags: Vec<String>,
    /// Slugs of its inventory tags.
    pub tag_slugs: Vec<String>,
    /// Its buy-now price.
    pub price: Option<Cents>,
    /// The price of its sample, where one is offered.
    pub sample_price: Option<Cents>,
    /// Whether buyers may bid.
    pub accepts_bids: bool,
    /// Licence and conditions in words.
    pub terms: String,
    /// How the data reaches the buyer, and in how many days.
    pub delivery: Option<(DeliveryMethod, u32)>,
    /// When it can be handed over.
    pub available_from: Option<Timestamp>,
    /// Its place among the featured listings.
    pub featured: Option<u32>,
    /// Where it stands.
    pub status: Status,
    /// Since when it is certified.
    pub certified_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its words, prices, assets or statuses last changed.
    pub updated_at: Timestamp,
    /// When it was last published.
    pub published_at: Option<Timestamp>,
    /// When it was put away.
    pub archived_at: Option<Timestamp>,
    /// Its assets, in order.
    pub assets: Vec<EntryAsset>,
    /// Submitted bids on it.
    pub active_bids: u64,
    /// The files of its bundle, by path.
    pub bundle_files: Vec<BundleFile>,
}

impl CatalogEntry {
    /// How much data it holds.
    pub fn scale(&self) -> Scale {
        let mut scale = Scale::default();
        for asset in &self.assets {
            scale.add(asset.kind, &asset.part);
        }
        scale
    }

    /// The kinds of its assets, each once, in the order of [`Kind`].
    pub fn asset_types(&self) -> Vec<Kind> {
        let kinds: std::collections::BTreeSet<Kind> = self.assets.iter().map(|asset| asset.kind).collect();
        kinds.into_iter().collect()
    }

    /// The values of one list of its assets, each once, sorted.
    pub fn distinct<'a>(&'a self, of: impl Fn(&'a EntryAsset) -> &'a [String]) -> Vec<String> {
        let values: std::collections::BTreeSet<&String> = self.assets.iter().flat_map(of).collect();
        values.into_iter().cloned().collect()
    }
}
