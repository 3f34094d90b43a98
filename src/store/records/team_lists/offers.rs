//! Offers of a buyer, and offers that a vendor has received.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::domain::{
    listings::CatalogStatus, money::Cents, offers::OfferStatus, purchases::PayWith, time::Timestamp,
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
    /// Status of the listing in the catalog.
    pub listing_status: CatalogStatus,
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
    const LIST: &'static TeamRecords = &OFFERS;
}

/// Offers of a buyer. `text` is a part of the listing's title, and `since` and `end` are microseconds.
pub const OFFERS: TeamRecords = Records {
    name: "offer",
    columns: &[
        "o.uuid AS id, l.uuid AS listing, l.title AS listing_title, l.catalog_status AS listing_status,
         l.price_cents AS listing_price, v.name AS vendor_name,
         o.status, o.amount_cents AS amount, o.pay_with,
         (SELECT p.uuid FROM purchases p WHERE p.offer = o.id ORDER BY p.id DESC LIMIT 1) AS purchase,
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

/// An offer, as the vendor of the listing sees it. It has neither the buyer nor how the buyer pays.
#[derive(Clone, Debug, FromRow)]
pub struct ReceivedOffer {
    /// ID of the offer.
    pub id: Uuid,
    /// ID of the listing.
    pub listing: Uuid,
    /// Title of the listing.
    pub listing_title: String,
    /// Status of the listing in the catalog.
    pub listing_status: CatalogStatus,
    /// Price of the listing; `None` if it has no fixed price.
    pub listing_price: Option<Cents>,
    /// Status of the offer.
    pub status: OfferStatus,
    /// Amount offered, before fees.
    pub amount: Cents,
    /// ID of the sale that it led to; `None` unless that was paid.
    pub sale: Option<Uuid>,
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
    const LIST: &'static TeamRecords = &RECEIVED_OFFERS;
}

/// Offers on the listings of a vendor. `text` is a part of the listing's title. The plus leaves the index of the status out, which
/// has the offers of all teams.
pub const RECEIVED_OFFERS: TeamRecords = Records {
    name: "offer",
    columns: &[
        "o.uuid AS id, l.uuid AS listing, l.title AS listing_title, l.catalog_status AS listing_status,
         l.price_cents AS listing_price, o.status, o.amount_cents AS amount,
         (SELECT p.uuid FROM purchases p WHERE p.offer = o.id AND p.status IN ('completed', 'refunded')) AS sale,
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
