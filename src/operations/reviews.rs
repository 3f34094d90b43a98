//! Rounds of a listing's review: the submitted content, the decision of the platform, and later changes.
//!
//! The operations of the lifecycle open and end rounds. Listings that were submitted before rounds were stored have none.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    access::{Platform, Vendor},
    listings::{find, find_own},
};
use crate::{
    domain::{listing_lifecycle::Operation, listings::ListingRowId, reviews::ReviewDecision},
    error::Result,
    market::{Reader, Writer},
    store::{
        self,
        listings::{ListingFields, ListingRow},
        reviews::{AssetChanges, Review},
    },
};

/// Maximum number of rounds that are listed.
const MAX_ROUNDS: u32 = 100;

/// Maximum number of changed assets that are listed of each kind of change.
const MAX_ASSETS: u32 = 100;

/// Opens a round with what a listing has now.
pub(super) fn open(writer: &Writer, listing: ListingRowId) -> Result<()> {
    let fields = store::listings::find_fields(writer.rows, listing)?;
    let snapshot = store::reviews::snapshot_text(&fields)?;
    let last = store::reviews::last_number(writer.rows, listing)?;
    // A decision on the round before may still come, and is answered with the difference. Nobody needs earlier ones that were
    // withdrawn, and a vendor can submit and withdraw as often as it likes.
    if last > 1 {
        store::reviews::forget_if_withdrawn(writer.rows, listing, last - 1)?;
    }
    let mut digest = Sha256::new_with_prefix(&snapshot);
    let of_fields = HEXLOWER.encode(&digest.clone().finalize());
    let review = store::reviews::insert(writer.rows, listing, (last + 1, &snapshot, &of_fields), writer.now)?;
    let assets = store::reviews::insert_assets(writer.rows, review, listing)?;
    store::reviews::for_each_asset(writer.rows, review, |id, title, content| {
        add_asset(&mut digest, id, title, content);
    })?;
    store::reviews::set_digest(writer.rows, review, assets, &HEXLOWER.encode(&digest.finalize()))
}

/// Returns the digest of the current content of a listing. It equals the digest of its round if nothing has changed since it
/// was submitted.
pub(super) fn present_digest(rows: &store::Reader, listing: ListingRowId) -> Result<String> {
    let fields = store::listings::find_fields(rows, listing)?;
    let mut digest = Sha256::new_with_prefix(store::reviews::snapshot_text(&fields)?);
    store::reviews::for_each_present_asset(rows, listing, |id, title, content| {
        add_asset(&mut digest, id, title, content);
    })?;
    Ok(HEXLOWER.encode(&digest.finalize()))
}

fn add_asset(digest: &mut Sha256, id: Uuid, title: &str, content: Option<&str>) {
    digest.update(format!("\n{id} {title:?} {content:?}"));
}

/// Ends the open round of a listing with the operation that was carried out. Other operations end none.
pub(super) fn end(
    writer: &Writer,
    listing: ListingRowId,
    operation: Operation,
    note: Option<&str>,
) -> Result<()> {
    let decision = match operation {
        Operation::Approve => ReviewDecision::Approved,
        Operation::RequestChanges => ReviewDecision::ChangesRequested,
        Operation::Reject => ReviewDecision::Rejected,
        Operation::Withdraw => ReviewDecision::Withdrawn,
        _ => return Ok(()),
    };
    store::reviews::set_decided(writer.rows, listing, decision, writer.now, note)
}

/// Returns the latest rounds of one of the team's own listings, newest first.
pub fn list(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Vec<Review>> {
    let listing = find_own(reader.rows, vendor, id)?;
    store::reviews::list(reader.rows, listing.row_id, MAX_ROUNDS)
}

/// Whether the platform has approved a listing, and the approved content is stored.
pub(super) fn has_approval(rows: &store::Reader, listing: ListingRowId) -> Result<bool> {
    let Some(review) = Since::Approval.find(rows, listing)? else {
        return Ok(false);
    };
    store::reviews::has_fields(rows, review.row_id)
}

/// Returns the latest rounds of a listing, newest first, for the platform.
pub fn list_of_any(reader: &Reader, platform: Platform, id: Uuid) -> Result<Vec<Review>> {
    let listing = find(reader.rows, platform, id)?;
    store::reviews::list(reader.rows, listing.row_id, MAX_ROUNDS)
}

/// What a listing is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// What the platform approved last.
    Approval,
    /// What the platform decided on last, however it decided.
    Decision,
    /// What was submitted in the round with this number.
    Round(u32),
}

impl Since {
    /// Finds the round that a listing is compared with.
    fn find(self, rows: &store::Reader, listing: ListingRowId) -> Result<Option<Review>> {
        const DECISIONS: [ReviewDecision; 3] =
            [ReviewDecision::Approved, ReviewDecision::ChangesRequested, ReviewDecision::Rejected];
        match self {
            Since::Approval => store::reviews::find_last(rows, listing, &[ReviewDecision::Approved]),
            Since::Decision => store::reviews::find_last(rows, listing, &DECISIONS),
            Since::Round(number) => store::reviews::find(rows, listing, number),
        }
    }
}

/// What differs between a round of a listing's review and the listing as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The round.
    pub since: Review,
    /// Texts, prices, and terms in the round.
    pub before: ListingFields,
    /// Texts, prices, and terms now.
    pub now: ListingFields,
    /// Assets that the listing had not.
    pub added: AssetChanges,
    /// Assets that the listing has no longer.
    pub removed: AssetChanges,
    /// Assets with another title or other data.
    pub changed: AssetChanges,
    /// Titles of the assets in both samples, by ID.
    pub sampled: BTreeMap<Uuid, String>,
}

impl Difference {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        let assets = self.added.total + self.removed.total + self.changed.total;
        self.before == self.now && assets == 0
    }
}

/// Returns what has changed in one of the team's own listings since its last approval; `None` if it was never approved, or only
/// before rounds were stored.
pub fn changes_since_approval(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Option<Difference>> {
    let listing = find_own(reader.rows, vendor, id)?;
    difference(reader.rows, &listing, Since::Approval)
}

/// Returns what has changed in a listing since an earlier round, for the platform; `None` without such a round.
pub fn changes_of_any(
    reader: &Reader,
    platform: Platform,
    id: Uuid,
    since: Since,
) -> Result<Option<Difference>> {
    let listing = find(reader.rows, platform, id)?;
    difference(reader.rows, &listing, since)
}

fn difference(rows: &store::Reader, listing: &ListingRow, since: Since) -> Result<Option<Difference>> {
    let Some(review) = since.find(rows, listing.row_id)? else { return Ok(None) };
    let Some(before) = store::reviews::find_fields(rows, review.row_id)? else { return Ok(None) };
    let now = store::listings::find_fields(rows, listing.row_id)?;
    let sampled: Vec<Uuid> = before.sample.iter().chain(&now.sample).map(|asset| asset.asset_id).collect();
    Ok(Some(Difference {
        sampled: store::reviews::asset_titles(rows, &sampled)?,
        before,
        now,
        added: store::reviews::list_added(rows, listing.row_id, review.row_id, MAX_ASSETS)?,
        removed: store::reviews::list_removed(rows, listing.row_id, review.row_id, MAX_ASSETS)?,
        changed: store::reviews::list_changed(rows, listing.row_id, review.row_id, MAX_ASSETS)?,
        since: review,
    }))
}
