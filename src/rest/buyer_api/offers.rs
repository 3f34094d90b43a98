//! Offers (bids) of a buyer.

use super::purchases::list_json;
use crate::{
    domain::{money::CURRENCY, offers::OfferStatus, record_filters::RecordFilter},
    operations::{access::Buyer, offers},
    rest::{prelude::*, route::Link, shapes::listings::ListingSummary},
    store::offers::Offer,
};

/// An offer: a bid of the team on a listing.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Offer")]
pub struct OfferOut {
    /// ID of the offer.
    pub id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// State of the offer.
    pub status: EnumValue<OfferStatus>,
    /// Price that the team offers, in US dollars.
    pub amount: f64,
    /// Currency of the amount. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the latest change.
    pub updated_at: UtcTime,
    /// Time of the decision; null while the offer waits for the vendor.
    pub decided_at: Option<UtcTime>,
}

impl From<&Offer> for OfferOut {
    fn from(offer: &Offer) -> OfferOut {
        OfferOut {
            id: offer.id,
            listing_id: offer.listing.id,
            status: EnumValue(offer.status),
            amount: offer.amount.dollars(),
            currency: CURRENCY.to_owned(),
            created_at: offer.created_at.into(),
            updated_at: offer.updated_at.into(),
            decided_at: offer.decided_at.map(UtcTime),
        }
    }
}

/// An offer, with its listing.
#[derive(Debug, Object, Serialize)]
pub struct OfferEntry {
    /// The offer.
    pub offer: OfferOut,
    /// Summary of the listing in its current state.
    pub listing: ListingSummary,
    /// Whether the team can read the listing's detail.
    pub listing_detail_available: bool,
}

/// The offers of a team.
#[derive(Debug, Object, Serialize)]
pub struct Offers {
    /// The offers, newest first.
    pub offers: Vec<OfferEntry>,
}

/// Responds with the offers of a team that a filter allows.
pub async fn respond(call: Call<Buyer>, filter: RecordFilter) -> JsonResult<Offers> {
    Json::read_bytes(&call.served, call.access.requester(), move |reader| {
        let offers = offers::list(reader, &call.access, &filter)?;
        let entries = offers.iter().map(|offer| (json!(OfferOut::from(offer)), &offer.listing));
        Ok(list_json("offers", "offer", entries))
    })
    .await
}

#[routes(prefix = "/v2", tag = Deals)]
impl OffersApi {
    /// List offers
    ///
    /// Returns the team's offers (bids) on all listings, newest first, each with its listing.
    #[get(
        "/listings/browse/offers",
        RouteAttributes::read(
            Tool::Excluded("the operation list_offers_for_agents has filters"),
            Contract::new(Target::None).with_one_statement(),
        )
        .with_budget(Budget::Purchases)
        .with_links(&[Link::new("/offers/0/listing/id", "get_listing", "listing_id")]),
    )]
    async fn list_offers(call: Call<Buyer>) -> JsonResult<Offers> {
        respond(call, RecordFilter::default()).await
    }
}
