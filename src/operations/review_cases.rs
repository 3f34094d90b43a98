//! A listing as a reviewer sees it: with the rounds of its review, its quality run, and the record of its vendor.

use uuid::Uuid;

use super::{
    access::Platform,
    listing_quality, listings,
    quality_runs::CheckedRun,
    review_decisions::{MAX_DECIDERS, Revision},
    review_queue::{self, Filters, Place},
    reviews::{self, Difference, Since},
};
use crate::{
    error::Result,
    market::Reader,
    store::{
        self,
        listings::ListingRow,
        review_queue::{Decider, VendorHistory},
        reviews::Review,
    },
};

/// A listing as a reviewer sees it. How buyers see it is in `browse`.
#[derive(Debug)]
pub struct Case {
    /// The listing.
    pub listing: ListingRow,
    /// Its revision, which a decision states.
    pub revision: Revision,
    /// Rounds of its review, newest first.
    pub rounds: Vec<Review>,
    /// Who decided on them.
    pub deciders: Vec<Decider>,
    /// The earlier reviews and sales of its vendor.
    pub vendor: VendorHistory,
    /// The latest quality run, if there was any.
    pub run: Option<CheckedRun>,
    /// Its place in the queue.
    pub place: Place,
    /// What has changed since an earlier round; `None` if there is none to compare with.
    pub difference: Option<Difference>,
}

impl Case {
    /// Returns the round that waits for a decision.
    pub fn open_round(&self) -> Option<&Review> {
        self.rounds.first().filter(|round| round.decision.is_none())
    }

    /// Whether the listing has changed since it was submitted, such as the data of an asset.
    pub fn has_changed_since_submission(&self) -> bool {
        self.open_round().is_some_and(|round| round.sha256 != self.revision.sha256)
    }
}

/// Returns a listing as a reviewer sees it, whether or not it is in review now, with what has changed since an earlier round.
pub fn find(reader: &Reader, platform: Platform, id: Uuid, since: Since, filters: &Filters) -> Result<Case> {
    let listing = listings::find(reader.rows, platform, id)?;
    let row_id = listing.row_id;
    Ok(Case {
        revision: Revision::find(reader.rows, row_id)?,
        rounds: reviews::list_of_any(reader, platform, id)?,
        deciders: store::review_queue::list_deciders(reader.rows, id, MAX_DECIDERS)?,
        vendor: store::review_queue::find_vendor(reader.rows, listing.team)?,
        run: listing_quality::latest_run(reader.rows, row_id)?,
        place: review_queue::place_of(reader.rows, filters, row_id)?,
        difference: reviews::changes_of_any(reader, platform, id, since)?,
        listing,
    })
}
