//! Purchases: buyers buy listings, samples, and selections of assets, and the platform completes and refunds.
//!
//! The price, the fees, the terms, and the covered assets of a purchase are fixed at its creation. `selections` prices the
//! assets that a buyer selects, and `offers` creates the purchases of accepted offers.

use uuid::Uuid;

use super::{
    access::{Buyer, Platform},
    agreements, attestations, bundles, exclusive_sales, exclusivity,
    ledger::{self, RefundPart, SaleToPost},
    listings, notifications,
    proposed_sales::Sale,
    purchase_changes, selections,
};
use crate::{
    domain::{
        collections::Collection,
        due_steps::StepKind,
        events::EventData,
        ledger::{PaymentSource, SaleTerms},
        listings::Actor,
        money::Cents,
        notifications::NotificationType,
        purchases::{
            AssetScope, Charges, PayWith, PurchaseKind, PurchaseOperation, PurchaseStatus, ScopeMode,
        },
        record_filters::RecordFilter,
        row_ids::PurchaseRowId,
        written,
    },
    error::{Error, Problem, Result, StateCode, refusal},
    market::{CheckContext, Reader, Writer},
    store::{
        self,
        listings::ListingRow,
        purchases::{NewPurchase, Purchase, PurchaseRow},
    },
};

/// Returns the purchases of the team that a filter allows, newest first: the completed ones unless it states other
/// statuses.
pub fn list(reader: &Reader, buyer: &Buyer, filter: &RecordFilter) -> Result<Vec<Purchase>> {
    store::purchases::list(reader.rows, buyer.team_row_id(), filter)
}

/// What a buyer wants to buy.
#[derive(Clone, Copy, Debug)]
pub struct PurchaseInput<'a> {
    /// ID of the listing.
    pub listing: Uuid,
    /// The listing, or its sample. Purchases by an accepted bid are made by accepting an offer.
    pub kind: PurchaseKind,
    /// IDs of the selected assets, at most [`MAX_SELECTED_ASSETS`](crate::domain::purchases::MAX_SELECTED_ASSETS);
    /// `None` for all assets of the listing.
    pub asset_ids: Option<&'a [Uuid]>,
    /// How the buyer pays.
    pub pay_with: PayWith,
}

/// Buys a published listing, its sample, or a selection of its assets.
///
/// With credits the purchase is completed at once, and so is one that is free. With an invoice it is pending
/// until the platform completes it, or for `purchases.pending_days`.
pub fn create(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    input: &PurchaseInput,
) -> Result<PurchaseRow> {
    create_at_price(writer, buyer, actor, input, None)
}

/// Like [`create`], at a price that is not the present one, because the purchase is recorded later.
pub fn create_at_price(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    input: &PurchaseInput,
    earlier_price: Option<Cents>,
) -> Result<PurchaseRow> {
    let listing = listings::find_on_sale(writer.rows, buyer, input.listing)?;
    let sale = checked_sale(writer.rows, buyer, &listing, input, earlier_price)?;
    start(writer, actor, &sale)
}

/// Returns the sale that a purchase of a listing on sale would make, and checks that nothing forbids it. Whether the
/// buyer has enough credits is checked when it pays.
pub fn checked_sale<'a>(
    rows: &store::Reader,
    buyer: &Buyer,
    listing: &'a ListingRow,
    input: &PurchaseInput,
    earlier_price: Option<Cents>,
) -> Result<Sale<'a>> {
    let (mode, asset_ids) = check_scope(listing, input)?;
    let listed_price = earlier_price.map_or_else(|| listed_price(listing, input.kind), Ok)?;
    let price = match mode {
        ScopeMode::Selection => {
            let price = selections::price(rows, listing, asset_ids, listed_price)?;
            earlier_price.unwrap_or(price)
        }
        ScopeMode::All | ScopeMode::Sample => listed_price,
    };
    let sale = Sale {
        listing,
        buyer: buyer.team_row_id(),
        kind: input.kind,
        offer: None,
        scope: AssetScope { mode, asset_ids: asset_ids.to_vec() },
        price,
        pay_with: input.pay_with,
    };
    check_sale(rows, &sale)?;
    Ok(sale)
}

fn check_scope<'a>(listing: &ListingRow, input: &PurchaseInput<'a>) -> Result<(ScopeMode, &'a [Uuid])> {
    let invalid = |field, rule: &str| Err(Error::invalid(Problem::body(&[field], "value_error", rule)));
    match (input.kind, input.asset_ids) {
        (PurchaseKind::AcceptedBid, _) => {
            invalid("kind", "A purchase by an accepted bid is made by the vendor, who accepts an offer.")
        }
        (PurchaseKind::Sample, Some(_)) => {
            invalid("asset_ids", "A sample is of the whole listing. Leave out `asset_ids`.")
        }
        (PurchaseKind::Sample, None) => Ok((ScopeMode::Sample, &[])),
        (PurchaseKind::Full, None) => Ok((ScopeMode::All, &[])),
        (PurchaseKind::Full, Some(_)) if listing.is_exclusive => {
            let message = "The listing is only sold as a whole. Leave out `asset_ids`.";
            Err(Error::Conflict(message.to_owned()))
        }
        (PurchaseKind::Full, Some(asset_ids)) => Ok((ScopeMode::Selection, asset_ids)),
    }
}

/// Returns the price of a listing, or that of its sample.
fn listed_price(listing: &ListingRow, kind: PurchaseKind) -> Result<Cents> {
    let (price, message) = if kind == PurchaseKind::Sample {
        (listing.sample_price, "The listing offers no sample.")
    } else {
        (listing.price, "The listing has no price at which it can be bought. Bid on it, if it accepts bids.")
    };
    price.ok_or_else(|| Error::Conflict(message.to_owned()))
}

/// Returns the error for accepting a bid of a team that can no longer buy. It is the same in all cases, since the vendor must not
/// learn that the bidder bought the listing.
pub(super) fn bidder_cannot_buy() -> Error {
    Error::Conflict("The bidder can no longer buy. Decline the bid.".to_owned())
}

/// Checks that no earlier purchase forbids a sale: the buyer has no pending or completed purchase of the same kind, and no
/// asset was sold exclusively.
pub fn check_sale(rows: &store::Reader, sale: &Sale) -> Result<()> {
    let is_of_data = sale.kind.is_of_data();
    if let Some(id) = store::purchases::find_in_effect(rows, sale.buyer, sale.listing.row_id, is_of_data)? {
        let of = match sale.kind {
            PurchaseKind::Sample => "sample",
            PurchaseKind::Full => "listing",
            PurchaseKind::AcceptedBid => return Err(bidder_cannot_buy()),
        };
        return Err(Error::Conflict(format!(
            "The team already has a purchase of this {of} that is pending or completed: {id}."
        )));
    }
    exclusivity::check_sale(rows, sale.listing, is_of_data)
}

/// Whether the purchase can be completed at once: it is paid with credits, or costs nothing.
pub fn completes_at_once(charges: Charges, pay_with: PayWith) -> bool {
    charges.total().0 == 0 || pay_with == PayWith::Credits
}

/// Creates the purchase of a checked sale, and completes it if possible.
pub fn start(writer: &mut Writer, actor: Actor, sale: &Sale) -> Result<PurchaseRow> {
    let proposal = agreements::propose(writer.rows, writer.settings, sale)?;
    let purchase = insert(writer, sale, proposal.charges)?;
    purchase_changes::emit_to_buyer(writer, &purchase, actor, EventData::PurchaseCreated)?;
    if completes_at_once(purchase.charges, purchase.pay_with) {
        return complete_paid(writer, purchase, &proposal.text, actor);
    }
    agreements::keep(writer, &purchase, &proposal.text)?;
    let pending_days = i64::from(writer.settings.purchases.pending_days);
    writer.schedule(StepKind::PurchaseExpires, purchase.row_id, writer.now.plus_days(pending_days))?;
    Ok(purchase)
}

fn insert(writer: &Writer, sale: &Sale, charges: Charges) -> Result<PurchaseRow> {
    let listing = sale.listing;
    let new = NewPurchase {
        id: writer.new_id(Collection::Purchases),
        listing: listing.row_id,
        buyer: sale.buyer,
        kind: sale.kind,
        offer: sale.offer,
        scope: &sale.scope,
        pay_with: sale.pay_with,
        is_exclusive: sale.is_exclusive(),
        price: charges.price,
        buyer_fee: charges.buyer_fee,
        platform_fee: charges.platform_fee,
        created_at: writer.now,
    };
    let row_id = store::purchases::insert(writer.rows, &new)?;
    let inserted = store::purchases::find_by_row_id(writer.rows, row_id)?;
    inserted.ok_or_else(|| Error::internal("the purchase was not stored"))
}

/// Completes a pending purchase whose invoice was paid.
pub fn complete(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<PurchaseRow> {
    let purchase = find(writer.rows, platform, id)?;
    purchase_changes::check(&purchase, PurchaseOperation::Complete)?;
    check_completion(writer.rows, &purchase)?;
    writer.unschedule(StepKind::PurchaseExpires, purchase.row_id)?;
    let terms = agreements::take(writer, &purchase)?;
    complete_paid(writer, purchase, &terms, actor)
}

/// Returns why a pending purchase cannot be completed now; `None` if it can, or if it is not pending.
pub fn why_not_completable(rows: &store::Reader, purchase: &PurchaseRow) -> Result<Option<String>> {
    if purchase.status != PurchaseStatus::Pending {
        return Ok(None);
    }
    refusal(check_completion(rows, purchase))
}

/// Fails if another sale forbids that a purchase is completed.
fn check_completion(rows: &store::Reader, purchase: &PurchaseRow) -> Result<()> {
    if purchase.kind.is_of_data() { exclusivity::check_completion(rows, purchase) } else { Ok(()) }
}

/// Takes the payment of a purchase, makes the agreement from the terms that the buyer agreed to, fixes the delivery, and
/// carries out an exclusive sale.
fn complete_paid(
    writer: &mut Writer,
    purchase: PurchaseRow,
    terms: &str,
    actor: Actor,
) -> Result<PurchaseRow> {
    let status = purchase_changes::check(&purchase, PurchaseOperation::Complete)?;
    pay(writer, &purchase)?;
    let agreement = writer.new_id(Collection::AgreementDocuments);
    store::purchases::set_completed(writer.rows, purchase.row_id, agreement, writer.now)?;
    let purchase = PurchaseRow { status, paid_at: Some(writer.now), ..purchase };
    agreements::sign(writer, &purchase, terms, agreement)?;
    bundles::fix(writer, &purchase)?;
    purchase_changes::emit_to_buyer(writer, &purchase, actor, EventData::PurchaseCompleted)?;
    purchase_changes::emit_to_vendor(writer, &purchase, actor, EventData::PurchaseCompleted)?;
    notify_vendor(writer, &purchase)?;
    if purchase.is_exclusive {
        exclusive_sales::record(writer, &purchase)?;
    }
    Ok(purchase)
}

fn pay(writer: &Writer, purchase: &PurchaseRow) -> Result<()> {
    let Charges { price, buyer_fee, platform_fee } = purchase.charges;
    let source = match purchase.pay_with {
        PayWith::Credits => PaymentSource::Credits,
        PayWith::Invoice => PaymentSource::Invoice,
    };
    let (buyer, vendor) = (purchase.buyer, purchase.vendor);
    let terms = SaleTerms { kind: purchase.kind, buyer, vendor, price, buyer_fee, platform_fee, source };
    let sale = SaleToPost { purchase: purchase.row_id, title: &purchase.listing_title, terms };
    ledger::post_sale(writer, &sale)?;
    Ok(())
}

fn notify_vendor(writer: &Writer, purchase: &PurchaseRow) -> Result<()> {
    let (name, proceeds) = (&purchase.listing_title, written::money(purchase.charges.proceeds()));
    let what = if purchase.kind == PurchaseKind::Sample { "The sample of " } else { "" };
    let message = format!("{what}\u{201c}{name}\u{201d} was sold. You get {proceeds}.");
    let title = if purchase.kind == PurchaseKind::Sample { "Sample sold" } else { "Listing sold" };
    let link = format!("/selling/sales/{}", purchase.id);
    notifications::send(writer, purchase.vendor, NotificationType::SaleCompleted, (title, &message), &link)
}

/// Cancels a pending purchase. If it comes from an offer, the offer stays accepted.
pub fn cancel(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<()> {
    let purchase = find(writer.rows, platform, id)?;
    purchase_changes::cancel(writer, &purchase, actor)
}

/// Cancels a purchase that was not paid in time. This is the due step [`StepKind::PurchaseExpires`]. Does
/// nothing if the purchase is not pending.
pub fn expire(writer: &mut Writer, row_id: PurchaseRowId) -> Result<()> {
    match store::purchases::find_by_row_id(writer.rows, row_id)? {
        Some(purchase) if purchase.status == PurchaseStatus::Pending => {
            purchase_changes::cancel(writer, &purchase, Actor::System)
        }
        _ => Ok(()),
    }
}

/// Refunds a completed purchase, within `purchases.refund_days` of its completion. All its postings are undone, and its bundle is
/// no longer delivered.
/// If it was an exclusive sale, its codebases are available again, and listings that were archived because of it
/// can be restored; nothing is published again.
pub fn refund(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<PurchaseRow> {
    let purchase = find(writer.rows, platform, id)?;
    let status = purchase_changes::check(&purchase, PurchaseOperation::Refund)?;
    check_refund_window(&writer.check_context(), &purchase)?;
    ledger::post_refund(writer, purchase.row_id, &purchase.listing_title)?;
    store::purchases::set_refunded(writer.rows, purchase.row_id, writer.now)?;
    let purchase = PurchaseRow { status, ..purchase };
    bundles::release(writer, &purchase)?;
    attestations::report_refund(writer, &purchase)?;
    if purchase.is_exclusive {
        exclusive_sales::reverse(writer, &purchase)?;
    }
    purchase_changes::emit_to_buyer(writer, &purchase, actor, EventData::PurchaseRefunded)?;
    purchase_changes::emit_to_vendor(writer, &purchase, actor, EventData::PurchaseRefunded)?;
    Ok(purchase)
}

/// Returns the entries that the refund of a completed purchase would post now. Fails as the refund would.
pub fn preview_refund(reader: &Reader, platform: Platform, id: Uuid) -> Result<Vec<RefundPart>> {
    let purchase = find(reader.rows, platform, id)?;
    check_refund_window(&reader.check_context(), &purchase)?;
    ledger::preview_refund(reader, purchase.row_id)
}

/// Fails if a purchase was completed too long ago to be refunded.
fn check_refund_window(context: &CheckContext, purchase: &PurchaseRow) -> Result<()> {
    let days = context.settings.purchases.refund_days;
    let Some(paid_at) = purchase.paid_at.filter(|at| context.now > at.plus_days(days.into())) else {
        return Ok(());
    };
    let days = written::counted(days.into(), "day", "days");
    let message = format!(
        "A purchase can be refunded for {days} after its completion. This one was completed at {paid_at}."
    );
    Err(Error::InvalidState(StateCode::RefundWindowClosed, message))
}

/// Returns the purchase of any team with this ID.
pub fn find(rows: &store::Reader, _platform: Platform, id: Uuid) -> Result<PurchaseRow> {
    store::purchases::find(rows, id)?.ok_or_else(|| Error::not_found("purchase"))
}

/// Returns the purchase with this ID if the team made it.
pub(super) fn find_own(rows: &store::Reader, buyer: &Buyer, id: Uuid) -> Result<PurchaseRow> {
    let found = store::purchases::find(rows, id)?.filter(|purchase| purchase.buyer == buyer.team_row_id());
    found.ok_or_else(|| Error::not_found("purchase"))
}
