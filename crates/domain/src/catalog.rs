//! A listing with everything that the catalog renders and the search index contains.

use uuid::Uuid;

use super::{
    assets::Kind,
    listings::{DeliveryMethod, ListingRowId, ListingStatus},
    money::Cents,
    scale::{Scale, ScaleContribution},
    teams::TeamRowId,
    time::Timestamp,
};

/// The vendor of a listing, as shown in the catalog.
#[derive(Clone, Debug)]
pub struct Vendor {
    /// Row ID of the team.
    pub row_id: TeamRowId,
    /// Name of the organization.
    pub name: String,
    /// Seller tier, 1 to 3.
    pub tier: u8,
}

/// A taskset that an asset contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TasksetRef {
    /// ID of the taskset.
    pub id: Uuid,
    /// Name of the taskset.
    pub name: String,
    /// Number of live tasks in the taskset.
    pub task_count: u64,
}

/// An asset on a listing, as shown in the catalog.
#[derive(Clone, Debug)]
pub struct CatalogAsset {
    /// ID of the asset.
    pub id: Uuid,
    /// Kind of the asset.
    pub kind: Kind,
    /// Title of the asset.
    pub title: String,
    /// Slugs of the asset's domain tags.
    pub domain_tags: Vec<String>,
    /// What the asset contributes to the scale of the listing.
    pub contribution: ScaleContribution,
    /// Tasksets of the asset: one for a taskset, several for a bundle, none for other kinds.
    pub tasksets: Vec<TasksetRef>,
    /// File extensions in the archive. Raw data only.
    pub file_extensions: Vec<String>,
    /// Capabilities of the environment. Environments only.
    pub capabilities: Vec<String>,
    /// String forms of the declared formats. Robotics datasets only.
    pub robotics_formats: Vec<String>,
}

/// A file of a delivery bundle.
#[derive(Clone, Debug)]
pub struct BundleFile {
    /// Path of the file in the bundle.
    pub path: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest of the file, in hexadecimal.
    pub sha256: String,
}

/// A listing with its vendor, its assets, and its bundle.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// Row ID of the listing.
    pub row_id: ListingRowId,
    /// ID of the listing (UUID).
    pub id: Uuid,
    /// The team that offers the listing.
    pub vendor: Vendor,
    /// Title of the listing.
    pub title: String,
    /// Description of the listing.
    pub description: String,
    /// Slugs of the listing's domain tags.
    pub domain_tags: Vec<String>,
    /// Slugs of the listing's inventory tags.
    pub tag_slugs: Vec<String>,
    /// Buy-now price; `None` if the listing has none.
    pub price: Option<Cents>,
    /// Price of the sample; `None` if no sample is offered.
    pub sample_price: Option<Cents>,
    /// Whether buyers can bid on the listing.
    pub accepts_bids: bool,
    /// License and conditions as free text.
    pub terms: String,
    /// How the data is delivered, and within how many days.
    pub delivery: Option<(DeliveryMethod, u32)>,
    /// Earliest time of delivery.
    pub available_from: Option<Timestamp>,
    /// Position among the featured listings; `None` if not featured.
    pub featured: Option<u32>,
    /// Review status and catalog status.
    pub status: ListingStatus,
    /// Time of the certification; `None` if not certified.
    pub certified_at: Option<Timestamp>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change to the text, prices, assets, or statuses.
    pub updated_at: Timestamp,
    /// Time of the last publication.
    pub published_at: Option<Timestamp>,
    /// Time of archiving; `None` if not archived.
    pub archived_at: Option<Timestamp>,
    /// Assets on the listing, in display order.
    pub assets: Vec<CatalogAsset>,
    /// Number of submitted bids on the listing.
    pub active_bids: u64,
    /// Files of the delivery bundle, sorted by path.
    pub bundle_files: Vec<BundleFile>,
}

impl CatalogEntry {
    /// Computes the scale of the listing from its assets.
    pub fn scale(&self) -> Scale {
        let mut scale = Scale::default();
        for asset in &self.assets {
            scale.add(asset.kind, &asset.contribution);
        }
        scale
    }

    /// Returns the distinct kinds of the listing's assets, in the order of [`Kind`].
    pub fn asset_types(&self) -> Vec<Kind> {
        let kinds: std::collections::BTreeSet<Kind> = self.assets.iter().map(|asset| asset.kind).collect();
        kinds.into_iter().collect()
    }

    /// Returns the distinct values of a list field of the listing's assets, sorted.
    pub fn distinct_values<'a>(
        &'a self,
        values_of: impl Fn(&'a CatalogAsset) -> &'a [String],
    ) -> Vec<String> {
        let values: std::collections::BTreeSet<&String> = self.assets.iter().flat_map(values_of).collect();
        values.into_iter().cloned().collect()
    }
}
