//! Why buyers do not see a listing, in words for operators.

use uuid::Uuid;

use super::access::Platform;
use crate::{
    domain::{
        listings::{CatalogStatus, Event, ListingStatus, ReviewStatus},
        time::Timestamp,
    },
    error::Result,
    market::Reader,
    store::{self, listing_history::HistoryEvent},
};

/// Why buyers do not see a listing. The browse gate is no reason: it limits what its own team can search for, and hides nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is a draft that was never submitted, or that was withdrawn.
    Draft,
    /// It waits for a decision.
    InReview,
    /// It was sent back.
    ChangesRequested,
    /// It was rejected.
    Rejected,
    /// It was approved, and has not been published since.
    NotPublished,
    /// It was taken out of the catalog.
    Unpublished,
    /// It was restored from the archive, and has not been published since.
    Restored,
    /// It is archived, and its team is closed.
    TeamClosed,
    /// It is archived, and assets of it were sold exclusively, and not refunded.
    SoldExclusively,
    /// It is archived, and can be restored.
    Archived,
}

/// Why buyers do not see a listing, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The reason.
    pub reason: Reason,
    /// Time of the event that is the reason; `None` for a draft, or if its history has no such event.
    pub since: Option<Timestamp>,
    /// Whether it has no assets, without which it cannot be submitted or published.
    pub lacks_assets: bool,
}

/// Returns why buyers do not see a listing; `None` if they see it in the catalog.
pub fn why_hidden(reader: &Reader, platform: Platform, id: Uuid) -> Result<Option<Hidden>> {
    let listing = super::listings::find(reader.rows, platform, id)?;
    if listing.status.catalog == CatalogStatus::Published {
        return Ok(None);
    }
    let is_closed = store::teams::find_by_row_id(reader.rows, listing.team)?.closed_at.is_some();
    let history = store::listing_history::list(reader.rows, listing.row_id)?;
    let is_sold = !store::exclusive_sales::find_sold_assets(reader.rows, listing.row_id)?.is_empty();
    let (reason, since) = reason(listing.status, (is_closed, is_sold), &history);
    let lacks_assets = store::listing_assets::list_first(reader.rows, listing.row_id, 1)?.is_empty();
    Ok(Some(Hidden { reason, since, lacks_assets }))
}

/// Returns the reason for a status, whether the team is closed, and whether assets are sold exclusively; and its time in the history,
/// which begins with the newest event.
fn reason(
    status: ListingStatus,
    (is_closed, is_sold): (bool, bool),
    history: &[HistoryEvent],
) -> (Reason, Option<Timestamp>) {
    let newest = |events: &[Event]| history.iter().find(|entry| events.contains(&entry.event));
    let at = |events: &[Event]| newest(events).map(|entry| entry.occurred_at);
    if status.catalog == CatalogStatus::Archived {
        let reason = match (is_closed, is_sold) {
            (true, _) => Reason::TeamClosed,
            (false, true) => Reason::SoldExclusively,
            (false, false) => Reason::Archived,
        };
        return (reason, at(&[Event::Archived]));
    }
    match status.review {
        ReviewStatus::Draft => (Reason::Draft, None),
        ReviewStatus::InReview => (Reason::InReview, at(&[Event::Submitted])),
        ReviewStatus::ChangesRequested => (Reason::ChangesRequested, at(&[Event::ChangesRequested])),
        ReviewStatus::Rejected => (Reason::Rejected, at(&[Event::Rejected])),
        ReviewStatus::Approved => match newest(&[Event::Unpublished, Event::Approved, Event::Restored]) {
            Some(entry) if entry.event == Event::Unpublished => {
                (Reason::Unpublished, Some(entry.occurred_at))
            }
            Some(entry) if entry.event == Event::Restored => (Reason::Restored, Some(entry.occurred_at)),
            entry => (Reason::NotPublished, entry.map(|entry| entry.occurred_at)),
        },
    }
}

impl Reason {
    /// Says what happened: the words before its day, and those after it.
    pub const fn what(self) -> (&'static str, &'static str) {
        match self {
            Reason::Draft => ("it is a draft", ""),
            Reason::InReview => ("it was submitted", ", and is in review"),
            Reason::ChangesRequested => ("the market asked for changes", ""),
            Reason::Rejected => ("the market rejected it", ""),
            Reason::NotPublished => ("the market approved it", ", and the vendor has not published it"),
            Reason::Unpublished => ("it was taken out of the catalog", ""),
            Reason::Restored => ("it was restored from the archive", ", and is not published"),
            Reason::TeamClosed => ("it was archived", ", and its team is closed"),
            Reason::SoldExclusively => ("it was archived", ", and its code was sold exclusively"),
            Reason::Archived => ("it was archived", ""),
        }
    }

    /// Says what has to happen next.
    pub const fn next_step(self) -> &'static str {
        match self {
            Reason::Draft => "The vendor has to submit it for review.",
            Reason::InReview => "A reviewer decides next.",
            Reason::ChangesRequested => "The vendor has to change it, and submit it again.",
            Reason::Rejected => "It cannot be submitted again. The vendor has to make a new listing.",
            Reason::NotPublished | Reason::Restored => "The vendor publishes it next, or you do in its name.",
            Reason::Unpublished => "The vendor can publish it again, and so can you in its name.",
            Reason::TeamClosed => "A closed team stays closed, so it cannot come back.",
            Reason::SoldExclusively => "It can be restored only if that sale is refunded.",
            Reason::Archived => "It has to be restored first.",
        }
    }

    /// Whether the next step needs assets.
    pub const fn needs_assets(self) -> bool {
        use Reason::{ChangesRequested, Draft, NotPublished, Restored, Unpublished};
        matches!(self, Draft | ChangesRequested | NotPublished | Unpublished | Restored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::listings::Actor;

    fn entry(event: Event, actor: Actor, at: i64) -> HistoryEvent {
        let to = ListingStatus { review: ReviewStatus::Draft, catalog: CatalogStatus::Unpublished }.stage();
        HistoryEvent { event, actor, occurred_at: Timestamp(at), from: None, to }
    }

    #[test]
    fn reason_follows_from_status_and_history() {
        let status = |review, catalog| ListingStatus { review, catalog };
        let approved = status(ReviewStatus::Approved, CatalogStatus::Unpublished);
        let history = [
            entry(Event::Unpublished, Actor::Team, 3),
            entry(Event::Published, Actor::Team, 2),
            entry(Event::Approved, Actor::Platform, 1),
        ];
        let open = (false, false);
        assert_eq!(reason(approved, open, &history), (Reason::Unpublished, Some(Timestamp(3))));
        assert_eq!(reason(approved, open, &history[2..]), (Reason::NotPublished, Some(Timestamp(1))));
        assert_eq!(reason(approved, open, &[]), (Reason::NotPublished, None));
        let restored = [entry(Event::Restored, Actor::Team, 5), entry(Event::Approved, Actor::Platform, 1)];
        assert_eq!(reason(approved, open, &restored), (Reason::Restored, Some(Timestamp(5))));
        let archived = status(ReviewStatus::Approved, CatalogStatus::Archived);
        for (state, expected) in [
            (open, Reason::Archived),
            ((false, true), Reason::SoldExclusively),
            ((true, true), Reason::TeamClosed),
        ] {
            // After a refund, what the market archived can be restored.
            let history = [entry(Event::Archived, Actor::System, 4)];
            assert_eq!(reason(archived, state, &history), (expected, Some(Timestamp(4))));
        }
        let rejected = status(ReviewStatus::Rejected, CatalogStatus::Unpublished);
        assert_eq!(reason(rejected, open, &[]).0, Reason::Rejected);
    }
}
