//! Purchases and offers (bids) of a buyer.

use std::{collections::BTreeMap, sync::Arc};

use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    domain::{
        deals::{OfferStatus, PurchaseKind, PurchaseStatus},
        money::Cents,
    },
    operations::{access::Buyer, deals},
    rest::{
        App,
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::{UtcTime, listings::ListingSummary},
        vocabulary::Word,
    },
    store::deals::{DealtListing, Offer, Purchase},
};

/// Currency of all amounts.
const CURRENCY: &str = "USD";

/// A completed purchase of the team.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Purchase")]
pub struct PurchaseOut {
    /// ID of the purchase.
    pub id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// State of the purchase.
    pub status: Word<PurchaseStatus>,
    /// Whether the listing, its sample, or the listing at the price of an accepted bid was bought.
    pub purchase_kind: Word<PurchaseKind>,
    /// Assets that the purchase covers: `mode` is `all`, `sample` or `selection`; `asset_ids` lists those of
    /// a selection.
    pub asset_scope: BTreeMap<String, Value>,
    /// Price before fees, in US dollars.
    pub price: f64,
    /// Fee that the buyer paid in addition to the price, in US dollars.
    pub buyer_fee: f64,
    /// Price plus buyer fee, in US dollars.
    pub total: f64,
    /// Currency of the amounts. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// Time at which the checkout was started.
    pub created_at: UtcTime,
    /// ID of the agreement document; null if there is none.
    pub agreement_document_id: Option<Uuid>,
    /// Time at which the agreement was signed; null if it was not signed.
    pub agreement_signed_at: Option<UtcTime>,
}

impl From<&Purchase> for PurchaseOut {
    fn from(purchase: &Purchase) -> PurchaseOut {
        PurchaseOut {
            id: purchase.id,
            listing_id: purchase.listing.id,
            status: Word(purchase.status),
            purchase_kind: Word(purchase.kind),
            asset_scope: serde_json::from_value(purchase.scope.clone()).unwrap_or_default(),
            price: purchase.price.dollars(),
            buyer_fee: purchase.buyer_fee.dollars(),
            total: Cents(purchase.price.0 + purchase.buyer_fee.0).dollars(),
            currency: CURRENCY.to_owned(),
            created_at: purchase.created_at.into(),
            agreement_document_id: purchase.agreement_document,
            agreement_signed_at: purchase.agreement_signed_at.map(UtcTime),
        }
    }
}

/// A completed purchase, with its listing.
#[derive(Debug, Object, Serialize)]
pub struct PurchaseEntry {
    /// The purchase.
    pub purchase: PurchaseOut,
    /// Summary of the listing in its current state.
    pub listing: ListingSummary,
    /// Whether the team can read the listing's detail.
    pub listing_detail_available: bool,
}

/// The completed purchases of a team.
#[derive(Debug, Object, Serialize)]
pub struct Purchases {
    /// The purchases, newest first.
    pub purchases: Vec<PurchaseEntry>,
}

/// An offer: a bid of the team on a listing.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Offer")]
pub struct OfferOut {
    /// ID of the offer.
    pub id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// State of the offer.
    pub status: Word<OfferStatus>,
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
            status: Word(offer.status),
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

/// Builds the JSON of a list of purchases or offers, each with the rendered summary of its listing.
fn list<'d>(name: &str, deal_name: &str, deals: impl Iterator<Item = (Value, &'d DealtListing)>) -> Vec<u8> {
    let mut text = format!("{{\"{name}\":[").into_bytes();
    for (place, (deal, listing)) in deals.enumerate() {
        let comma = if place > 0 { "," } else { "" };
        text.extend_from_slice(format!("{comma}{{\"{deal_name}\":{deal},\"listing\":").as_bytes());
        text.extend_from_slice(&listing.item);
        text.extend_from_slice(format!(",\"listing_detail_available\":{}}}", listing.is_visible).as_bytes());
    }
    text.extend_from_slice(b"]}");
    text
}

pub struct DealsApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Deals")]
impl DealsApi {
    /// List purchases
    ///
    /// Returns the team's completed purchases, newest first, each with its listing.
    #[oai(path = "/listings/browse/purchases", method = "get", operation_id = "list_purchases")]
    async fn purchases(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Buyer>,
        _query: Params<NoParams>,
    ) -> Answer<Purchases> {
        let purchases = app.market().read(move |reader| deals::purchases(reader, &access.0)).await?;
        let entries =
            purchases.iter().map(|purchase| (json!(PurchaseOut::from(purchase)), &purchase.listing));
        Ok(Raw::new(list("purchases", "purchase", entries)))
    }

    /// List offers
    ///
    /// Returns the team's offers (bids) on all listings, newest first, each with its listing.
    #[oai(path = "/listings/browse/offers", method = "get", operation_id = "list_offers")]
    async fn offers(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Buyer>,
        _query: Params<NoParams>,
    ) -> Answer<Offers> {
        let offers = app.market().read(move |reader| deals::offers(reader, &access.0)).await?;
        let entries = offers.iter().map(|offer| (json!(OfferOut::from(offer)), &offer.listing));
        Ok(Raw::new(list("offers", "offer", entries)))
    }
}
