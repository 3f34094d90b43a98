//! Purchases of listings.

use super::payments::{self, PaymentIn};
use crate::{
    domain::purchases::{PayWith, PurchaseKind, PurchaseStatus, ScopeMode},
    operations::{
        access::{PaymentOperator, PaymentReader},
        agreements, payments as payment_operations,
        purchases::{self, PurchaseInput},
    },
    rest::operator_api::prelude::*,
    store::{agreements::Agreement, records::purchases::PURCHASES},
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
    /// ID of the agreement document; null until it is signed.
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

/// The agreement of a purchase: what buyer and vendor agreed on, as text. It is made when the purchase is completed, and
/// never changes.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "PurchaseAgreement")]
pub struct AgreementOut {
    /// ID of the purchase.
    pub purchase_id: Uuid,
    /// The text; null until the purchase is completed, and if it was completed before agreements were stored.
    pub text: Option<String>,
    /// SHA-256 digest of the text in UTF-8, in hexadecimal; null without a text.
    pub sha256: Option<String>,
    /// Time at which it was made; null without a text.
    pub created_at: Option<UtcTime>,
}

impl AgreementOut {
    fn new(purchase_id: Uuid, agreement: Option<Agreement>) -> AgreementOut {
        let (text, sha256, created_at) = agreement.map_or((None, None, None), |agreement| {
            (Some(agreement.text), Some(agreement.sha256), Some(agreement.created_at.into()))
        });
        AgreementOut { purchase_id, text, sha256, created_at }
    }
}

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
const PURCHASE_EVENTS: &[EventType] = ACCEPTANCE_EVENTS.split_at(1).1;

/// The event of an offer that is accepted, and then those of its purchase.
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

#[routes(prefix = "/operator/v1", tag = Sales)]
impl PurchasesApi {
    /// List purchases
    ///
    /// Returns the purchases of all buyers, newest first.
    /// A key with the scope `payments` is enough.
    #[get(
        "/purchases",
        routes::list(&[
            "status=pending&limit=2",
            "status=completed&kind=sample",
            "team_id=57d9aaca-90f7-528c-aff6-0b974cabd171",
            "vendor_team_id=d16976a0-9c51-5248-afa1-7e0552589e1a",
            "listing_id=00000000-0000-0000-0000-000000000000",
        ]),
    )]
    async fn list_purchases(
        call: Call<PaymentReader>,
        query: Params<ListQuery<PurchaseFilters>>,
    ) -> JsonResult<PurchasePage> {
        pages::list(call, query).await
    }

    /// Create a purchase
    ///
    /// Buys a listing in the name of a buyer, its sample, or a selection of its assets. With credits, or if it is free,
    /// the purchase is completed at once; with an invoice it is pending until it is completed or expires.
    #[post(
        "/purchases",
        routes::create(Actor::Team, PURCHASE_EVENTS)
            .with_conflicts(&[Code::InsufficientCredits, Code::NoLongerAvailable]),
    )]
    async fn create_purchase(
        change: Change,
        #[example(json!({
                    "team_id": DEMO_BUYER,
                    "listing_id": "0ea026dc-af20-5ede-86bc-c9d5f921cb81",
                    "kind": "full",
                    "pay_with": "credits",
                }))]
        body: Body<PurchaseIn>,
    ) -> JsonResult<PurchaseOut, 201> {
        changes::post_body(change, body, |writer, platform, body: PurchaseIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?);
            let listing =
                references::listing_on_sale(writer.rows, "listing_id", body.listing_id.into_valid()?);
            let (team, listing) = references::both(team, listing)?;
            let asset_ids = body.asset_ids.map(|ids| MaybeInvalid::all(ids, |id| id)).transpose()?;
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
    /// A key with the scope `payments` is enough.
    #[get("/purchases/{purchase_id}", routes::get("purchases"))]
    async fn get_purchase(call: Call<PaymentReader>, purchase_id: Path<Uuid>) -> JsonResult<PurchaseOut> {
        resources::get(call, purchase_id.0).await
    }

    /// Get the agreement of a purchase
    ///
    /// Returns the agreement of a purchase as text, with its digest. It names the buyer and the vendor.
    #[get("/purchases/{purchase_id}/agreement", routes::get("purchases"))]
    async fn get_purchase_agreement(
        call: Call<Operator>,
        purchase_id: Path<Uuid>,
    ) -> JsonResult<AgreementOut> {
        let (platform, id) = (call.access.platform(), purchase_id.0);
        Json::read(&call.served, call.access.requester(), move |reader| {
            Ok(AgreementOut::new(id, agreements::find_of_any(reader.rows, platform, id)?))
        })
        .await
    }

    /// Complete a purchase
    ///
    /// Completes a pending purchase whose invoice was paid: posts the money, signs the agreement, and notifies the
    /// vendor. An exclusive sale also archives all listings with its codebases.
    /// A key with the scope `payments` is enough.
    #[post(
        "/purchases/{purchase_id}/complete",
        routes::transition("purchases", Actor::Platform, PURCHASE_EVENTS)
            .with_conflicts(&[Code::InsufficientCredits, Code::NoLongerAvailable]),
    )]
    async fn complete_purchase(
        change: Change<PaymentOperator>,
        purchase_id: Path<Uuid>,
        #[example(json!({}))] body: Body<PaymentIn, false>,
    ) -> JsonResult<PurchaseOut> {
        payments::decide(change, purchase_id, body, &payment_operations::PURCHASE_PAID).await
    }

    /// Cancel a purchase
    ///
    /// Cancels a pending purchase. The offer that it may come from stays accepted.
    /// A key with the scope `payments` is enough.
    #[post(
        "/purchases/{purchase_id}/cancel",
        routes::transition("purchases", Actor::Platform, &[EventType::PurchaseCancelled]),
    )]
    async fn cancel_purchase(
        change: Change<PaymentOperator>,
        purchase_id: Path<Uuid>,
        #[example(json!({}))] body: Body<PaymentIn, false>,
    ) -> JsonResult<PurchaseOut> {
        payments::decide(change, purchase_id, body, &payment_operations::PURCHASE_CANCELLED).await
    }

    /// Refund a purchase
    ///
    /// Refunds a completed purchase, within `purchases.refund_days` of its payment. All its postings are undone, so the
    /// vendor must still have the money. After an exclusive sale, its codebases are available again.
    #[post(
        "/purchases/{purchase_id}/refund",
        routes::transition(
            "purchases",
            Actor::Platform,
            &[EventType::PurchaseRefunded, EventType::AssetExclusivityChanged],
        )
        .with_conflicts(&[Code::RefundWindowClosed, Code::InsufficientEarnings]),
    )]
    async fn refund_purchase(change: Change, purchase_id: Path<Uuid>) -> JsonResult<PurchaseOut> {
        changes::transition(change, purchase_id, purchases::refund).await
    }
}
