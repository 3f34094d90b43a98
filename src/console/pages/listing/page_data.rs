//! The data that the page of a listing shows.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    console::{
        parts::listing_view::{self, ListingView, StatedFile},
        prelude::*,
    },
    domain::listings::ListingRowId,
    operations::{
        access::ListingViewer,
        browse,
        listing_deals::{self, ListingDeals},
        listing_quality::{self, Certificate, Evidence},
        related_listings::{self, Likeness},
        taxonomy,
    },
    store::quality_runs::RunSummary,
};

/// Maximum number of related listings.
const MAX_RELATED: usize = 3;

/// The data of the page.
pub struct ListingPageData {
    pub listing: ListingView,
    /// The files of the team's bundle, or those that the listing states.
    pub files: Vec<(String, StatedFile)>,
    /// The assets of which the market has no data.
    pub without_data: BTreeSet<Uuid>,
    pub evidence: Evidence,
    pub publications: Vec<Timestamp>,
    /// Labels of domains, by slug.
    pub domain_labels: BTreeMap<String, String>,
    /// Labels of inventory tags, by slug.
    pub tag_labels: BTreeMap<String, String>,
    pub related: Vec<ListingView>,
    pub certificates: BTreeMap<ListingRowId, Certificate>,
    /// What a buyer can do; `None` for teams that cannot buy, and for the vendor.
    pub deals: Option<ListingDeals>,
    pub is_own: bool,
    /// Whether the team may compare listings. While the catalog is locked for a vendor, it sees its own only.
    pub may_compare: bool,
}

impl ListingPageData {
    /// Reads the data for the listing with this ID. Searches twice at most.
    pub fn read(
        reader: &Reader,
        viewer: &ListingViewer,
        buyer: Option<&Buyer>,
        id: Uuid,
    ) -> Result<ListingPageData> {
        let (rendering, bundle) = browse::get_detail(reader, viewer, id)?;
        let listing = ListingView::full(&rendering)?;
        let manifest = bundle.and_then(|bundle| bundle.manifest);
        let files = match manifest {
            Some(entries) => entries
                .into_iter()
                .map(|entry| (entry.path, StatedFile { size_bytes: entry.size_bytes, sha256: entry.sha256 }))
                .collect(),
            None => listing_view::stated_files(&rendering)?.into_iter().collect(),
        };
        let likeness = likeness(&listing);
        let member = viewer.for_listing(id)?.member();
        let domain_labels = taxonomy::domain_labels(reader, member, &likeness.domains)?;
        let tag_labels = taxonomy::inventory_tag_labels(reader, member, &likeness.tags)?;
        let related = related_listings::find(reader, viewer, (listing.row_id, &likeness), MAX_RELATED)?;
        let related = related.iter().map(ListingView::full).collect::<Result<Vec<_>>>()?;
        let rows: Vec<ListingRowId> =
            related.iter().map(|related| related.row_id).chain([listing.row_id]).collect();
        let is_own = listing.vendor == member.team_row_id();
        let deals = match buyer {
            Some(buyer) if !is_own => Some(listing_deals::find(reader, buyer, id)?),
            _ => None,
        };
        let assets: Vec<Uuid> = listing.summary.assets.iter().map(|asset| asset.id).collect();
        Ok(ListingPageData {
            without_data: browse::without_data(reader, viewer, id, &assets)?,
            evidence: listing_quality::get_evidence(reader, viewer, id)?,
            certificates: listing_quality::certificates(reader, &rows)?,
            publications: browse::publications(reader, viewer, id)?,
            listing,
            files,
            domain_labels,
            tag_labels,
            related,
            deals,
            is_own,
            may_compare: viewer.for_any_listing().is_some(),
        })
    }

    /// Returns the run behind the evidence.
    pub fn run(&self) -> Option<&RunSummary> {
        self.certificates.get(&self.listing.row_id)?.latest_run.as_ref()
    }
}

fn likeness(listing: &ListingView) -> Likeness {
    let summary = &listing.summary;
    let tags = listing.details.as_ref().map(|details| details.tag_slugs.clone());
    Likeness {
        kinds: summary.scale.asset_counts.keys().copied().collect(),
        tags: tags.unwrap_or_default(),
        domains: summary.domain_tags.clone(),
    }
}
