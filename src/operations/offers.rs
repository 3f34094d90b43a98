//! Offers: buyers bid on listings, and vendors decide.
//!
//! An offer takes no money. Credits are not reserved, and the vendor never learns who bids, nor how the bidder
//! pays. If the bidder signed the terms, the offer can be accepted only while these terms hold.

use uuid::Uuid;

use super::{
    access::{Buyer, Vendor},
    agreements, exclusivity, ledger, listings, notifications, offer_changes,
    proposed_sales::{self, Sale},
    purchases, wallet,
};
use crate::{
    config::Settings,
    domain::{
        collections::Collection,
        due_steps::StepKind,
        listings::{Actor, CatalogStatus, ListingRowId},
        money::Cents,
        notifications::NotificationType,
        offers::{MAX_AMOUNT, OfferOperation, OfferStatus},
        purchases::{AssetScope, PayWith, PurchaseKind, ScopeMode},
        record_filters::RecordFilter,
        row_ids::OfferRowId,
        teams::TeamRowId,
        written,
    },
    error::{Error, Result, refusal},
    market::{CheckContext, Reader, Writer},
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

/// Returns the listing of a bid, and checks that the buyer can make the bid now.
pub fn check_bid(rows: &store::Reader, buyer: &Buyer, input: &OfferInput) -> Result<ListingRow> {
    wallet::check_amount(input.amount, MAX_AMOUNT)?;
    let listing = listings::find_on_sale(rows, buyer, input.listing)?;
    if !listing.accepts_bids {
        let message = "The listing does not accept bids. Buy it at its price instead.";
        return Err(Error::Conflict(message.to_owned()));
    }
    if let Some(offer) = store::offers::find_submitted(rows, buyer.team_row_id(), listing.row_id)? {
        return Err(Error::Conflict(format!(
            "The team already has a submitted offer on this listing, {offer}. Change or withdraw that one."
        )));
    }
    check_not_bought(rows, buyer, listing.row_id, "")?;
    exclusivity::check_bids(rows, &listing)?;
    Ok(listing)
}

/// Fails if the team has bought the listing, since its bid could not be accepted. `advice` says what to do.
fn check_not_bought(rows: &store::Reader, buyer: &Buyer, listing: ListingRowId, advice: &str) -> Result<()> {
    match store::purchases::find_in_effect(rows, buyer.team_row_id(), listing, true)? {
        None => Ok(()),
        Some(purchase) => Err(Error::Conflict(format!(
            "The team already has a purchase of this listing that is pending or completed: {purchase}.{advice}"
        ))),
    }
}

/// Bids on a published listing that accepts bids. A buyer has at most one submitted offer on a listing. The
/// offer expires `offers.expire_days` later. Returns its ID.
pub fn submit(writer: &mut Writer, buyer: &Buyer, actor: Actor, input: &OfferInput) -> Result<Uuid> {
    let listing = check_bid(writer.rows, buyer, input)?;
    let offer = insert(writer, buyer, &listing, input)?;
    let expire_days = writer.settings.offers.expire_days;
    writer.schedule(StepKind::OfferExpires, offer.row_id, offer.created_at.plus_days(expire_days.into()))?;
    offer_changes::emit_submitted(writer, &offer, actor)?;
    let name = &listing.title;
    let amount = written::money(offer.amount);
    let days = written::counted(expire_days.into(), "day", "days");
    let message = format!("A buyer bid {amount} on \u{201c}{name}\u{201d}. It expires in {days}.");
    let (title, link) = (format!("New bid on {name}"), format!("/selling/bids/{}", offer.id));
    notifications::send(writer, listing.team, NotificationType::OfferReceived, (&title, &message), &link)?;
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
    let row_id = store::offers::insert(writer.rows, &new)?;
    store::offers::find_by_row_id(writer.rows, row_id)?
        .ok_or_else(|| Error::internal("the offer was not stored"))
}

/// Records that the buyer of a new offer signed what has this digest.
pub fn sign(writer: &Writer, offer: Uuid, digest: &str) -> Result<()> {
    store::offers::set_signed(writer.rows, offer, digest)
}

/// Returns an offer of the team that can be changed to this amount, and its listing.
pub fn check_change(
    rows: &store::Reader,
    buyer: &Buyer,
    id: Uuid,
    amount: Cents,
) -> Result<(OfferRow, ListingRow)> {
    let offer = find_changeable(rows, buyer, id)?;
    wallet::check_amount(amount, MAX_AMOUNT)?;
    let listing = listing_of(rows, &offer)?;
    Ok((offer, listing))
}

/// Changes the amount of a submitted offer, and how the buyer pays. `None` leaves a value as it is. The offer
/// keeps its ID and the time of its expiry. Terms that the buyer signed before no longer count.
pub fn change(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    id: Uuid,
    amount: Option<Cents>,
    pay_with: Option<PayWith>,
) -> Result<()> {
    let offer = find_changeable(writer.rows, buyer, id)?;
    let (amount, pay_with) = (amount.unwrap_or(offer.amount), pay_with.unwrap_or(offer.pay_with));
    wallet::check_amount(amount, MAX_AMOUNT)?;
    if (amount, pay_with) == (offer.amount, offer.pay_with) {
        return Ok(());
    }
    update(writer, &OfferRow { amount, pay_with, signed: None, ..offer }, actor)
}

/// Changes a submitted offer to the terms with this digest, which the buyer signed.
pub fn change_signed(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    id: Uuid,
    (amount, pay_with): (Cents, PayWith),
    digest: &str,
) -> Result<()> {
    let (offer, _) = check_change(writer.rows, buyer, id, amount)?;
    if (amount, pay_with, Some(digest)) == (offer.amount, offer.pay_with, offer.signed.as_deref()) {
        return Ok(());
    }
    update(writer, &OfferRow { amount, pay_with, signed: Some(digest.to_owned()), ..offer }, actor)
}

fn update(writer: &Writer, changed: &OfferRow, actor: Actor) -> Result<()> {
    store::offers::update_terms(writer.rows, changed, writer.now)?;
    offer_changes::emit(writer, changed, OfferOperation::Change, actor)
}

/// Withdraws a submitted offer, for its buyer.
pub fn withdraw(writer: &mut Writer, buyer: &Buyer, actor: Actor, id: Uuid) -> Result<()> {
    let offer = find_of_buyer(writer.rows, buyer, id)?;
    offer_changes::transition(writer, &offer, OfferOperation::Withdraw, actor)
}

/// Declines a submitted offer, for the vendor of the listing.
pub fn decline(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<()> {
    let offer = find_of_vendor(writer.rows, vendor, id)?;
    offer_changes::transition(writer, &offer, OfferOperation::Decline, actor)
}

/// Accepts a submitted offer on a published listing, for its vendor. This creates a purchase at the amount of the offer. It is
/// completed at once if the buyer pays with credits and has enough of them; otherwise it waits for the payment of an invoice.
/// The vendor cannot tell why it waits. Fails if the signed terms have changed since. Returns the ID of the purchase.
pub fn accept(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<Uuid> {
    let offer = find_of_vendor(writer.rows, vendor, id)?;
    let listing = check_acceptable(&writer.check_context(), &offer)?;
    let total = proposed_sales::charges(writer.settings, offer.amount).total();
    let has_credits = ledger::has_credits(writer, offer.buyer, total)?;
    let pay_with = if has_credits { offer.pay_with } else { PayWith::Invoice };
    let sale = Sale { pay_with, ..sale_of(&offer, &listing) };
    offer_changes::transition(writer, &offer, OfferOperation::Accept, actor)?;
    Ok(purchases::start(writer, actor, &sale)?.id)
}

/// Returns why the vendor of the listing cannot accept a submitted offer now; `None` if it can, or if the offer was decided.
pub fn why_not_acceptable(context: &CheckContext, vendor: &Vendor, id: Uuid) -> Result<Option<String>> {
    let offer = find_of_vendor(context.rows, vendor, id)?;
    if offer.status != OfferStatus::Submitted {
        return Ok(None);
    }
    refusal(check_acceptable(context, &offer))
}

/// Returns the listing of an offer. Fails if the offer cannot be accepted now.
fn check_acceptable(context: &CheckContext, offer: &OfferRow) -> Result<ListingRow> {
    let CheckContext { rows, settings, .. } = *context;
    offer_changes::check(offer, OfferOperation::Accept)?;
    if offer.listing_status != CatalogStatus::Published {
        let message = "The listing is not in the catalog. Publish it again, then accept the bid.";
        return Err(Error::Conflict(message.to_owned()));
    }
    if !offer.buyer_may_buy {
        return Err(purchases::bidder_cannot_buy());
    }
    let listing = listing_of(rows, offer)?;
    let sale = sale_of(offer, &listing);
    if is_outdated(rows, settings, offer, &sale)? {
        let message = "What the bidder agreed to has changed since its bid, such as the terms or the assets of the listing. \
                       The bid can be accepted when the bidder has confirmed it.";
        return Err(Error::Conflict(message.to_owned()));
    }
    purchases::check_sale(rows, &sale)?;
    Ok(listing)
}

/// Returns the sale that an accepted bid at this price leads to.
pub const fn sale(listing: &ListingRow, buyer: TeamRowId, price: Cents, pay_with: PayWith) -> Sale<'_> {
    Sale {
        listing,
        buyer,
        kind: PurchaseKind::AcceptedBid,
        offer: None,
        scope: AssetScope { mode: ScopeMode::All, asset_ids: Vec::new() },
        price,
        pay_with,
    }
}

fn sale_of<'a>(offer: &OfferRow, listing: &'a ListingRow) -> Sale<'a> {
    Sale { offer: Some(offer.row_id), ..sale(listing, offer.buyer, offer.amount, offer.pay_with) }
}

/// Whether what the buyer signed has changed since.
fn is_outdated(rows: &store::Reader, settings: &Settings, offer: &OfferRow, sale: &Sale) -> Result<bool> {
    let Some(signed) = &offer.signed else { return Ok(false) };
    Ok(agreements::propose(rows, settings, sale)?.digest != *signed)
}

/// Why the vendor cannot accept a submitted offer now, for its buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The listing is not in the catalog.
    NotInCatalog,
    /// The team has bought the listing, with this purchase.
    Bought(Uuid),
    /// Another sale of its assets prevents that the listing is sold.
    NotForSale,
    /// The signed terms have changed since, so the team must confirm the offer.
    Unconfirmed,
}

/// Returns why the vendor cannot accept a submitted offer of the team now; `None` if nothing is known, or if the offer was
/// decided.
pub fn find_obstacle(reader: &Reader, buyer: &Buyer, id: Uuid) -> Result<Option<Obstacle>> {
    let rows = reader.rows;
    let offer = find_of_buyer(rows, buyer, id)?;
    if offer.status != OfferStatus::Submitted {
        return Ok(None);
    }
    if offer.listing_status != CatalogStatus::Published {
        return Ok(Some(Obstacle::NotInCatalog));
    }
    if let Some(purchase) = store::purchases::find_in_effect(rows, offer.buyer, offer.listing, true)? {
        return Ok(Some(Obstacle::Bought(purchase)));
    }
    let listing = listing_of(rows, &offer)?;
    if refusal(exclusivity::check_bids(rows, &listing))?.is_some() {
        return Ok(Some(Obstacle::NotForSale));
    }
    let is_outdated = is_outdated(rows, reader.settings, &offer, &sale_of(&offer, &listing))?;
    Ok(is_outdated.then_some(Obstacle::Unconfirmed))
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

fn listing_of(rows: &store::Reader, offer: &OfferRow) -> Result<ListingRow> {
    let found = store::listings::find_by_row_id(rows, offer.listing)?;
    found.ok_or_else(|| Error::internal("the listing of an offer does not exist"))
}

fn find_of_buyer(rows: &store::Reader, buyer: &Buyer, id: Uuid) -> Result<OfferRow> {
    let found = store::offers::find(rows, id)?.filter(|offer| offer.buyer == buyer.team_row_id());
    found.ok_or_else(|| Error::not_found("offer"))
}

/// Returns an offer of the team whose amount can be changed: a submitted one that could be accepted.
fn find_changeable(rows: &store::Reader, buyer: &Buyer, id: Uuid) -> Result<OfferRow> {
    let offer = find_of_buyer(rows, buyer, id)?;
    offer_changes::check(&offer, OfferOperation::Change)?;
    check_not_bought(rows, buyer, offer.listing, " Withdraw the bid.")?;
    exclusivity::check_bids(rows, &listing_of(rows, &offer)?)?;
    Ok(offer)
}

fn find_of_vendor(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<OfferRow> {
    let found = store::offers::find(rows, id)?.filter(|offer| offer.vendor == vendor.team_row_id());
    found.ok_or_else(|| Error::not_found("offer"))
}
