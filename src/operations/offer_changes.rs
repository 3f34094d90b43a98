//! The common parts of all changes of an offer: the check of its status, the events, the notifications, the due
//! step, and the queue of the index.

use super::notifications;
use crate::{
    domain::{
        due_steps::StepKind,
        events::{DeclinedOffersData, EventData, MAX_LISTED_IDS, OfferData},
        listings::Actor,
        money::CURRENCY,
        notifications::NotificationType,
        offers::{OfferOperation, OfferStatus},
        state_machine::StateMachine,
        teams::TeamRowId,
        written,
    },
    error::Result,
    market::Writer,
    store::{self, listings::ListingRow, offers::OfferRow},
};

/// Returns the status of an offer after an operation, or the error for one that its status does not allow.
pub fn check(offer: &OfferRow, operation: OfferOperation) -> Result<OfferStatus> {
    Ok(offer.status.check(operation)?)
}

/// Performs a transition of an offer: withdraws, accepts, declines, or expires it.
pub fn transition(writer: &Writer, offer: &OfferRow, operation: OfferOperation, actor: Actor) -> Result<()> {
    let decided = write_decision(writer, offer, operation)?;
    emit(writer, &decided, operation, actor)?;
    notify_buyer(writer, offer, operation, "The vendor declined it.")
}

/// Declines all offers on a listing that is archived.
pub fn decline_all(writer: &Writer, listing: &ListingRow, actor: Actor) -> Result<()> {
    let offers = store::offers::list_submitted(writer.rows, listing.row_id)?;
    if offers.is_empty() {
        return Ok(());
    }
    for offer in &offers {
        let declined = write_decision(writer, offer, OfferOperation::Decline)?;
        emit_to_buyer(writer, &declined, OfferOperation::Decline, actor)?;
        notify_buyer(writer, offer, OfferOperation::Decline, "The listing is no longer offered.")?;
    }
    let data = DeclinedOffersData {
        listing_id: listing.id,
        actor,
        count: offers.len(),
        offer_ids: offers.iter().take(MAX_LISTED_IDS).map(|offer| offer.id).collect(),
    };
    writer.emit(Some(listing.team), listing.id, &EventData::ListingOffersDeclined(data))
}

/// Withdraws all offers of a team, because it is closed. Returns their number.
pub fn withdraw_all(writer: &Writer, buyer: TeamRowId, actor: Actor) -> Result<usize> {
    let offers = store::offers::list_submitted_by(writer.rows, buyer)?;
    offers.iter().try_for_each(|offer| transition(writer, offer, OfferOperation::Withdraw, actor))?;
    Ok(offers.len())
}

fn write_decision(writer: &Writer, offer: &OfferRow, operation: OfferOperation) -> Result<OfferRow> {
    let status = check(offer, operation)?;
    store::offers::set_decided(writer.rows, offer, status, writer.now)?;
    writer.unschedule(StepKind::OfferExpires, offer.row_id)?;
    Ok(OfferRow { status, ..offer.clone() })
}

/// Returns the event of an operation.
fn event(operation: OfferOperation, data: OfferData) -> EventData {
    match operation {
        OfferOperation::Change => EventData::OfferChanged(data),
        OfferOperation::Withdraw => EventData::OfferWithdrawn(data),
        OfferOperation::Accept => EventData::OfferAccepted(data),
        OfferOperation::Decline => EventData::OfferDeclined(data),
        OfferOperation::Expire => EventData::OfferExpired(data),
    }
}

/// Appends the events of a change: one for the buyer, one for the vendor. `offer` is as it is afterwards.
pub fn emit(writer: &Writer, offer: &OfferRow, operation: OfferOperation, actor: Actor) -> Result<()> {
    emit_to_buyer(writer, offer, operation, actor)?;
    writer.emit(Some(offer.vendor), offer.id, &event(operation, vendor_data(offer, actor)))
}

fn emit_to_buyer(writer: &Writer, offer: &OfferRow, operation: OfferOperation, actor: Actor) -> Result<()> {
    writer.emit(Some(offer.buyer), offer.id, &event(operation, buyer_data(offer, actor)))
}

/// Appends the events of a new offer.
pub fn emit_submitted(writer: &Writer, offer: &OfferRow, actor: Actor) -> Result<()> {
    writer.emit(Some(offer.buyer), offer.id, &EventData::OfferSubmitted(buyer_data(offer, actor)))?;
    writer.emit(Some(offer.vendor), offer.id, &EventData::OfferSubmitted(vendor_data(offer, actor)))
}

/// Returns the part of an offer that the vendor may see. It excludes how the buyer pays, which would reveal why a purchase is
/// not paid.
fn vendor_data(offer: &OfferRow, actor: Actor) -> OfferData {
    OfferData { pay_with: None, ..buyer_data(offer, actor) }
}

fn buyer_data(offer: &OfferRow, actor: Actor) -> OfferData {
    OfferData {
        offer_id: offer.id,
        listing_id: offer.listing_id,
        actor,
        status: offer.status,
        amount: offer.amount.to_string(),
        currency: CURRENCY,
        pay_with: Some(offer.pay_with),
    }
}

/// Notifies the buyer of a decision that is not its own. `reason` says why an offer was declined.
fn notify_buyer(writer: &Writer, offer: &OfferRow, operation: OfferOperation, reason: &str) -> Result<()> {
    let (amount, name) = (written::money(offer.amount), &offer.listing_title);
    let (kind, title, message) = match operation {
        OfferOperation::Accept => (
            NotificationType::OfferAccepted,
            "Your bid was accepted",
            format!("Your bid of {amount} on \u{201c}{name}\u{201d} was accepted."),
        ),
        OfferOperation::Decline => (
            NotificationType::OfferDeclined,
            "Your bid was declined",
            format!("Your bid of {amount} on \u{201c}{name}\u{201d} was declined. {reason}"),
        ),
        OfferOperation::Expire => (
            NotificationType::OfferExpired,
            "Your bid expired",
            format!("Your bid of {amount} on \u{201c}{name}\u{201d} was not answered in time."),
        ),
        OfferOperation::Change | OfferOperation::Withdraw => return Ok(()),
    };
    notifications::send(writer, offer.buyer, kind, (title, &message), &format!("/bids/{}", offer.id))
}
