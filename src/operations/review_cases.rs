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
    domain::{listings::LifecycleStage, quality_checks::CheckStatus, quality_runs::RunStatus},
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
    /// How its required checks ended.
    pub required_checks: RequiredChecks,
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

/// How many of the required checks of a listing's latest quality run have finished, and have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredChecks {
    /// It was never checked.
    NoRun,
    /// Its run has ended without a result.
    NoResult,
    /// Its run has ended, and the data of an asset was replaced or detached since.
    OtherData,
    /// A run is in progress, or has ended.
    Run {
        /// Whether it has ended.
        is_completed: bool,
        /// Number of required checks.
        all: usize,
        /// Number of them that have finished.
        finished: usize,
        /// Number of them that have passed.
        passed: usize,
    },
}

impl RequiredChecks {
    /// Returns those of the latest run of a listing, if there is one.
    fn find(rows: &store::Reader, run: Option<&CheckedRun>) -> Result<RequiredChecks> {
        if let Some(checked) = run
            && checked.run.status == RunStatus::Completed
            && store::changed_data::is_outdated(rows, checked.run.row_id)?
        {
            return Ok(RequiredChecks::OtherData);
        }
        Ok(RequiredChecks::count(run))
    }

    fn count(run: Option<&CheckedRun>) -> RequiredChecks {
        let Some(CheckedRun { run, checks, .. }) = run else { return RequiredChecks::NoRun };
        if matches!(run.status, RunStatus::Error | RunStatus::Cancelled) {
            return RequiredChecks::NoResult;
        }
        let required = || checks.iter().filter(|check| check.is_mandatory);
        let is_open = |status| matches!(status, CheckStatus::Queued | CheckStatus::Running);
        RequiredChecks::Run {
            is_completed: run.status == RunStatus::Completed,
            all: required().count(),
            finished: required().filter(|check| !is_open(check.status)).count(),
            passed: required().filter(|check| check.status == CheckStatus::Passed).count(),
        }
    }

    /// Returns why a reviewer may not want to approve the listing yet; `None` if all required checks have passed.
    pub fn approval_warning(self) -> Option<String> {
        match self {
            RequiredChecks::NoRun => Some("The listing was never checked.".to_owned()),
            RequiredChecks::NoResult => Some("Its last quality run has no result.".to_owned()),
            RequiredChecks::OtherData => Some("Its last quality run has checked other data.".to_owned()),
            RequiredChecks::Run { is_completed: false, all: 0, .. } => {
                Some("Its checks have not begun.".to_owned())
            }
            RequiredChecks::Run { is_completed: false, all, finished, .. } => {
                Some(format!("{finished} of {all} required checks have finished."))
            }
            RequiredChecks::Run { all, passed, .. } if passed < all => {
                Some(format!("{passed} of {all} required checks have passed."))
            }
            RequiredChecks::Run { .. } => None,
        }
    }
}

/// Returns the required checks of the latest quality run of a listing.
pub fn required_checks(reader: &Reader, platform: Platform, id: Uuid) -> Result<RequiredChecks> {
    let listing = listings::find(reader.rows, platform, id)?;
    RequiredChecks::find(reader.rows, listing_quality::latest_run(reader.rows, listing.row_id)?.as_ref())
}

/// Returns why a reviewer who has seen this revision may not want to approve it yet. `None` if all required checks have passed, and
/// if nobody can decide on the revision any more.
pub fn approval_warning(
    reader: &Reader,
    platform: Platform,
    id: Uuid,
    seen: Option<&Revision>,
) -> Result<Option<String>> {
    let listing = listings::find(reader.rows, platform, id)?;
    let is_in_review = listing.status.stage() == LifecycleStage::Review;
    if !is_in_review || seen != Some(&Revision::find(reader.rows, listing.row_id)?) {
        return Ok(None);
    }
    Ok(required_checks(reader, platform, id)?.approval_warning())
}

/// Returns a listing as a reviewer sees it, whether or not it is in review now, with what has changed since an earlier round.
pub fn find(reader: &Reader, platform: Platform, id: Uuid, since: Since, filters: &Filters) -> Result<Case> {
    let listing = listings::find(reader.rows, platform, id)?;
    let row_id = listing.row_id;
    let run = listing_quality::latest_run(reader.rows, row_id)?;
    Ok(Case {
        revision: Revision::find(reader.rows, row_id)?,
        rounds: reviews::list_of_any(reader, platform, id)?,
        deciders: store::review_queue::list_deciders(reader.rows, id, MAX_DECIDERS)?,
        vendor: store::review_queue::find_vendor(reader.rows, listing.team)?,
        required_checks: RequiredChecks::find(reader.rows, run.as_ref())?,
        run,
        place: review_queue::place_of(reader.rows, filters, row_id)?,
        difference: reviews::changes_of_any(reader, platform, id, since)?,
        listing,
    })
}
