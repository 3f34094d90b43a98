//! Offers, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{money::Cents, offers::OfferStatus, purchases::PayWith, time::Timestamp},
    error::Result,
    store::row,
    string_enum::StringEnum,
};

/// A bid of a buyer on a listing.
#[derive(Clone, Debug)]
pub struct OfferRecord {
    /// ID of the offer.
    pub id: Uuid,
    /// ID of the buyer.
    pub buyer: Uuid,
    /// ID of the vendor of the listing.
    pub vendor: Uuid,
    /// ID of the listing.
    pub listing: Uuid,
    /// Amount offered.
    pub amount: Cents,
    /// How the buyer pays if the offer is accepted.
    pub pay_with: PayWith,
    /// State of the offer.
    pub status: OfferStatus,
    /// ID of the purchase that the offer led to; `None` unless accepted.
    pub purchase: Option<Uuid>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which the offer expires; `None` unless submitted.
    pub expires_at: Option<Timestamp>,
    /// Time at which the offer was decided; `None` while it is submitted.
    pub decided_at: Option<Timestamp>,
}

/// What the list of offers can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct OfferFilter {
    /// ID of the buyer.
    pub buyer: Option<Uuid>,
    /// ID of the vendor of the listing.
    pub vendor: Option<Uuid>,
    /// ID of the listing.
    pub listing: Option<Uuid>,
    /// State of the offer.
    pub status: Option<OfferStatus>,
}

const COLUMNS: &str =
    "o.uuid, o.amount_cents, o.pay_with, o.status, o.created_at, o.updated_at, o.decided_at,
    l.uuid AS listing_uuid, b.uuid AS buyer_uuid, v.uuid AS vendor_uuid, d.due_at AS expires_at,
    (SELECT p.uuid FROM purchases p WHERE p.offer = o.id ORDER BY p.id DESC LIMIT 1) AS purchase_uuid";

const TABLES: &str = "offers o LEFT JOIN listings l ON l.id = o.listing LEFT JOIN teams b ON b.id = o.buyer
    LEFT JOIN teams v ON v.id = l.team LEFT JOIN due_steps d ON d.kind = 'offer_expires' AND d.subject = o.id";

fn read(row: &rusqlite::Row) -> rusqlite::Result<OfferRecord> {
    Ok(OfferRecord {
        id: row.get("uuid")?,
        buyer: row.get("buyer_uuid")?,
        vendor: row.get("vendor_uuid")?,
        listing: row.get("listing_uuid")?,
        amount: Cents(row.get("amount_cents")?),
        pay_with: row::string_enum(row, "pay_with")?,
        status: row::string_enum(row, "status")?,
        purchase: row.get("purchase_uuid")?,
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
        expires_at: row::optional_time(row, "expires_at")?,
        decided_at: row::optional_time(row, "decided_at")?,
    })
}

impl Record for OfferRecord {
    type Id = Uuid;
    type Filter = OfferFilter;

    const NAME: &'static str = "offer";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<OfferRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE o.uuid = ?1"), [id], read)
    }

    fn page(reader: &Reader, filter: &OfferFilter, request: PageRequest) -> Result<RowPage<OfferRecord>> {
        PageQuery::new(COLUMNS, TABLES, "o.id")
            .refers_to("o.buyer", "teams", filter.buyer)
            .refers_to("l.team", "teams", filter.vendor)
            .refers_to("o.listing", "listings", filter.listing)
            .filter("o.status = ?", filter.status.map(StringEnum::as_str))
            .fetch(reader, request, read)
    }
}
