//! Purchases of a buyer, and the common parts of lists of purchases and of offers.

use serde_json::Value;

use crate::{
    domain::{
        money::{CURRENCY, Cents},
        purchases::{PurchaseKind, PurchaseStatus, ScopeMode},
        record_filters::RecordFilter,
    },
    operations::{access::Buyer, purchases},
    rest::{
        prelude::*,
        route::Link,
        shapes::{json_object::ObjectWriter, listings::ListingSummary},
    },
    store::purchases::{BuyerListing, Purchase},
};

/// The assets that a purchase covers.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "AssetScope")]
pub struct AssetScopeOut {
    /// Whether all assets of the listing are covered, a sample, or selected assets.
    pub mode: EnumValue<ScopeMode>,
    /// IDs of the selected assets; empty unless `mode` is `selection`. The assets themselves are available only to
    /// their vendors.
    pub asset_ids: Vec<Uuid>,
}

/// A completed purchase of the team.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Purchase")]
pub struct PurchaseOut {
    /// ID of the purchase.
    pub id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// State of the purchase.
    pub status: EnumValue<PurchaseStatus>,
    /// Whether the listing, its sample, or the listing at the price of an accepted bid was bought.
    pub purchase_kind: EnumValue<PurchaseKind>,
    /// The assets that the purchase covers.
    pub asset_scope: AssetScopeOut,
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
            status: EnumValue(purchase.status),
            purchase_kind: EnumValue(purchase.kind),
            asset_scope: AssetScopeOut {
                mode: EnumValue(purchase.scope.mode),
                asset_ids: purchase.scope.asset_ids.clone(),
            },
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

/// Builds the JSON of a list of purchases or offers, each with the rendered summary of its listing.
pub fn list_json<'d>(
    name: &str,
    item_name: &str,
    items: impl Iterator<Item = (Value, &'d BuyerListing)>,
) -> Vec<u8> {
    let entries: Vec<Vec<u8>> = items
        .map(|(item, listing)| {
            let mut entry = ObjectWriter::with_capacity(listing.summary.len() + 1_024);
            entry.field(item_name, &item);
            entry.raw_field("listing", &listing.summary);
            entry.field("listing_detail_available", &listing.is_visible);
            entry.finish()
        })
        .collect();
    let mut json = ObjectWriter::with_capacity(0);
    json.array_field(name, &entries.join(&b','));
    json.finish()
}

/// Responds with the purchases of a team that a filter allows.
pub async fn respond(call: Call<Buyer>, filter: RecordFilter) -> JsonResult<Purchases> {
    Json::read_bytes(&call.served, call.access.requester(), move |reader| {
        let purchases = purchases::list(reader, &call.access, &filter)?;
        let entries =
            purchases.iter().map(|purchase| (json!(PurchaseOut::from(purchase)), &purchase.listing));
        Ok(list_json("purchases", "purchase", entries))
    })
    .await
}

#[routes(prefix = "/v2", tag = Deals)]
impl PurchasesApi {
    /// List purchases
    ///
    /// Returns the team's completed purchases, newest first, each with its listing.
    #[get(
        "/listings/browse/purchases",
        RouteAttributes::read(
            Tool::Excluded("the operation list_purchases_for_agents has filters"),
            Contract::new(Target::None).with_one_statement(),
        )
        .with_budget(Budget::Purchases)
        .with_links(&[Link::new("/purchases/0/listing/id", "get_listing", "listing_id")]),
    )]
    async fn list_purchases(call: Call<Buyer>) -> JsonResult<Purchases> {
        respond(call, RecordFilter::default()).await
    }
}
