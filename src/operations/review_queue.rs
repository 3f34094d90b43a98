//! The queue of listings in review, for the platform. The listing that has waited longest comes first.

use uuid::Uuid;

use super::{access::Platform, listings, teams};
use crate::{
    domain::{assets::Kind, listings::ListingRowId},
    error::{Error, Result},
    market::Reader,
    store::{
        self,
        records::pages::{TeamPage, TeamPageRequest},
        review_queue::{QueueFilter, WaitingListing},
    },
};

/// Which listings of the queue somebody works on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Only those of this vendor, by its ID or its name.
    pub vendor: Option<String>,
    /// Only those with an asset of this kind.
    pub kind: Option<Kind>,
    /// Only those that were reviewed before, or only the others.
    pub was_reviewed: Option<bool>,
}

impl Filters {
    /// Returns the filter of rows; `None` if there is no such vendor, so that nothing matches.
    fn resolve(&self, rows: &store::Reader) -> Result<Option<QueueFilter>> {
        let vendor = match &self.vendor {
            None => None,
            Some(name) => match teams::resolve(rows, name) {
                Ok(team) => Some(team.row_id),
                Err(Error::NotFound(_) | Error::Conflict(_)) => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        Ok(Some(QueueFilter { vendor, kind: self.kind, was_reviewed: self.was_reviewed }))
    }
}

/// Returns a page of the queue.
pub fn page(
    reader: &Reader,
    _: Platform,
    filters: &Filters,
    request: TeamPageRequest,
) -> Result<TeamPage<WaitingListing>> {
    match filters.resolve(reader.rows)? {
        Some(filter) => store::review_queue::list_page(reader.rows, filter, request),
        None => Ok(TeamPage { rows: Vec::new(), next: None, previous: None, total: Some(0) }),
    }
}

/// The place of a listing in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of listings that have waited longer.
    pub before: u64,
    /// Number of all listings in the queue.
    pub total: u64,
    /// ID of the listing that comes next; after the last one, the first. `None` if no other listing waits.
    pub next: Option<Uuid>,
}

/// Returns the place of a listing in the queue. One that has left the queue has the place at which it was.
pub fn place(reader: &Reader, platform: Platform, filters: &Filters, id: Uuid) -> Result<Place> {
    let listing = listings::find(reader.rows, platform, id)?.row_id;
    place_of(reader.rows, filters, listing)
}

pub(super) fn place_of(rows: &store::Reader, filters: &Filters, listing: ListingRowId) -> Result<Place> {
    let Some(filter) = filters.resolve(rows)? else { return Ok(Place::default()) };
    let position = store::review_queue::find_position(rows, listing)?;
    let (total, before) = store::review_queue::count(rows, filter, position)?;
    let first_after = |position, limit| -> Result<Option<Uuid>> {
        let found = store::review_queue::list_from(rows, filter, (position, false), limit)?;
        Ok(found.iter().find(|waiting| waiting.row_id != listing).map(|waiting| waiting.id))
    };
    let next = match first_after(position, 1)? {
        Some(next) => Some(next),
        None => first_after(None, 2)?,
    };
    Ok(Place { before, total, next })
}
