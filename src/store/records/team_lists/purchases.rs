//! Purchases of a buyer.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::{
    domain::{
        money::Cents,
        purchases::{PayWith, PurchaseKind, PurchaseStatus, ScopeMode},
        time::Timestamp,
    },
    store::purchases::LISTING_IS_VISIBLE,
};

/// A purchase, as its buyer sees it.
#[derive(Clone, Debug, FromRow)]
pub struct TeamPurchase {
    /// ID of the purchase.
    pub id: Uuid,
    /// ID of the listing.
    pub listing: Uuid,
    /// Title of the listing that the buyer agreed to, or else the present one.
    pub listing_title: String,
    /// Whether the team can see the listing.
    pub listing_is_visible: bool,
    /// Name of the vendor.
    pub vendor_name: String,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// Status of the purchase.
    pub status: PurchaseStatus,
    /// How the buyer pays.
    pub pay_with: PayWith,
    /// Whether it is an exclusive sale once it is completed.
    pub is_exclusive: bool,
    /// Whether it covers all assets of the listing, a sample of them, or selected ones.
    pub scope: ScopeMode,
    /// Price before fees.
    pub price: Cents,
    /// Fee that the buyer pays in addition to the price.
    pub buyer_fee: Cents,
    /// ID of the accepted offer; `None` unless it is a purchase by an accepted bid.
    pub offer: Option<Uuid>,
    /// ID of the agreement document; `None` until it is signed.
    pub agreement_document: Option<Uuid>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which it is canceled unless it is completed before; `None` unless pending.
    pub expires_at: Option<Timestamp>,
    /// Time of payment; `None` until then.
    pub paid_at: Option<Timestamp>,
    /// Time at which it was canceled; `None` unless canceled.
    pub cancelled_at: Option<Timestamp>,
    /// Time of the refund; `None` unless refunded.
    pub refunded_at: Option<Timestamp>,
}

impl TeamPurchase {
    /// Returns what the buyer pays.
    pub const fn total(&self) -> Cents {
        Cents(self.price.0 + self.buyer_fee.0)
    }
}

/// The title in the agreement, or in the terms that a pending purchase was ordered with.
const TITLE: &str = "coalesce(agreed_title(coalesce(agreed.text, ordered.text)), l.title)";

impl TeamRecord for TeamPurchase {
    /// `text` is a part of this title, and `since` and `end` are microseconds.
    const LIST: &'static TeamRecords = &Records {
        name: "purchase",
        columns: &[
            "p.uuid AS id, l.uuid AS listing,",
            TITLE,
            "AS listing_title, (SELECT",
            LISTING_IS_VISIBLE,
            "FROM purchases d WHERE d.id = p.id) AS listing_is_visible, v.name AS vendor_name, p.kind, p.status, p.pay_with,
             p.exclusive AS is_exclusive, p.scope ->> 'mode' AS scope, p.price_cents AS price, p.buyer_fee_cents AS buyer_fee, o.uuid AS offer,
             p.agreement_document, p.created_at, d.due_at AS expires_at, p.paid_at, p.cancelled_at, p.refunded_at",
        ],
        tables: &["purchases p JOIN listings l ON l.id = p.listing JOIN teams v ON v.id = l.team
             LEFT JOIN offers o ON o.id = p.offer
             LEFT JOIN due_steps d ON d.kind = 'purchase_expires' AND d.subject = p.id
             LEFT JOIN agreements agreed ON agreed.purchase = p.id
             LEFT JOIN ordered_terms ordered ON ordered.purchase = p.id AND p.status = 'pending'"],
        row_id: "p.id",
        id: "p.uuid",
        condition: None,
        filters: &[
            ("status", Filter::OneOf("p.status")),
            ("kind", Filter::OneOf("p.kind")),
            ("pay_with", Filter::OneOf("p.pay_with")),
            ("scope", Filter::OneOf("p.scope ->> 'mode'")),
            ("listing", Filter::RefersTo("p.listing", "listings")),
            ("text", Filter::Contains(TITLE)),
            ("since", Filter::Matches("p.created_at >= ?")),
            ("end", Filter::Matches("p.created_at < ?")),
        ],
    }
    .of_team("p.buyer");
}
