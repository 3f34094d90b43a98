//! Offers of a buyer, and offers that a vendor has received.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::{
    domain::{
        money::Cents,
        offers::OfferStatus,
        purchases::{PayWith, PurchaseStatus},
        time::Timestamp,
    },
    store::purchases::LISTING_IS_VISIBLE,
};

/// An offer, as its buyer sees it.
#[derive(Clone, Debug, FromRow)]
pub struct TeamOffer {
    /// ID of the offer.
    pub id: Uuid,
    /// ID of the listing.
    pub listing: Uuid,
    /// Title of the listing.
    pub listing_title: String,
    /// Whether the team can see the listing.
    pub listing_is_visible: bool,
    /// Whether the listing is in the catalog and accepts bids.
    pub takes_bids: bool,
    /// Price of the listing; `None` if it has no fixed price.
    pub listing_price: Option<Cents>,
    /// Name of the vendor.
    pub vendor_name: String,
    /// Status of the offer.
    pub status: OfferStatus,
    /// Amount offered, before fees.
    pub amount: Cents,
    /// How the buyer pays if the offer is accepted.
    pub pay_with: PayWith,
    /// ID of the purchase that it led to; `None` unless accepted.
    pub purchase: Option<Uuid>,
    /// Status of this purchase.
    pub purchase_status: Option<PurchaseStatus>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which it expires unless it is decided before; `None` if it was decided.
    pub expires_at: Option<Timestamp>,
    /// Time at which it was decided, or expired; `None` while it is submitted.
    pub decided_at: Option<Timestamp>,
}

impl TeamRecord for TeamOffer {
    /// `text` is a part of the listing's title, and `since` and `end` are microseconds.
    const LIST: &'static TeamRecords = &Records {
        name: "offer",
        columns: &[
            "o.uuid AS id, l.uuid AS listing, l.title AS listing_title, (SELECT",
            LISTING_IS_VISIBLE,
            "FROM offers d WHERE d.id = o.id) AS listing_is_visible,
             l.catalog_status = 'published' AND l.accepts_bids AS takes_bids,
             l.price_cents AS listing_price, v.name AS vendor_name,
             o.status, o.amount_cents AS amount, o.pay_with,
             (SELECT p.uuid FROM purchases p WHERE p.offer = o.id ORDER BY p.id DESC LIMIT 1) AS purchase,
             (SELECT p.status FROM purchases p WHERE p.offer = o.id ORDER BY p.id DESC LIMIT 1) AS purchase_status,
             o.created_at, o.updated_at, d.due_at AS expires_at, o.decided_at",
        ],
        tables: &["offers o JOIN listings l ON l.id = o.listing JOIN teams v ON v.id = l.team
             LEFT JOIN due_steps d ON d.kind = 'offer_expires' AND d.subject = o.id"],
        row_id: "o.id",
        id: "o.uuid",
        condition: None,
        filters: &[
            ("status", Filter::OneOf("o.status")),
            ("listing", Filter::RefersTo("o.listing", "listings")),
            ("text", Filter::Contains("l.title")),
            ("since", Filter::Matches("o.created_at >= ?")),
            ("end", Filter::Matches("o.created_at < ?")),
        ],
    }
    .of_team("o.buyer");
}

/// An offer, as the vendor of the listing sees it. It has neither the buyer nor how the buyer pays.
#[derive(Clone, Debug, FromRow)]
pub struct ReceivedOffer {
    /// ID of the offer.
    pub id: Uuid,
    /// ID of the listing.
    pub listing: Uuid,
    /// Title of the listing.
    pub listing_title: String,
    /// Price of the listing; `None` if it has no fixed price.
    pub listing_price: Option<Cents>,
    /// Status of the offer.
    pub status: OfferStatus,
    /// Amount offered, before fees.
    pub amount: Cents,
    /// ID of the sale that it led to; `None` unless that was paid.
    pub sale: Option<Uuid>,
    /// Status of the purchase that it led to; `None` unless accepted.
    pub purchase_status: Option<PurchaseStatus>,
    /// Fee that the platform deducts from the amount, as of the acceptance; `None` unless accepted.
    pub platform_fee: Option<Cents>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which it expires unless it is decided before; `None` if it was decided.
    pub expires_at: Option<Timestamp>,
    /// Time at which it was decided, or expired; `None` while it is submitted.
    pub decided_at: Option<Timestamp>,
}

impl TeamRecord for ReceivedOffer {
    /// `text` is a part of the listing's title. The plus leaves the index of the status out, which has the offers of all teams.
    const LIST: &'static TeamRecords = &Records {
        name: "offer",
        columns: &[
            "o.uuid AS id, l.uuid AS listing, l.title AS listing_title,
             l.price_cents AS listing_price, o.status, o.amount_cents AS amount,
             (SELECT p.uuid FROM purchases p WHERE p.offer = o.id AND p.status IN ('completed', 'refunded')) AS sale,
             (SELECT p.status FROM purchases p WHERE p.offer = o.id ORDER BY p.id DESC LIMIT 1) AS purchase_status,
             (SELECT p.platform_fee_cents FROM purchases p WHERE p.offer = o.id ORDER BY p.id DESC LIMIT 1) AS platform_fee,
             o.created_at, o.updated_at, d.due_at AS expires_at, o.decided_at",
        ],
        tables: &["offers o JOIN listings l ON l.id = o.listing
             LEFT JOIN due_steps d ON d.kind = 'offer_expires' AND d.subject = o.id"],
        row_id: "o.id",
        id: "o.uuid",
        condition: None,
        filters: &[
            ("status", Filter::OneOf("+o.status")),
            ("listing", Filter::RefersTo("o.listing", "listings")),
            ("text", Filter::Contains("l.title")),
        ],
    }
    .of_team("l.team");
}
