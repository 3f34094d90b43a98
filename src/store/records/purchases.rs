//! Purchases, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{
        money::Cents,
        purchases::{Charges, PayWith, PurchaseKind, PurchaseStatus, ScopeMode},
        time::Timestamp,
    },
    error::Result,
    store::row,
    string_enum::StringEnum,
};

/// A purchase, with both of its parties.
#[derive(Clone, Debug)]
pub struct PurchaseRecord {
    /// ID of the purchase.
    pub id: Uuid,
    /// ID of the buyer.
    pub buyer: Uuid,
    /// ID of the vendor.
    pub vendor: Uuid,
    /// ID of the listing.
    pub listing: Uuid,
    /// ID of the accepted offer; `Some` only for purchases by accepted bid.
    pub offer: Option<Uuid>,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// State of the purchase.
    pub status: PurchaseStatus,
    /// How the buyer pays.
    pub pay_with: PayWith,
    /// Whether it is an exclusive sale once it is completed.
    pub is_exclusive: bool,
    /// What it costs.
    pub charges: Charges,
    /// Which assets it covers.
    pub scope: ScopeMode,
    /// Number of assets that it covers.
    pub asset_count: u64,
    /// IDs of the first of these assets, at most
    /// [`MAX_SELECTED_ASSETS`](crate::domain::purchases::MAX_SELECTED_ASSETS).
    pub assets: Vec<Uuid>,
    /// ID of the agreement document; `None` until it is signed.
    pub agreement_document: Option<Uuid>,
    /// Time at which the agreement was signed.
    pub agreement_signed_at: Option<Timestamp>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which the purchase is canceled unless it is completed; `None` unless pending.
    pub expires_at: Option<Timestamp>,
    /// Time of payment; `None` until then.
    pub paid_at: Option<Timestamp>,
    /// Time at which it was canceled; `None` unless canceled.
    pub cancelled_at: Option<Timestamp>,
    /// Time of the refund; `None` unless refunded.
    pub refunded_at: Option<Timestamp>,
}

/// What the list of purchases can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct PurchaseFilter {
    /// ID of the buyer.
    pub buyer: Option<Uuid>,
    /// ID of the vendor.
    pub vendor: Option<Uuid>,
    /// ID of the listing.
    pub listing: Option<Uuid>,
    /// State of the purchase.
    pub status: Option<PurchaseStatus>,
    /// Kind of purchase.
    pub kind: Option<PurchaseKind>,
}

/// The columns. The limit of the assets is that of a selection, so a selection is always complete.
const COLUMNS: &str =
    "p.uuid, p.kind, p.status, p.pay_with, p.exclusive, p.price_cents, p.buyer_fee_cents, p.platform_fee_cents,
    p.scope ->> 'mode' AS scope, p.agreement_document, p.agreement_signed_at, p.created_at, p.paid_at,
    p.cancelled_at, p.refunded_at, l.uuid AS listing_uuid, b.uuid AS buyer_uuid, v.uuid AS vendor_uuid,
    o.uuid AS offer_uuid, d.due_at AS expires_at,
    (SELECT count(*) FROM purchase_assets s WHERE s.purchase = p.id) AS asset_count,
    (SELECT json_group_array(lower(hex(x.uuid))) FROM (
        SELECT a.uuid FROM purchase_assets s JOIN assets a ON a.id = s.asset
        WHERE s.purchase = p.id ORDER BY s.asset LIMIT 200) x) AS asset_uuids";

const TABLES: &str =
    "purchases p LEFT JOIN listings l ON l.id = p.listing LEFT JOIN teams b ON b.id = p.buyer
    LEFT JOIN teams v ON v.id = l.team LEFT JOIN offers o ON o.id = p.offer
    LEFT JOIN due_steps d ON d.kind = 'purchase_expires' AND d.subject = p.id";

fn read(row: &rusqlite::Row) -> rusqlite::Result<PurchaseRecord> {
    Ok(PurchaseRecord {
        id: row.get("uuid")?,
        buyer: row.get("buyer_uuid")?,
        vendor: row.get("vendor_uuid")?,
        listing: row.get("listing_uuid")?,
        offer: row.get("offer_uuid")?,
        kind: row::string_enum(row, "kind")?,
        status: row::string_enum(row, "status")?,
        pay_with: row::string_enum(row, "pay_with")?,
        is_exclusive: row.get("exclusive")?,
        charges: Charges {
            price: Cents(row.get("price_cents")?),
            buyer_fee: Cents(row.get("buyer_fee_cents")?),
            platform_fee: Cents(row.get("platform_fee_cents")?),
        },
        scope: row::string_enum(row, "scope")?,
        asset_count: row.get("asset_count")?,
        assets: row::json(row, "asset_uuids")?,
        agreement_document: row.get("agreement_document")?,
        agreement_signed_at: row::optional_time(row, "agreement_signed_at")?,
        created_at: row::time(row, "created_at")?,
        expires_at: row::optional_time(row, "expires_at")?,
        paid_at: row::optional_time(row, "paid_at")?,
        cancelled_at: row::optional_time(row, "cancelled_at")?,
        refunded_at: row::optional_time(row, "refunded_at")?,
    })
}

impl Record for PurchaseRecord {
    type Id = Uuid;
    type Filter = PurchaseFilter;

    const NAME: &'static str = "purchase";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<PurchaseRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE p.uuid = ?1"), [id], read)
    }

    fn page(
        reader: &Reader,
        filter: &PurchaseFilter,
        request: PageRequest,
    ) -> Result<RowPage<PurchaseRecord>> {
        PageQuery::new(COLUMNS, TABLES, "p.id")
            .refers_to("p.buyer", "teams", filter.buyer)
            .refers_to("l.team", "teams", filter.vendor)
            .refers_to("p.listing", "listings", filter.listing)
            .filter("p.status = ?", filter.status.map(StringEnum::as_str))
            .filter("p.kind = ?", filter.kind.map(StringEnum::as_str))
            .fetch(reader, request, read)
    }
}
