//! The data of events about purchases.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    listings::Actor,
    purchases::{PayWith, PurchaseKind, PurchaseStatus},
};

/// A purchase after a change. The vendor has a view of its completion and of its refund, which says what the
/// vendor gets, and not who buys.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PurchaseData {
    /// ID of the purchase, which is also that of the sale.
    pub purchase_id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Who changed it.
    pub actor: Actor,
    /// Status after the change.
    pub status: PurchaseStatus,
    /// What is bought.
    pub purchase_kind: PurchaseKind,
    /// What the buyer pays. Only in the buyer's view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentData>,
    /// Currency of all amounts. Always `USD`.
    pub currency: &'static str,
    /// What the vendor gets, in US dollars with two decimals. Only in the vendor's view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proceeds: Option<String>,
}

/// What a buyer pays. Amounts are in US dollars with two decimals.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PaymentData {
    /// Price before fees.
    pub price: String,
    /// Fee in addition to the price.
    pub buyer_fee: String,
    /// How the buyer pays.
    pub pay_with: PayWith,
}
