//! The common parts of all changes of a listing: the check of its state, the history, the notification of the
//! vendor, the end of a certification, and the queue of the index.

use super::{attestations, notifications};
use crate::{
    domain::{
        events::ListingData,
        listing_lifecycle::{ListingState, Operation, Refusal},
        listings::{Actor, Event},
    },
    error::{Error, Result, StateCode},
    market::Writer,
    store::{
        self, index_queue,
        listing_history::{self, HistoryEvent},
        listings::ListingRow,
    },
    string_enum::StringEnum,
};

/// A change that the state of a listing allows.
#[derive(Clone, Copy, Debug)]
pub struct AllowedChange {
    operation: Operation,
    before: ListingState,
    after: ListingState,
}

impl AllowedChange {
    /// Returns the state after the change.
    pub const fn after(self) -> ListingState {
        self.after
    }
}

/// Checks that the state of a listing allows an operation.
pub fn check(listing: &ListingRow, operation: Operation) -> Result<AllowedChange> {
    let before = listing.state();
    match before.after(operation) {
        Ok(after) => Ok(AllowedChange { operation, before, after }),
        Err(refusal) => Err(refusal_error(operation, refusal)),
    }
}

fn refusal_error(operation: Operation, refusal: Refusal) -> Error {
    match refusal {
        Refusal::Transition { from, allowed } => Error::InvalidTransition {
            from: from.as_str(),
            allowed: allowed.into_iter().map(StringEnum::as_str).collect(),
        },
        Refusal::NotEditable(stage) => {
            let stage = stage.as_str();
            let message = match operation {
                Operation::UpdateTerms => format!(
                    "The listing is {stage}. Its prices and terms can only be changed in stage draft, ready, or active."
                ),
                Operation::UpdateTexts => {
                    format!("The listing is {stage}. Its texts can only be edited in stage draft or ready.")
                }
                _ => {
                    format!("The listing is {stage}. Its assets can only be changed in stage draft or ready.")
                }
            };
            Error::InvalidState(StateCode::ListingNotEditable, message)
        }
        Refusal::NotCertified => Error::Conflict("The listing is not certified.".to_owned()),
        Refusal::NotFeatured => Error::Conflict("The listing is not featured.".to_owned()),
    }
}

/// Performs a change: first checks the state of the listing, then calls `write` for everything except the status,
/// and records the change.
pub fn perform(
    writer: &mut Writer,
    listing: &ListingRow,
    operation: Operation,
    actor: Actor,
    write: impl FnOnce(&Writer) -> Result<()>,
) -> Result<ListingState> {
    let change = check(listing, operation)?;
    write(writer)?;
    record(writer, listing, change, actor, None)
}

/// Records a change: writes the status, adds the change to the history and the outbox, notifies the vendor, and
/// queues the listing for the index. If the change ends a certification, the history records the revocation with
/// the actor `system`. `note` explains a decision of the platform to the vendor. Returns the state after the
/// change.
pub fn record(
    writer: &Writer,
    listing: &ListingRow,
    change: AllowedChange,
    actor: Actor,
    note: Option<&str>,
) -> Result<ListingState> {
    let AllowedChange { operation, before, after } = change;
    index_queue::enqueue(writer.rows, listing.row_id)?;
    let is_revoked = before.is_certified && !after.is_certified;
    if before.status != after.status {
        store::listings::set_status(writer.rows, listing.row_id, before.status, after.status, writer.now)?;
    }
    if let Some(event) = operation.event() {
        record_event(writer, listing, change, event, actor)?;
    }
    emit(writer, listing, change, operation, actor)?;
    if is_revoked && operation != Operation::Revoke {
        store::listings::set_certified_at(writer.rows, listing.row_id, None, writer.now)?;
        record_event(writer, listing, change, Event::CertificationRevoked, Actor::System)?;
        emit(writer, listing, change, Operation::Revoke, Actor::System)?;
    }
    if is_revoked {
        attestations::enqueue_revocation_notices(writer, listing.row_id)?;
    }
    notify_vendor(writer, listing, operation, note)?;
    Ok(after)
}

fn record_event(
    writer: &Writer,
    listing: &ListingRow,
    change: AllowedChange,
    event: Event,
    actor: Actor,
) -> Result<()> {
    let (from, to) = (Some(change.before.status.stage()), change.after.status.stage());
    let event = HistoryEvent { event, actor, occurred_at: writer.now, from, to };
    listing_history::insert(writer.rows, listing.row_id, &event)
}

fn emit(
    writer: &Writer,
    listing: &ListingRow,
    change: AllowedChange,
    operation: Operation,
    actor: Actor,
) -> Result<()> {
    let AllowedChange { before, after, .. } = change;
    let data = ListingData {
        listing_id: listing.id,
        actor,
        from_stage: Some(before.status.stage()),
        to_stage: after.status.stage(),
        review_status: after.status.review,
        catalog_status: after.status.catalog,
        is_certified: after.is_certified,
    };
    writer.emit(Some(listing.team), listing.id, &operation.outbox_event(data))
}

fn notify_vendor(
    writer: &Writer,
    listing: &ListingRow,
    operation: Operation,
    note: Option<&str>,
) -> Result<()> {
    let Some(kind) = operation.notification() else { return Ok(()) };
    let name = &listing.title;
    let (title, outcome, advice) = match operation {
        Operation::Approve => ("Listing approved", "passed review", "You can publish it now."),
        Operation::RequestChanges => {
            ("Changes requested", "needs changes", "Update the listing, then submit it again.")
        }
        _ => ("Listing rejected", "was rejected", "It cannot be submitted again."),
    };
    let message = format!("\u{201c}{name}\u{201d} {outcome}. {}", note.unwrap_or(advice));
    let link = format!("/selling/listings/{}", listing.id);
    notifications::send(writer, listing.team, kind, (title, &message), &link)
}
