//! Offers: bids of buyers on listings.

use super::purchases::ACCEPTANCE_EVENTS;
use crate::{
    domain::{offers::OfferStatus, purchases::PayWith, teams::Team},
    operations::offers::{self, OfferInput},
    rest::operator_api::prelude::*,
    store::{self, records::offers::OFFERS},
};

/// A bid of a buyer on a listing.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Offer")]
pub struct OfferOut {
    /// ID of the offer.
    pub id: Uuid,
    /// ID of the buyer.
    pub team_id: Uuid,
    /// ID of the vendor of the listing.
    pub vendor_team_id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Amount offered, before fees.
    pub amount: Money,
    /// Currency of the amount.
    pub currency: EnumValue<Currency>,
    /// How the buyer pays if the offer is accepted. The vendor does not learn it.
    pub pay_with: EnumValue<PayWith>,
    /// State of the offer.
    pub status: EnumValue<OfferStatus>,
    /// ID of the purchase that the offer led to; null unless accepted.
    pub purchase_id: Option<Uuid>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the last change.
    pub updated_at: UtcTime,
    /// Time at which the offer expires unless it is decided before; null if it was decided.
    pub expires_at: Option<UtcTime>,
    /// Time at which the offer was decided, or expired; null while it is submitted.
    pub decided_at: Option<UtcTime>,
}

// Accepting and declining is up to the vendor, but the offer is the buyer's.
resource!(OfferOut: Uuid, OFFERS, "offer", id, team_id);

page_of! {
    /// A page of offers.
    OfferPage, OfferOut
}

/// What the list of offers can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct OfferFilters {
    /// ID of the buyer.
    team_id: Option<Uuid>,
    /// ID of the vendor of the listing.
    vendor_team_id: Option<Uuid>,
    /// ID of the listing.
    listing_id: Option<Uuid>,
    /// State of the offer.
    status: Option<EnumValue<OfferStatus>>,
}

/// An offer to make in the name of a buyer.
#[derive(Debug, Object)]
pub struct OfferIn {
    /// ID of the buyer.
    team_id: MaybeInvalid<Uuid>,
    /// ID of the listing, which must be in the catalog and accept bids.
    listing_id: MaybeInvalid<Uuid>,
    /// Amount offered, before fees: at least 0.01, at most 100 million.
    amount: MaybeInvalid<Amount>,
    /// Currency of the amount; US dollars if absent.
    currency: Option<EnumValue<Currency>>,
    /// How the buyer pays if the offer is accepted.
    pay_with: MaybeInvalid<EnumValue<PayWith>>,
}

/// Changes to an offer. Fields that are absent stay as they are.
#[derive(Debug, Object)]
pub struct OfferPatch {
    /// New amount: at least 0.01, at most 100 million.
    amount: Omittable<Amount>,
    /// Currency of the amount; US dollars if absent.
    currency: Option<EnumValue<Currency>>,
    /// How the buyer pays if the offer is accepted.
    pay_with: Omittable<EnumValue<PayWith>>,
}

#[routes(prefix = "/operator/v1", tag = Sales)]
impl OffersApi {
    /// List offers
    ///
    /// Returns the offers of all buyers, newest first.
    #[get(
        "/offers",
        routes::list(&[
            "status=submitted&limit=2",
            "team_id=57d9aaca-90f7-528c-aff6-0b974cabd171",
            "vendor_team_id=d16976a0-9c51-5248-afa1-7e0552589e1a",
            "listing_id=00000000-0000-0000-0000-000000000000",
        ]),
    )]
    async fn list_offers(
        call: Call<Operator>,
        query: Params<ListQuery<OfferFilters>>,
    ) -> JsonResult<OfferPage> {
        pages::list(call, query).await
    }

    /// Create an offer
    ///
    /// Bids on a listing in the name of a buyer, who can have one submitted offer on it. The vendor is notified. No
    /// money is taken or reserved.
    #[post(
        "/offers",
        routes::create(Actor::Team, &[EventType::OfferSubmitted]).with_conflicts(&[Code::NoLongerAvailable]),
    )]
    async fn create_offer(
        change: Change,
        #[example(json!({
                    "team_id": DEMO_BUYER,
                    "listing_id": "2085ad4d-b804-5052-af40-59ece54ab394",
                    "amount": "3500.00",
                    "pay_with": "invoice",
                }))]
        body: Body<OfferIn>,
    ) -> JsonResult<OfferOut, 201> {
        changes::post_body(change, body, |writer, platform, body: OfferIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?);
            let listing =
                references::listing_on_sale(writer.rows, "listing_id", body.listing_id.into_valid()?);
            let (team, listing) = references::both(team, listing)?;
            let input = OfferInput {
                listing: listing.id,
                amount: body.amount.into_valid()?.0,
                pay_with: body.pay_with.into_valid()?.0,
            };
            offers::submit(writer, &references::buyer(platform, team)?, Actor::Team, &input)
        })
        .await
    }

    /// Get an offer
    ///
    /// Returns an offer.
    #[get("/offers/{offer_id}", routes::get("offers"))]
    async fn get_offer(call: Call<Operator>, offer_id: Path<Uuid>) -> JsonResult<OfferOut> {
        resources::get(call, offer_id.0).await
    }

    /// Update an offer
    ///
    /// Changes a submitted offer in the name of its buyer. It keeps its ID, and expires at the same time.
    #[patch(
        "/offers/{offer_id}",
        routes::transition("offers", Actor::Team, &[EventType::OfferChanged]),
    )]
    async fn update_offer(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        offer_id: Path<Uuid>,
        #[example(json!({"amount": "3650.00"}))] body: Body<OfferPatch>,
    ) -> JsonResult<OfferOut> {
        changes::patch(call, if_match, offer_id.0, body, |writer, platform, id, patch: OfferPatch| {
            let buyer = references::buyer(platform, buyer_of(writer, platform, id)?)?;
            let (amount, pay_with) =
                (patch.amount.0.map(|amount| amount.0), patch.pay_with.0.map(|how| how.0));
            offers::change(writer, &buyer, Actor::Team, *id, amount, pay_with)
        })
        .await
    }

    /// Withdraw an offer
    ///
    /// Withdraws a submitted offer in the name of its buyer.
    #[post(
        "/offers/{offer_id}/withdraw",
        routes::transition("offers", Actor::Team, &[EventType::OfferWithdrawn]),
    )]
    async fn withdraw_offer(change: Change, offer_id: Path<Uuid>) -> JsonResult<OfferOut> {
        changes::transition(change, offer_id, |writer, platform, actor, id| {
            let buyer = platform.former_buyer(buyer_of(writer, platform, &id)?)?;
            offers::withdraw(writer, &buyer, actor, id)
        })
        .await
    }

    /// Accept an offer
    ///
    /// Accepts a submitted offer in the name of the vendor. This makes a purchase, which `purchase_id` identifies:
    /// completed if the buyer pays with credits and has enough, otherwise pending until its invoice is paid.
    #[post(
        "/offers/{offer_id}/accept",
        routes::transition("offers", Actor::Team, ACCEPTANCE_EVENTS)
            .with_conflicts(&[Code::InsufficientCredits, Code::NoLongerAvailable]),
    )]
    async fn accept_offer(change: Change, offer_id: Path<Uuid>) -> JsonResult<OfferOut> {
        changes::transition(change, offer_id, |writer, platform, actor, id| {
            let vendor = platform.vendor(vendor_of(writer, platform, &id)?)?;
            offers::accept(writer, &vendor, actor, id)
        })
        .await
    }

    /// Decline an offer
    ///
    /// Declines a submitted offer in the name of the vendor. The buyer is notified.
    #[post(
        "/offers/{offer_id}/decline",
        routes::transition("offers", Actor::Team, &[EventType::OfferDeclined]),
    )]
    async fn decline_offer(change: Change, offer_id: Path<Uuid>) -> JsonResult<OfferOut> {
        changes::transition(change, offer_id, |writer, platform, actor, id| {
            let vendor = platform.vendor(vendor_of(writer, platform, &id)?)?;
            offers::decline(writer, &vendor, actor, id)
        })
        .await
    }
}

/// Returns the buyer of an offer.
fn buyer_of(writer: &Writer, platform: Platform, offer: &Uuid) -> Result<Team> {
    let offer: OfferOut = records::find(writer.rows, platform, offer)?;
    existing_team(writer, offer.team_id)
}

/// Returns the vendor of the listing of an offer.
fn vendor_of(writer: &Writer, platform: Platform, offer: &Uuid) -> Result<Team> {
    let offer: OfferOut = records::find(writer.rows, platform, offer)?;
    existing_team(writer, offer.vendor_team_id)
}

fn existing_team(writer: &Writer, id: Uuid) -> Result<Team> {
    store::teams::find(writer.rows, id)?.ok_or_else(|| Error::internal("the team of an offer does not exist"))
}
