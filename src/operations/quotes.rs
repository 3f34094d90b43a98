//! Quotes: the price and the terms of a purchase before it is made. A purchase can be made on the condition that its quote
//! still holds.

use uuid::Uuid;

use super::{
    access::Buyer,
    agreements::{self, Proposal},
    listings,
    offers::{self, OfferInput},
    proposed_sales::Sale,
    purchases::{self, PurchaseInput},
};
use crate::{
    domain::{
        listings::Actor,
        money::Cents,
        purchases::{PayWith, PurchaseKind, ScopeMode},
    },
    error::{Error, Result},
    market::{CheckContext, Reader, Writer},
    store::{self, listings::ListingRow, purchases::PurchaseRow},
};

/// Which part of a listing a buyer wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All assets.
    Whole,
    /// The sample.
    Sample,
    /// The assets with these IDs.
    Selection(Vec<Uuid>),
}

/// What a buyer wants to buy of a listing, and how it pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which part.
    pub part: Part,
    /// How the buyer pays.
    pub pay_with: PayWith,
}

impl Wanted {
    const fn input(&self, listing: Uuid) -> PurchaseInput<'_> {
        let (kind, asset_ids) = match &self.part {
            Part::Whole => (PurchaseKind::Full, None),
            Part::Sample => (PurchaseKind::Sample, None),
            Part::Selection(ids) => (PurchaseKind::Full, Some(ids.as_slice())),
        };
        PurchaseInput { listing, kind, asset_ids, pay_with: self.pay_with }
    }
}

/// What a purchase would cost now, and on which terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// ID of the listing.
    pub listing: Uuid,
    /// Title of the listing.
    pub title: String,
    /// Name of the vendor.
    pub vendor: String,
    /// Whether all assets are covered, a sample of them, or selected ones.
    pub scope: ScopeMode,
    /// Number of covered assets. Of a sample, those that it is taken from.
    pub asset_count: u64,
    /// How the buyer pays.
    pub pay_with: PayWith,
    /// Price before fees.
    pub price: Cents,
    /// Fee that the buyer pays in addition to the price.
    pub buyer_fee: Cents,
    /// What the buyer pays.
    pub total: Cents,
    /// Credits that the team has.
    pub credits: Cents,
    /// Credits that the team will have left; `None` if it has too few.
    pub credits_left: Option<Cents>,
    /// Credits that the team lacks; `None` if it has enough, or pays otherwise.
    pub shortfall: Option<Cents>,
    /// Whether it is an exclusive sale: the listing then leaves the catalog, and its codebases are not sold again.
    pub is_exclusive: bool,
    /// Whether the purchase is completed at once. Otherwise it waits for the payment of an invoice.
    pub completes_at_once: bool,
    /// Days for which it waits for the payment.
    pub pending_days: u32,
    /// What the buyer agrees to, as the agreement will state it.
    pub terms: String,
    /// SHA-256 digest of all that must not change until the buyer confirms: the terms, which state the listing, the
    /// amounts, the payment, and the selected assets; which assets the listing has, with which data; and what a sample has of
    /// them.
    pub digest: String,
}

/// Returns what a purchase would cost now. Fails as the purchase would, except if the team has too few credits, which the
/// quote states.
pub fn quote(reader: &Reader, buyer: &Buyer, listing: Uuid, wanted: &Wanted) -> Result<Quote> {
    make(&reader.check_context(), buyer, listing, wanted)
}

/// Makes the purchase of a quote. Fails if the quote with this digest no longer holds. With credits the purchase is completed
/// at once, and so is one that is free; with an invoice it is pending.
pub fn buy(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    listing: Uuid,
    wanted: &Wanted,
    quote_digest: &str,
) -> Result<PurchaseRow> {
    make(&writer.check_context(), buyer, listing, wanted)?.check(quote_digest)?;
    purchases::create(writer, buyer, actor, &wanted.input(listing))
}

/// Returns what a bid would cost if the vendor accepts it, and on which terms. Fails as the bid would.
pub fn quote_bid(reader: &Reader, buyer: &Buyer, input: &OfferInput) -> Result<Quote> {
    make_bid(&reader.check_context(), buyer, input)
}

/// Makes the bid of a quote. Fails if the quote with this digest no longer holds. The vendor can accept the bid as long as the
/// quote holds. Returns the ID of the offer.
pub fn bid(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    input: &OfferInput,
    quote_digest: &str,
) -> Result<Uuid> {
    make_bid(&writer.check_context(), buyer, input)?.check(quote_digest)?;
    let offer = offers::submit(writer, buyer, actor, input)?;
    offers::sign(writer, offer, quote_digest)?;
    Ok(offer)
}

/// Returns what a submitted bid of the team would cost after a change if the vendor accepts it, and on which terms. Fails as the
/// change would.
pub fn quote_change(
    reader: &Reader,
    buyer: &Buyer,
    offer: Uuid,
    amount: Cents,
    pay_with: PayWith,
) -> Result<Quote> {
    make_change(&reader.check_context(), buyer, offer, amount, pay_with)
}

/// Changes a submitted bid to the bid of a quote, or confirms it if both are the same. Fails if the quote with this digest no
/// longer holds.
pub fn change_bid(
    writer: &mut Writer,
    buyer: &Buyer,
    actor: Actor,
    offer: Uuid,
    (amount, pay_with): (Cents, PayWith),
    quote_digest: &str,
) -> Result<()> {
    make_change(&writer.check_context(), buyer, offer, amount, pay_with)?.check(quote_digest)?;
    offers::change_signed(writer, buyer, actor, offer, (amount, pay_with), quote_digest)
}

impl Quote {
    /// Fails unless this is the digest of the quote.
    fn check(&self, digest: &str) -> Result<()> {
        if self.digest == digest {
            return Ok(());
        }
        let message = "The price or the terms have changed since this page was made, or the assets, their data, or the \
                       sample, or you have chosen something else. Look at the amounts again.";
        Err(Error::Conflict(message.to_owned()))
    }
}

fn make(context: &CheckContext, buyer: &Buyer, listing: Uuid, wanted: &Wanted) -> Result<Quote> {
    let found = listings::find_on_sale(context.rows, buyer, listing)?;
    let sale = purchases::checked_sale(context.rows, buyer, &found, &wanted.input(listing), None)?;
    describe(context, &sale)
}

fn make_bid(context: &CheckContext, buyer: &Buyer, input: &OfferInput) -> Result<Quote> {
    let found = offers::check_bid(context.rows, buyer, input)?;
    describe_bid(context, buyer, &found, input.amount, input.pay_with)
}

fn make_change(
    context: &CheckContext,
    buyer: &Buyer,
    offer: Uuid,
    amount: Cents,
    pay_with: PayWith,
) -> Result<Quote> {
    let (_, found) = offers::check_change(context.rows, buyer, offer, amount)?;
    describe_bid(context, buyer, &found, amount, pay_with)
}

/// Describes the purchase that a bid leads to if the vendor accepts it.
fn describe_bid(
    context: &CheckContext,
    buyer: &Buyer,
    listing: &ListingRow,
    price: Cents,
    pay_with: PayWith,
) -> Result<Quote> {
    describe(context, &offers::sale(listing, buyer.team_row_id(), price, pay_with))
}

fn describe(context: &CheckContext, sale: &Sale) -> Result<Quote> {
    let Proposal { terms, charges, text, digest } =
        agreements::propose(context.rows, context.settings, sale)?;
    let (total, credits) = (charges.total(), store::wallet::balances(context.rows, sale.buyer)?.credits);
    let spent = if sale.pay_with == PayWith::Credits { total } else { Cents(0) };
    let shortfall = Some(Cents(spent.0 - credits.0)).filter(|lacking| spent.0 > 0 && lacking.0 > 0);
    Ok(Quote {
        listing: terms.listing,
        title: terms.title,
        vendor: terms.vendor,
        scope: sale.scope.mode,
        asset_count: terms.asset_count,
        pay_with: sale.pay_with,
        price: charges.price,
        buyer_fee: charges.buyer_fee,
        total,
        credits,
        credits_left: shortfall.is_none().then_some(Cents(credits.0 - spent.0)),
        shortfall,
        is_exclusive: sale.is_exclusive(),
        completes_at_once: purchases::completes_at_once(charges, sale.pay_with),
        pending_days: context.settings.purchases.pending_days,
        terms: text,
        digest,
    })
}
