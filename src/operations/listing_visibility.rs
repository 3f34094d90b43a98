//! Why buyers do not see a listing.

use uuid::Uuid;

use super::access::Platform;
use crate::{
    domain::{
        listings::{CatalogStatus, Event, ListingStatus, ReviewStatus},
        time::Timestamp,
    },
    error::Result,
    market::Reader,
    store,
};

/// Why buyers do not see a listing. The browse gate is not a reason: it limits what the team itself can search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is a draft that was never submitted, or was withdrawn from the review.
    Draft,
    /// It is in review.
    InReview,
    /// The market requested changes.
    ChangesRequested,
    /// The market rejected it.
    Rejected,
    /// It was approved, and has not been published since.
    NotPublished,
    /// It was taken out of the catalog.
    Unpublished,
    /// It was restored from the archive, and has not been published since.
    Restored,
    /// It is archived, and its team is closed.
    TeamClosed,
    /// It is archived, and assets of it were sold exclusively and not refunded.
    SoldExclusively,
    /// It is archived, and can be restored.
    Archived,
}

/// Why buyers do not see a listing, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The reason.
    pub reason: Reason,
    /// Time of the event that is the reason; `None` for a draft, and if the history has no such event.
    pub since: Option<Timestamp>,
    /// Whether it has no assets, which it needs to be submitted or published.
    pub lacks_assets: bool,
}

/// Returns why buyers do not see a listing; `None` if it is in the catalog.
pub fn why_hidden(reader: &Reader, platform: Platform, id: Uuid) -> Result<Option<Hidden>> {
    let listing = super::listings::find(reader.rows, platform, id)?;
    if listing.status.catalog == CatalogStatus::Published {
        return Ok(None);
    }
    let newest = store::listing_history::find_newest(reader.rows, listing.row_id, causes(listing.status))?;
    let is_closed = store::teams::find_by_row_id(reader.rows, listing.team)?.closed_at.is_some();
    let is_sold = !store::exclusive_sales::find_sold_assets(reader.rows, listing.row_id)?.is_empty();
    let reason = reason(listing.status, newest.map(|(event, _)| event), (is_closed, is_sold));
    let lacks_assets = store::listing_assets::list_first(reader.rows, listing.row_id, 1)?.is_empty();
    Ok(Some(Hidden { reason, since: newest.map(|(_, time)| time), lacks_assets }))
}

/// Returns the events that bring a listing into a status in which buyers do not see it. The newest one is the reason.
const fn causes(status: ListingStatus) -> &'static [Event] {
    match (status.catalog, status.review) {
        (CatalogStatus::Archived, _) => &[Event::Archived],
        (_, ReviewStatus::Draft) => &[],
        (_, ReviewStatus::InReview) => &[Event::Submitted],
        (_, ReviewStatus::ChangesRequested) => &[Event::ChangesRequested],
        (_, ReviewStatus::Rejected) => &[Event::Rejected],
        (_, ReviewStatus::Approved) => &[Event::Unpublished, Event::Approved, Event::Restored],
    }
}

/// Returns the reason for a status, from the newest of its [`causes`], whether the team is closed, and whether assets are sold
/// exclusively.
const fn reason(status: ListingStatus, newest: Option<Event>, (is_closed, is_sold): (bool, bool)) -> Reason {
    match (status.catalog, status.review) {
        (CatalogStatus::Archived, _) if is_closed => Reason::TeamClosed,
        (CatalogStatus::Archived, _) if is_sold => Reason::SoldExclusively,
        (CatalogStatus::Archived, _) => Reason::Archived,
        (_, ReviewStatus::Draft) => Reason::Draft,
        (_, ReviewStatus::InReview) => Reason::InReview,
        (_, ReviewStatus::ChangesRequested) => Reason::ChangesRequested,
        (_, ReviewStatus::Rejected) => Reason::Rejected,
        (_, ReviewStatus::Approved) => match newest {
            Some(Event::Unpublished) => Reason::Unpublished,
            Some(Event::Restored) => Reason::Restored,
            _ => Reason::NotPublished,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_follows_from_status_and_newest_event() {
        let open = (false, false);
        let approved = ListingStatus { review: ReviewStatus::Approved, catalog: CatalogStatus::Unpublished };
        for (newest, expected) in [
            (Some(Event::Unpublished), Reason::Unpublished),
            (Some(Event::Restored), Reason::Restored),
            (Some(Event::Approved), Reason::NotPublished),
            (None, Reason::NotPublished),
        ] {
            assert_eq!(reason(approved, newest, open), expected);
            assert!(newest.is_none_or(|event| causes(approved).contains(&event)));
        }
        let archived = ListingStatus { catalog: CatalogStatus::Archived, ..approved };
        for (state, expected) in [
            (open, Reason::Archived),
            ((false, true), Reason::SoldExclusively),
            ((true, true), Reason::TeamClosed),
        ] {
            assert_eq!(reason(archived, Some(Event::Archived), state), expected);
        }
        let rejected = ListingStatus { review: ReviewStatus::Rejected, ..approved };
        assert_eq!(reason(rejected, None, open), Reason::Rejected);
    }
}
