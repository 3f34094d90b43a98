//! Decisions on listings in review. Each decision states the revision that the reviewer has seen.
//!
//! Two reviewers can open the same listing. The first decision counts; the second one is refused, with the name of the first reviewer.

use std::fmt::{self, Display};

use uuid::Uuid;

use super::{access::Platform, certifications, listing_lifecycle, listings, reviews};
use crate::{
    domain::{
        listings::{Actor, LifecycleStage, ListingRowId},
        reviews::ReviewDecision,
    },
    error::{Error, Result},
    market::Writer,
    store::{self, listings::ListingRow, review_queue::Decider, reviews::Review},
};

/// Maximum number of decisions that are looked for in the audit.
pub(super) const MAX_DECIDERS: u32 = 100;

/// The state of a listing in a round of its review. It changes with the round, the texts, the terms, the assets, and their data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Number of the round; 0 if none is stored.
    pub round: u32,
    /// SHA-256 digest of what the listing has, in hexadecimal.
    pub sha256: String,
}

impl Revision {
    /// Returns the revision of a listing as it is now.
    pub(super) fn find(rows: &store::Reader, listing: ListingRowId) -> Result<Revision> {
        let round = store::reviews::last_number(rows, listing)?;
        Ok(Revision { round, sha256: reviews::present_digest(rows, listing)? })
    }

    /// Reads a revision as [`Display`] writes it.
    pub fn parse(text: &str) -> Option<Revision> {
        let (round, sha256) = text.split_once('-')?;
        let is_digest = sha256.len() == 64 && sha256.bytes().all(|digit| digit.is_ascii_hexdigit());
        Some(Revision { round: round.parse().ok()?, sha256: sha256.to_owned() }).filter(|_| is_digest)
    }
}

impl Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}-{}", self.round, self.sha256)
    }
}

/// What a reviewer decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The listing is approved.
    Approve,
    /// The listing goes back to its vendor, with a note that says what to change.
    RequestChanges(String),
    /// The listing is rejected, with a note that says why.
    Reject(String),
    /// The listing is certified as it is.
    Certify,
    /// The listing is no longer certified.
    Revoke,
}

impl Decision {
    /// Whether it ends the round of the review.
    const fn ends_round(&self) -> bool {
        matches!(self, Decision::Approve | Decision::RequestChanges(_) | Decision::Reject(_))
    }

    /// Returns the name of the operation in the document of the operator API, for the audit.
    pub const fn operation(&self) -> &'static str {
        match self {
            Decision::Approve => "approve_listing",
            Decision::RequestChanges(_) => "request_listing_changes",
            Decision::Reject(_) => "reject_listing",
            Decision::Certify => "certify_listing",
            Decision::Revoke => "revoke_listing_certification",
        }
    }
}

/// Carries out a decision on the revision that a reviewer has seen. Fails with a conflict if somebody else has already decided, or
/// if the listing has changed since. Returns the ID of the vendor.
pub fn decide(
    writer: &mut Writer,
    platform: Platform,
    (id, seen): (Uuid, Option<&Revision>),
    decision: &Decision,
) -> Result<Uuid> {
    let listing = listings::find(writer.rows, platform, id)?;
    if decision.ends_round() && listing.status.stage() != LifecycleStage::Review {
        return Err(not_in_review(writer.rows, &listing)?);
    }
    if seen != Some(&Revision::find(writer.rows, listing.row_id)?) {
        let message = "The listing was changed since you opened it, so nothing was decided. What is different is shown below. \
                       Decide again on what it has now.";
        return Err(Error::Conflict(message.to_owned()));
    }
    let actor = Actor::Platform;
    match decision {
        Decision::Approve => listing_lifecycle::approve(writer, platform, actor, id),
        Decision::RequestChanges(note) => {
            listing_lifecycle::request_changes(writer, platform, actor, id, Some(note))
        }
        Decision::Reject(note) => listing_lifecycle::reject(writer, platform, actor, id, Some(note)),
        Decision::Certify => certifications::certify(writer, platform, actor, id),
        Decision::Revoke => certifications::revoke(writer, platform, actor, id),
    }?;
    let vendor = store::teams::find_vendor_of_listing(writer.rows, id)?;
    Ok(vendor.ok_or_else(|| Error::internal("a listing without a vendor"))?.id)
}

/// Returns the error for a listing on which nobody can decide now: who decided on it, and when.
fn not_in_review(rows: &store::Reader, listing: &ListingRow) -> Result<Error> {
    let rounds = store::reviews::list(rows, listing.row_id, 1)?;
    let deciders = store::review_queue::list_deciders(rows, listing.id, MAX_DECIDERS)?;
    let message = match rounds.first().and_then(|round| Some((round, round.decision?))) {
        Some((_, (ReviewDecision::Withdrawn, at))) => {
            format!("The vendor has withdrawn the listing from review, at {at}. Nothing was decided.")
        }
        Some((round, (decision, at))) => {
            let who = decider(&deciders, round).map_or("Somebody else", |decider| &decider.key_name);
            format!("{who} has {} already, at {at}. Nothing was changed.", done(decision))
        }
        None => "The listing is not in review now. Nothing was decided.".to_owned(),
    };
    Ok(Error::Conflict(message))
}

/// Returns what was done with a listing, as the rest of a sentence.
const fn done(decision: ReviewDecision) -> &'static str {
    match decision {
        ReviewDecision::Approved => "approved this listing",
        ReviewDecision::ChangesRequested => "requested changes of this listing",
        ReviewDecision::Rejected => "rejected this listing",
        ReviewDecision::Withdrawn => "withdrawn this listing",
    }
}

/// Returns who decided on a round; `None` if the audit does not say it.
pub fn decider<'d>(deciders: &'d [Decider], round: &Review) -> Option<&'d Decider> {
    let (decision, at) = round.decision?;
    deciders.iter().find(|decider| (decider.decision, decider.at) == (decision, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_read_as_they_are_written() {
        let revision = Revision { round: 3, sha256: "0f".repeat(32) };
        assert_eq!(Revision::parse(&revision.to_string()), Some(revision));
        for text in [
            "",
            "3",
            "3-",
            "3-0f",
            "x-0f",
            &format!("-{}", "0f".repeat(32)),
            &format!("3-{}", "0g".repeat(32)),
        ] {
            assert_eq!(Revision::parse(text), None, "{text}");
        }
    }
}
