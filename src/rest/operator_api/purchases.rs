//! Purchases of listings.

use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{
    changes,
    pages::{self, ListQuery, page_of},
    references,
    resources::{self, resource},
    routes::{self, DEMO_BUYER, routes},
};
use crate::{
    domain::{
        events::EventType,
        listings::Actor,
        money::Currency,
        purchases::{PayWith, PurchaseKind, PurchaseStatus, ScopeMode},
    },
    error::{Code, Result},
    operations::{
        access::{ActingOperator, Operator},
        purchases::{self, PurchaseInput},
    },
    rest::{
        enum_value::EnumValue,
        idempotent::Idempotent,
        json::JsonResult,
        params::Params,
        request_body::{Body, MaybeInvalid},
        route::{Call, Path},
        shapes::{Money, UtcTime},
    },
    store::records::purchases::PURCHASES,
};

/// A purchase of a listing, of its sample, or of some of its assets.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Purchase")]
pub struct PurchaseOut {
    /// ID of the purchase.
    pub id: Uuid,
    /// ID of the buyer.
    pub team_id: Uuid,
    /// ID of the vendor.
    pub vendor_team_id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Whether the listing, its sample, or the listing at the price of an accepted bid is bought.
    pub kind: EnumValue<PurchaseKind>,
    /// State of the purchase.
    pub status: EnumValue<PurchaseStatus>,
    /// How the buyer pays.
    pub pay_with: EnumValue<PayWith>,
    /// Whether it is an exclusive sale once it is completed.
    pub exclusive: bool,
    /// Price before fees.
    pub price: Money,
    /// Fee that the buyer pays in addition to the price.
    pub buyer_fee: Money,
    /// Fee that the platform deducts from the vendor's part.
    pub platform_fee: Money,
    /// What the buyer pays: the price plus the buyer fee.
    pub total: Money,
    /// What the vendor gets: the price less the platform fee.
    pub net: Money,
    /// Currency of the amounts.
    pub currency: EnumValue<Currency>,
    /// Whether all assets of the listing are covered, a sample of them, or selected assets.
    pub scope: EnumValue<ScopeMode>,
    /// Number of covered assets.
    pub asset_count: u64,
    /// IDs of the covered assets as of the creation of the purchase: the first 200 if there are more.
    #[oai(validator(max_items = 200))]
    pub asset_ids: Vec<Uuid>,
    /// ID of the accepted offer; null unless `kind` is `accepted_bid`.
    pub offer_id: Option<Uuid>,
    /// ID of the agreement document, which this API does not serve; null until it is signed.
    pub agreement_document_id: Option<Uuid>,
    /// Time at which the agreement was signed; null until then.
    pub agreement_signed_at: Option<UtcTime>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time at which the purchase is canceled unless it is completed before; null unless pending.
    pub expires_at: Option<UtcTime>,
    /// Time of payment; null until then.
    pub paid_at: Option<UtcTime>,
    /// Time at which it was canceled; null unless canceled.
    pub cancelled_at: Option<UtcTime>,
    /// Time of the refund; null unless refunded.
    pub refunded_at: Option<UtcTime>,
}

resource!(PurchaseOut: Uuid, PURCHASES, "purchase", id, team_id);

page_of! {
    /// A page of purchases.
    PurchasePage, PurchaseOut
}

/// What the list of purchases can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct PurchaseFilters {
    /// ID of the buyer.
    team_id: Option<Uuid>,
    /// ID of the vendor.
    vendor_team_id: Option<Uuid>,
    /// ID of the listing.
    listing_id: Option<Uuid>,
    /// State of the purchase.
    status: Option<EnumValue<PurchaseStatus>>,
    /// Kind of purchase.
    kind: Option<EnumValue<PurchaseKind>>,
}

/// A purchase to make in the name of a buyer.
#[derive(Debug, Object)]
pub struct PurchaseIn {
    /// ID of the buyer.
    team_id: MaybeInvalid<Uuid>,
    /// ID of the listing, which must be in the catalog.
    listing_id: MaybeInvalid<Uuid>,
    /// `full` for the listing, or `sample` for its sample. For a purchase by an accepted bid, accept the offer.
    kind: MaybeInvalid<EnumValue<PurchaseKind>>,
    /// IDs of assets of the listing, 1 to 200, to buy only these; null or absent for all of them. Each needs an asking
    /// price. Not allowed for a sample.
    #[oai(validator(min_items = 1, max_items = 200))]
    asset_ids: Option<Vec<MaybeInvalid<Uuid>>>,
    /// `credits` to pay at once, `invoice` to pay outside the marketplace.
    pay_with: MaybeInvalid<EnumValue<PayWith>>,
}

/// The events of a purchase that is made, and of what ends if it is an exclusive sale.
const PURCHASE_EVENTS: &[EventType] = &[
    EventType::PurchaseCreated,
    EventType::PurchaseCompleted,
    EventType::PurchaseCancelled,
    EventType::OfferDeclined,
    EventType::ListingOffersDeclined,
    EventType::ListingWithdrawn,
    EventType::ListingArchived,
    EventType::QualityRunCancelled,
    EventType::WalletCredited,
    EventType::AssetExclusivityChanged,
];

/// The events of an offer that is accepted, with those of its purchase.
pub(super) const ACCEPTANCE_EVENTS: &[EventType] = &[
    EventType::OfferAccepted,
    EventType::PurchaseCreated,
    EventType::PurchaseCompleted,
    EventType::PurchaseCancelled,
    EventType::OfferDeclined,
    EventType::ListingOffersDeclined,
    EventType::ListingWithdrawn,
    EventType::ListingArchived,
    EventType::QualityRunCancelled,
    EventType::WalletCredited,
    EventType::AssetExclusivityChanged,
];

routes! {
    /// `GET /operator/v1/purchases`
    ListPurchases: Operator = routes::list(
        "list_purchases",
        &[
            "status=pending&limit=2",
            "status=completed&kind=sample",
            "team_id=57d9aaca-90f7-528c-aff6-0b974cabd171",
            "vendor_team_id=d16976a0-9c51-5248-afa1-7e0552589e1a",
            "listing_id=00000000-0000-0000-0000-000000000000",
        ],
    );
    /// `POST /operator/v1/purchases`
    CreatePurchase: ActingOperator = routes::create(
        "create_purchase",
        || json!({
            "team_id": DEMO_BUYER,
            "listing_id": "0ea026dc-af20-5ede-86bc-c9d5f921cb81",
            "kind": "full",
            "pay_with": "credits",
        }),
        Actor::Team,
        PURCHASE_EVENTS,
    ).with_conflicts(&[Code::InsufficientCredits, Code::NoLongerAvailable]);
    /// `GET /operator/v1/purchases/{purchase_id}`
    GetPurchase: Operator = routes::get("get_purchase", "purchases");
    /// `POST /operator/v1/purchases/{purchase_id}/complete`
    CompletePurchase: ActingOperator =
        routes::post("complete_purchase", "purchases", Actor::Platform, PURCHASE_EVENTS).with_conflicts(&[Code::InvalidTransition, Code::InsufficientCredits, Code::NoLongerAvailable]);
    /// `POST /operator/v1/purchases/{purchase_id}/cancel`
    CancelPurchase: ActingOperator =
        routes::post("cancel_purchase", "purchases", Actor::Platform, &[EventType::PurchaseCancelled]).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/purchases/{purchase_id}/refund`
    RefundPurchase: ActingOperator = routes::post(
        "refund_purchase",
        "purchases",
        Actor::Platform,
        &[EventType::PurchaseRefunded, EventType::AssetExclusivityChanged],
    ).with_conflicts(&[Code::InvalidTransition, Code::RefundWindowClosed, Code::InsufficientEarnings]);
}

pub struct PurchasesApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Sales")]
impl PurchasesApi {
    /// List purchases
    ///
    /// Returns the purchases of all buyers, newest first.
    #[oai(path = "/purchases", method = "get", operation_id = "list_purchases")]
    async fn list(
        &self,
        call: Call<ListPurchases>,
        query: Params<ListQuery<PurchaseFilters>>,
    ) -> JsonResult<PurchasePage> {
        pages::list(call, query).await
    }

    /// Create a purchase
    ///
    /// Buys a listing in the name of a buyer, its sample, or a selection of its assets. With credits, or if it is free,
    /// the purchase is completed at once; with an invoice it is pending until it is completed or expires.
    #[oai(path = "/purchases", method = "post", operation_id = "create_purchase")]
    async fn create(
        &self,
        call: Call<CreatePurchase>,
        idempotent: Idempotent,
        body: Body<PurchaseIn>,
    ) -> JsonResult<PurchaseOut, 201> {
        changes::post_body(call, idempotent, body, |writer, platform, body: PurchaseIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?);
            let listing =
                references::listing_on_sale(writer.rows, "listing_id", body.listing_id.into_valid()?);
            let (team, listing) = references::both(team, listing)?;
            let asset_ids = body.asset_ids.map(valid_ids).transpose()?;
            let input = PurchaseInput {
                listing: listing.id,
                kind: body.kind.into_valid()?.0,
                asset_ids: asset_ids.as_deref(),
                pay_with: body.pay_with.into_valid()?.0,
            };
            let buyer = references::buyer(platform, team)?;
            purchases::create(writer, &buyer, Actor::Team, &input).map(|purchase| purchase.id)
        })
        .await
    }

    /// Get a purchase
    ///
    /// Returns a purchase.
    #[oai(path = "/purchases/:purchase_id", method = "get", operation_id = "get_purchase")]
    async fn get(
        &self,
        call: Call<GetPurchase>,
        /// ID of the purchase.
        purchase_id: Path<Uuid>,
    ) -> JsonResult<PurchaseOut> {
        resources::get(call, purchase_id.0).await
    }

    /// Complete a purchase
    ///
    /// Completes a pending purchase whose invoice was paid: posts the money, signs the agreement, and notifies the
    /// vendor. An exclusive sale also archives all listings with its codebases.
    #[oai(path = "/purchases/:purchase_id/complete", method = "post", operation_id = "complete_purchase")]
    async fn complete(
        &self,
        call: Call<CompletePurchase>,
        idempotent: Idempotent,
        /// ID of the purchase.
        purchase_id: Path<Uuid>,
    ) -> JsonResult<PurchaseOut> {
        let id = purchase_id.0;
        changes::post(call, idempotent, move |writer, platform| {
            purchases::complete(writer, platform, Actor::Platform, id).map(|_| id)
        })
        .await
    }

    /// Cancel a purchase
    ///
    /// Cancels a pending purchase. The offer that it may come from stays accepted.
    #[oai(path = "/purchases/:purchase_id/cancel", method = "post", operation_id = "cancel_purchase")]
    async fn cancel(
        &self,
        call: Call<CancelPurchase>,
        idempotent: Idempotent,
        /// ID of the purchase.
        purchase_id: Path<Uuid>,
    ) -> JsonResult<PurchaseOut> {
        let id = purchase_id.0;
        changes::post(call, idempotent, move |writer, platform| {
            purchases::cancel(writer, platform, Actor::Platform, id).map(|()| id)
        })
        .await
    }

    /// Refund a purchase
    ///
    /// Refunds a completed purchase, within `purchases.refund_days` of its payment. All its postings are undone, so the
    /// vendor must still have the money. After an exclusive sale, its codebases are available again.
    #[oai(path = "/purchases/:purchase_id/refund", method = "post", operation_id = "refund_purchase")]
    async fn refund(
        &self,
        call: Call<RefundPurchase>,
        idempotent: Idempotent,
        /// ID of the purchase.
        purchase_id: Path<Uuid>,
    ) -> JsonResult<PurchaseOut> {
        let id = purchase_id.0;
        changes::post(call, idempotent, move |writer, platform| {
            purchases::refund(writer, platform, Actor::Platform, id).map(|_| id)
        })
        .await
    }
}

/// Returns the IDs of a body without problems.
fn valid_ids(ids: Vec<MaybeInvalid<Uuid>>) -> Result<Vec<Uuid>> {
    ids.into_iter().map(MaybeInvalid::into_valid).collect()
}
