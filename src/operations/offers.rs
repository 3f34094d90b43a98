//! Offers: buyers bid on listings, and vendors decide.
//!
//! An offer takes no money. Credits are not reserved, and the vendor never learns who bids, nor how the bidder
//! pays.

use uuid::Uuid;

use super::{
    access::{Buyer, Vendor},
    ledger, listings, notifications, offer_changes, purchases, wallet,
};
use crate::{
    domain::{
        collections::Collection,
        due_steps::StepKind,
        listings::{Actor, CatalogStatus},
        money::Cents,
        notifications::NotificationType,
        offers::{MAX_AMOUNT, OfferOperation, OfferStatus},
        purchases::{AssetScope, PayWith, PurchaseKind, ScopeMode},
        record_filters::RecordFilter,
        row_ids::OfferRowId,
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store::{
        self,
        listings::ListingRow,
        offers::{NewOffer, Offer, OfferRow},
    },
};

/// Returns the offers of the team that a filter allows, newest first.
pub fn list(reader: &Reader, buyer: &Buyer, filter: &RecordFilter) -> Result<Vec<Offer>> {
    store::offers::list(reader.rows, buyer.team_row_id(), filter)
}

/// A bid on a listing.
#[derive(Clone, Copy, Debug)]
pub struct OfferInput {
    /// ID of the listing.
    pub listing: Uuid,
    /// Price that the buyer offers.
    pub amount: Cents,
    /// How the buyer pays if the offer is accepted.
    pub pay_with: PayWith,
}

/// Bids on a published listing that accepts bids. A buyer has at most one submitted offer on a listing. The
/// offer expires `offers.expire_days` later. Returns its ID.
pub fn submit(writer: &mut Writer, buyer: &Buyer, actor: Actor, input: &OfferInput) -> Result<Uuid> {
    wallet::check_amount(input.amount, MAX_AMOUNT)?;
    let listing = listings::find_on_sale(writer.rows, buyer, input.listing)?;
    if !listing.accepts_bids {
        let message = "The listing does not accept bids. Buy it at its price instead.";
        return Err(Error::Conflict(message.to_owned()));
    }
    if let Some(offer) = store::offers::find_submitted(writer.rows, buyer.team_row_id(), listing.row_id)? {
        return Err(Error::Conflict(format!(
            "The team already has a submitted offer on this listing, {offer}. Change or withdraw that one."
        )));
    }
    if let Some(purchase) =
        store::purchases::find_standing(writer.rows, buyer.team_row_id(), listing.row_id, true)?
    {
        return Err(Error::Conflict(format!(
            "The team already has a purchase of this listing that is pending or completed: {purchase}."
        )));
    }
    let offer = insert(writer, buyer, &listing, input)?;
    let expire_days = i64::from(writer.settings.offers.expire_days);
    writer.schedule(StepKind::OfferExpires, offer.row_id, offer.created_at.plus_days(expire_days))?;
    offer_changes::emit_submitted(writer, &offer, actor)?;
    let name = &listing.title;
    let message =
        format!("A buyer bid ${} on \u{201c}{name}\u{201d}. It expires in {expire_days} days.", offer.amount);
    notifications::send(
        writer,
        listing.team,
        NotificationType::OfferReceived,
        &format!("New bid on {name}"),
        &message,
    )?;
    Ok(offer.id)
}

fn insert(writer: &Writer, buyer: &Buyer, listing: &ListingRow, input: &OfferInput) -> Result<OfferRow> {
    let new = NewOffer {
        id: writer.new_id(Collection::Offers),
        listing: listing.row_id,
        buyer: buyer.team_row_id(),
        amount: input.amount,
        pay_with: input.pay_with,
        status: OfferStatus::Submitted,
        created_at: writer.now,
        decided_at: None,
    };
    Ok(OfferRow {
        row_id: store::offers::insert(writer.rows, &new)?,
        id: new.id,
        status: new.status,
        amount: new.amount,
        pay_with: new.pay_with,
        created_at: new.created_at,
        buyer: new.buyer,
        buyer_may_buy: true,
        vendor: listing.team,
        listing: listing.row_id,
        listing_id: listing.id,
        listing_title: listing.title.clone(),
        listing_status: listing.status.catalog,
    })
}

/// Changes the amount of a submitted offer, and how the buyer pays. `None` leaves a value as it is. The offer
/// keeps its ID and the time of its expiry.
pub fn change(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    id: Uuid,
    amount: Option<Cents>,
    pay_with: Option<PayWith>,
) -> Result<()> {
    let offer = find_of_buyer(writer, buyer, id)?;
    offer_changes::check(&offer, OfferOperation::Change)?;
    let (amount, pay_with) = (amount.unwrap_or(offer.amount), pay_with.unwrap_or(offer.pay_with));
    wallet::check_amount(amount, MAX_AMOUNT)?;
    if (amount, pay_with) == (offer.amount, offer.pay_with) {
        return Ok(());
    }
    store::offers::update_terms(writer.rows, offer.row_id, amount, pay_with, writer.now)?;
    let changed = OfferRow { amount, pay_with, ..offer };
    offer_changes::emit(writer, &changed, OfferOperation::Change, actor)
}

/// Withdraws a submitted offer, for its buyer.
pub fn withdraw(writer: &mut Writer, buyer: &Buyer, actor: Actor, id: Uuid) -> Result<()> {
    let offer = find_of_buyer(writer, buyer, id)?;
    offer_changes::transition(writer, &offer, OfferOperation::Withdraw, actor)
}

/// Declines a submitted offer, for the vendor of the listing.
pub fn decline(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<()> {
    let offer = find_of_vendor(writer, vendor, id)?;
    offer_changes::transition(writer, &offer, OfferOperation::Decline, actor)
}

/// Accepts a submitted offer on a published listing, for its vendor. This creates a purchase at the amount of
/// the offer. It is completed at once if the buyer pays with credits and has enough of them; otherwise it waits
/// for the payment of an invoice. The vendor cannot tell why it waits. Returns the ID of the purchase.
pub fn accept(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<Uuid> {
    let offer = find_of_vendor(writer, vendor, id)?;
    offer_changes::check(&offer, OfferOperation::Accept)?;
    if offer.listing_status != CatalogStatus::Published {
        let message = "The listing is not in the catalog. Publish it again, then accept the offer.";
        return Err(Error::Conflict(message.to_owned()));
    }
    if !offer.buyer_may_buy {
        let message = "The bidder can no longer buy. Decline the offer.";
        return Err(Error::Conflict(message.to_owned()));
    }
    let listing = store::listings::find_by_row_id(writer.rows, offer.listing)?
        .ok_or_else(|| Error::internal("the listing of an offer does not exist"))?;
    let sale = purchases::Sale {
        listing: &listing,
        buyer: offer.buyer,
        kind: PurchaseKind::AcceptedBid,
        offer: Some(offer.row_id),
        scope: AssetScope { mode: ScopeMode::All, asset_ids: Vec::new() },
        price: offer.amount,
        pay_with: offer.pay_with,
    };
    let total = purchases::charges(writer, offer.amount).total();
    let has_credits = ledger::has_credits(writer, offer.buyer, total)?;
    let pay_with = if has_credits { offer.pay_with } else { PayWith::Invoice };
    let sale = purchases::Sale { pay_with, ..sale };
    purchases::check_sale(writer.rows, &sale)?;
    offer_changes::transition(writer, &offer, OfferOperation::Accept, actor)?;
    Ok(purchases::start(writer, actor, &sale)?.id)
}

/// Ends an offer that was not decided in time. This is the due step [`StepKind::OfferExpires`]. Does nothing if
/// the offer was decided.
pub fn expire(writer: &mut Writer, row_id: OfferRowId) -> Result<()> {
    match store::offers::find_by_row_id(writer.rows, row_id)? {
        Some(offer) if offer.status == OfferStatus::Submitted => {
            offer_changes::transition(writer, &offer, OfferOperation::Expire, Actor::System)
        }
        _ => Ok(()),
    }
}

fn find_of_buyer(writer: &Writer, buyer: &Buyer, id: Uuid) -> Result<OfferRow> {
    let found = store::offers::find(writer.rows, id)?.filter(|offer| offer.buyer == buyer.team_row_id());
    found.ok_or_else(|| Error::not_found("offer"))
}

fn find_of_vendor(writer: &Writer, vendor: &Vendor, id: Uuid) -> Result<OfferRow> {
    let found = store::offers::find(writer.rows, id)?.filter(|offer| offer.vendor == vendor.team_row_id());
    found.ok_or_else(|| Error::not_found("offer"))
}
