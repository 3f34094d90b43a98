//! Attaching any number of assets of the inventory to a listing, with the reasons for those that are skipped.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{access::Vendor, assets::AssetFilter, listing_assets, listing_changes, listings};
use crate::{
    domain::{
        listing_lifecycle::Operation,
        listings::{Actor, AttachSkip},
        row_ids::AssetRowId,
        stages::RequiredField,
    },
    error::{MAX_NAMED, Result},
    market::{Reader, Writer},
    store::{self, listing_assets::Candidates},
    string_enum::StringEnum,
};

/// Assets of the inventory to attach to a listing.
#[derive(Clone, Debug)]
pub enum Chosen {
    /// The assets with these IDs.
    Ids(Vec<Uuid>),
    /// All that match a filter.
    Matching(AssetFilter),
}

/// How many assets were attached, and why others were not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachOutcome {
    /// Number of assets that were attached.
    pub attached: u64,
    /// The assets that were skipped, by reason, in the order of the reasons.
    pub skipped: Vec<SkippedAssets>,
}

/// Assets that were not attached for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedAssets {
    /// The reason.
    pub reason: AttachSkip,
    /// Number of assets.
    pub count: u64,
    /// The first of them, with what they lack.
    pub first: Vec<SkippedAsset>,
}

/// An asset that was not attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedAsset {
    /// ID of the asset.
    pub id: Uuid,
    /// Title of the asset.
    pub title: String,
    /// Names of the required fields that it lacks.
    pub missing: Vec<RequiredField>,
}

/// Attaches all of the chosen assets that can be listed, of any kind, and says which ones were skipped. The work happens inside
/// the database, so any number of assets can be attached.
pub fn attach(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    id: Uuid,
    chosen: Chosen,
) -> Result<AttachOutcome> {
    let listing = listings::find_own(writer.rows, vendor, id)?;
    let change = listing_changes::check(&listing, Operation::Attach)?;
    let (rows, team) = (writer.rows, vendor.team_row_id());
    let deprecations = store::taxonomy::deprecations(rows)?;
    let candidates = Candidates::new(rows)?;
    let mut skipped = Vec::new();
    match chosen {
        Chosen::Ids(ids) => {
            let ids: BTreeSet<Uuid> = ids.into_iter().collect();
            let absent = ids.len() as u64 - candidates.add_ids(team, &ids)?;
            if absent > 0 {
                skipped.push(SkippedAssets {
                    reason: AttachSkip::NotFound,
                    count: absent,
                    first: Vec::new(),
                });
            }
        }
        Chosen::Matching(mut filter) => {
            filter.resolve_kinds(&deprecations);
            candidates.add_matches(&filter.query, &[])?;
        }
    }
    let target = listing_assets::target(&listing, &deprecations, false);
    skipped.extend(by_reason(rows, &candidates.list_refused(&target)?)?);
    let counts = listing_assets::attach_candidates(writer, actor, (&listing, change), &candidates, &target)?;
    Ok(AttachOutcome { attached: counts.attached, skipped })
}

/// Returns the result that [`attach`] would have for all assets that match a filter.
pub fn preview(reader: &Reader, vendor: &Vendor, id: Uuid, mut filter: AssetFilter) -> Result<AttachOutcome> {
    let rows = reader.rows;
    let listing = listings::find_own(rows, vendor, id)?;
    listing_changes::check(&listing, Operation::Attach)?;
    let deprecations = store::taxonomy::deprecations(rows)?;
    filter.resolve_kinds(&deprecations);
    let target = listing_assets::target(&listing, &deprecations, false);
    let (attached, refused) = store::listing_assets::preview(rows, &filter.query, &target)?;
    Ok(AttachOutcome { attached, skipped: by_reason(rows, &refused)? })
}

/// Returns the assets that were refused, by reason.
fn by_reason(rows: &store::Reader, refused: &[(AttachSkip, AssetRowId)]) -> Result<Vec<SkippedAssets>> {
    let mut skipped = Vec::new();
    for reason in AttachSkip::ALL {
        let of_reason = || refused.iter().filter(|(found, _)| found == reason).map(|(_, row_id)| *row_id);
        let mut first = Vec::new();
        for row_id in of_reason().take(MAX_NAMED) {
            let asset = store::assets::find_by_row_id(rows, row_id)?;
            first.extend(asset.map(|asset| SkippedAsset {
                missing: asset.missing_fields(),
                id: asset.id,
                title: asset.title,
            }));
        }
        let count = of_reason().count() as u64;
        if count > 0 {
            skipped.push(SkippedAssets { reason: *reason, count, first });
        }
    }
    Ok(skipped)
}

/// Returns which of these assets are on one of the team's own listings.
pub fn attached_among(
    rows: &store::Reader,
    vendor: &Vendor,
    id: Uuid,
    assets: &[AssetRowId],
) -> Result<BTreeSet<AssetRowId>> {
    let listing = listings::find_own(rows, vendor, id)?;
    store::listing_assets::attached_among(rows, listing.row_id, assets)
}
