//! A buyer's purchases and bids.

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

/// The currency of every amount.
const CURRENCY: &str = "USD";

/// A completed purchase.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Purchase")]
pub struct PurchaseOut {
    /// Its id.
    pub id: Uuid,
    /// The listing.
    pub listing_id: Uuid,
    /// Where it stands.
    pub status: Word<PurchaseStatus>,
    /// What was bought.
    pub purchase_kind: Word<PurchaseKind>,
    /// Which assets it covers: `mode` is `all`, `sample` or `selection`, and `asset_ids` are those of a selection.
    pub asset_scope: BTreeMap<String, Value>,
    /// The price before fees, in US dollars.
    pub price: f64,
    /// What was paid on top, in US dollars.
    pub buyer_fee: f64,
    /// Both together, in US dollars.
    pub total: f64,
    /// Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// When the checkout began.
    pub created_at: UtcTime,
    /// The agreement; null where there is none.
    pub agreement_document_id: Option<Uuid>,
    /// When the agreement was signed; null where it was not.
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

/// A completed purchase with its listing.
#[derive(Debug, Object, Serialize)]
pub struct PurchaseEntry {
    /// The purchase.
    pub purchase: PurchaseOut,
    /// The listing as it is now.
    pub listing: ListingSummary,
    /// Whether the listing's detail can be read.
    pub listing_detail_available: bool,
}

/// A team's completed purchases.
#[derive(Debug, Object, Serialize)]
pub struct Purchases {
    /// The purchases, newest first.
    pub purchases: Vec<PurchaseEntry>,
}

/// A bid.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Offer")]
pub struct OfferOut {
    /// Its id.
    pub id: Uuid,
    /// The listing.
    pub listing_id: Uuid,
    /// Where it stands.
    pub status: Word<OfferStatus>,
    /// What is bid, in US dollars.
    pub amount: f64,
    /// Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// When it was made.
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
    /// When it was decided; null while it waits for the vendor.
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

/// A bid with its listing.
#[derive(Debug, Object, Serialize)]
pub struct OfferEntry {
    /// The bid.
    pub offer: OfferOut,
    /// The listing as it is now.
    pub listing: ListingSummary,
    /// Whether the listing's detail can be read.
    pub listing_detail_available: bool,
}

/// A team's bids.
#[derive(Debug, Object, Serialize)]
pub struct Offers {
    /// The bids, newest first.
    pub offers: Vec<OfferEntry>,
}

/// The JSON of a list of deals, each with its listing as it is rendered already.
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
    /// Purchases
    ///
    /// The team's completed purchases, newest first, each with its listing.
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

    /// Bids
    ///
    /// The team's bids on all listings, newest first, each with its listing.
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
