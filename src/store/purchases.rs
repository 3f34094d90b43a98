//! Purchases, with the assets that they cover. Exclusive sales are in `exclusive_sales`.

use uuid::Uuid;

use super::{
    Reader, Writer,
    record_filters::FilterColumns,
    row::{self, ColumnIndexes, FromColumns, FromRow},
};
use crate::{
    domain::{
        listings::ListingRowId,
        money::Cents,
        purchases::{AssetScope, Charges, PayWith, PurchaseKind, PurchaseStatus, ScopeMode},
        record_filters::RecordFilter,
        row_ids::{AssetRowId, OfferRowId, PurchaseRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// The fields of a purchase to insert.
#[derive(Debug)]
pub struct NewPurchase<'a> {
    /// ID of the purchase.
    pub id: Uuid,
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// Row ID of the accepted offer; `Some` only for purchases by accepted bid.
    pub offer: Option<OfferRowId>,
    /// The assets that it covers. Unless it is a selection, these are all assets that the listing has now.
    pub scope: &'a AssetScope,
    /// How the buyer pays.
    pub pay_with: PayWith,
    /// Whether it is an exclusive sale once it is completed.
    pub is_exclusive: bool,
    /// Price before fees.
    pub price: Cents,
    /// Fee that the buyer pays in addition to the price.
    pub buyer_fee: Cents,
    /// Fee that the platform deducts from the vendor's proceeds.
    pub platform_fee: Cents,
    /// Time at which the checkout started.
    pub created_at: Timestamp,
}

/// Inserts a pending purchase with the assets that it covers, and returns its row ID.
pub fn insert(writer: &Writer, purchase: &NewPurchase) -> Result<PurchaseRowId> {
    const SQL: &str = "INSERT INTO purchases (uuid, listing, buyer, kind, status, offer, scope, price_cents,
             buyer_fee_cents, platform_fee_cents, created_at, pay_with, exclusive)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let row_id = PurchaseRowId(writer.insert(
        SQL,
        (
            purchase.id,
            purchase.listing,
            purchase.buyer,
            purchase.kind,
            PurchaseStatus::Pending,
            purchase.offer,
            row::to_json(purchase.scope)?,
            purchase.price,
            purchase.buyer_fee,
            purchase.platform_fee,
            purchase.created_at,
            purchase.pay_with,
            purchase.is_exclusive,
        ),
    )?);
    insert_assets(writer, row_id, purchase)?;
    Ok(row_id)
}

/// Stores which assets a purchase covers. One statement for any number of assets.
fn insert_assets(writer: &Writer, row_id: PurchaseRowId, purchase: &NewPurchase) -> Result<()> {
    const LISTED: &str = "INSERT INTO purchase_assets (purchase, asset)
         SELECT ?1, asset FROM listing_assets WHERE listing = ?2";
    const SELECTED: &str = "INSERT OR IGNORE INTO purchase_assets (purchase, asset)
         SELECT ?1, a.id FROM json_each(?2) j JOIN assets a ON a.uuid = unhex(j.value)";
    if purchase.scope.mode == ScopeMode::Selection {
        writer.execute(SELECTED, (row_id, row::ids_to_json(&purchase.scope.asset_ids)?))?;
    } else {
        writer.execute(LISTED, (row_id, purchase.listing))?;
    }
    Ok(())
}

/// A purchase with what decides what can be done with it.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct PurchaseRow {
    /// Row ID of the purchase.
    pub row_id: PurchaseRowId,
    /// ID of the purchase.
    pub id: Uuid,
    /// Status of the purchase.
    pub status: PurchaseStatus,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// How the buyer pays.
    pub pay_with: PayWith,
    /// Whether it is an exclusive sale once it is completed.
    pub is_exclusive: bool,
    /// What it costs.
    #[row(flatten)]
    pub charges: Charges,
    /// Time at which it was created.
    pub created_at: Timestamp,
    /// Time of payment; `None` until then.
    pub paid_at: Option<Timestamp>,
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// Row ID of the vendor.
    pub vendor: TeamRowId,
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Title of the listing.
    pub listing_title: String,
}

const SELECT_ROW: &str =
    "SELECT p.id, p.uuid, p.status, p.kind, p.pay_with, p.exclusive, p.price_cents, p.buyer_fee_cents,
         p.platform_fee_cents, p.created_at, p.paid_at, p.buyer, l.team, l.id, l.uuid, l.title
     FROM purchases p JOIN listings l ON l.id = p.listing";

impl FromColumns for Charges {
    fn from_columns(row: &rusqlite::Row, columns: &mut ColumnIndexes) -> rusqlite::Result<Charges> {
        let mut next = || row.get(columns.next());
        Ok(Charges { price: next()?, buyer_fee: next()?, platform_fee: next()? })
    }
}

/// Returns the purchase with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<PurchaseRow>> {
    reader.query_first(&format!("{SELECT_ROW} WHERE p.uuid = ?1"), [id], PurchaseRow::from_row)
}

/// Returns the purchase with this row ID.
pub fn find_by_row_id(reader: &Reader, row_id: PurchaseRowId) -> Result<Option<PurchaseRow>> {
    reader.query_first(&format!("{SELECT_ROW} WHERE p.id = ?1"), [row_id], PurchaseRow::from_row)
}

/// Returns the pending purchases of a team: those that it made, and those of its listings, oldest first.
pub fn list_pending_of(reader: &Reader, team: TeamRowId) -> Result<Vec<PurchaseRow>> {
    let condition = "p.status = 'pending' AND p.id IN (
        SELECT id FROM purchases WHERE buyer = ?1
        UNION SELECT s.id FROM listings k JOIN purchases s ON s.listing = k.id AND s.status = 'pending' WHERE k.team = ?1)";
    list_where(reader, condition, team)
}

/// Returns the pending purchases that cover an asset, oldest first.
pub fn list_pending_with_asset(reader: &Reader, asset: AssetRowId) -> Result<Vec<PurchaseRow>> {
    let condition =
        "p.status = 'pending' AND p.id IN (SELECT purchase FROM purchase_assets WHERE asset = ?1)";
    list_where(reader, condition, asset)
}

/// Returns the purchases (alias `p`) that match a condition with the parameter `?1`, oldest first.
pub(super) fn list_where(
    reader: &Reader,
    condition: &str,
    parameter: impl rusqlite::ToSql,
) -> Result<Vec<PurchaseRow>> {
    reader.query_all(
        &format!("{SELECT_ROW} WHERE {condition} ORDER BY p.id"),
        [parameter],
        PurchaseRow::from_row,
    )
}

/// Returns the ID of a buyer's pending or completed purchase of a listing: of its data, or else of its sample.
pub fn find_in_effect(
    reader: &Reader,
    buyer: TeamRowId,
    listing: ListingRowId,
    of_data: bool,
) -> Result<Option<Uuid>> {
    const SQL: &str = "SELECT uuid FROM purchases
         WHERE buyer = ?1 AND listing = ?2 AND status IN ('pending', 'completed') AND (kind <> 'sample') = ?3
         LIMIT 1";
    reader.query_first(SQL, (buyer, listing, of_data), |row| row.get(0))
}

/// Records the payment of a purchase, and that its agreement was signed at the same time.
pub fn set_completed(writer: &Writer, row_id: PurchaseRowId, agreement: Uuid, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE purchases SET status = 'completed', paid_at = ?2, agreement_document = ?3,
             agreement_signed_at = ?2
         WHERE id = ?1";
    writer.run(SQL, (row_id, at, agreement))
}

/// Records that a purchase was canceled.
pub fn set_cancelled(writer: &Writer, row_id: PurchaseRowId, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE purchases SET status = 'cancelled', cancelled_at = ?2 WHERE id = ?1";
    writer.run(SQL, (row_id, at))
}

/// Records that a purchase was refunded.
pub fn set_refunded(writer: &Writer, row_id: PurchaseRowId, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE purchases SET status = 'refunded', refunded_at = ?2 WHERE id = ?1";
    writer.run(SQL, (row_id, at))
}

/// An asset that a buyer selects.
#[derive(Clone, Copy, Debug, FromRow)]
#[row(by_position)]
pub struct SelectedAsset {
    /// ID of the asset.
    pub id: Uuid,
    /// Asking price; `None` if it has none.
    pub price: Option<Cents>,
}

/// Returns the assets among these that are on a listing.
pub fn list_selected(reader: &Reader, listing: ListingRowId, ids: &[Uuid]) -> Result<Vec<SelectedAsset>> {
    const SQL: &str =
        "SELECT a.uuid, a.price_cents FROM json_each(?2) j JOIN assets a ON a.uuid = unhex(j.value)
         JOIN listing_assets la ON la.asset = a.id AND la.listing = ?1";
    reader.query_all(SQL, (listing, row::ids_to_json(ids)?), SelectedAsset::from_row)
}

/// Returns the assets that a purchase covers, oldest first.
pub fn list_assets(reader: &Reader, purchase: PurchaseRowId) -> Result<Vec<AssetRowId>> {
    const SQL: &str = "SELECT asset FROM purchase_assets WHERE purchase = ?1 ORDER BY asset";
    reader.query_all(SQL, [purchase], |row| row.get(0))
}

/// A purchase of a listing, as the buyer sees it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct ListingPurchase {
    /// ID of the purchase.
    pub id: Uuid,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// Whether it covers all assets, a sample of them, or selected ones.
    pub scope: ScopeMode,
    /// Status of the purchase.
    pub status: PurchaseStatus,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of payment; `None` until then.
    pub paid_at: Option<Timestamp>,
}

/// Returns a team's purchases of a listing: first those in effect, each part newest first.
pub fn list_of_listing(
    reader: &Reader,
    buyer: TeamRowId,
    listing: ListingRowId,
    limit: u32,
) -> Result<Vec<ListingPurchase>> {
    const SQL: &str = "SELECT uuid, kind, scope ->> 'mode', status, created_at, paid_at FROM purchases
         WHERE buyer = ?1 AND listing = ?2 ORDER BY status IN ('pending', 'completed') DESC, id DESC LIMIT ?3";
    reader.query_all(SQL, (buyer, listing, limit), ListingPurchase::from_row)
}

/// How much of a listing a team has bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurchaseLevel {
    /// No completed purchase.
    Nothing,
    /// A sample. The team can see the listing whatever its status.
    Sample,
    /// The full data. The team can also download the bundle.
    Full,
}

/// Returns how much of a listing a team has bought. Only completed purchases count.
pub fn purchase_level(reader: &Reader, buyer: TeamRowId, listing: ListingRowId) -> Result<PurchaseLevel> {
    const SQL: &str = "SELECT max(CASE kind WHEN 'sample' THEN 1 ELSE 2 END) FROM purchases
         WHERE buyer = ?1 AND listing = ?2 AND status = 'completed'";
    let highest: Option<i64> = reader.query_one(SQL, (buyer.0, listing.0), |row| row.get(0))?;
    Ok(match highest {
        None => PurchaseLevel::Nothing,
        Some(1) => PurchaseLevel::Sample,
        Some(_) => PurchaseLevel::Full,
    })
}

/// The listing of a purchase or an offer, for its buyer.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct BuyerListing {
    /// ID of the listing.
    pub id: Uuid,
    /// The rendered summary, as a JSON object.
    pub summary: Vec<u8>,
    /// Whether the buyer can see it: it is published, it is the buyer's own, or the buyer has a completed
    /// purchase of it.
    pub is_visible: bool,
}

/// The joins that [`LISTING_COLUMNS`] needs, with the purchases or offers `d` of a buyer.
pub const LISTING_JOINS: &str =
    "JOIN listings l ON l.id = d.listing JOIN listing_renderings r ON r.listing = l.id";

/// Whether the buyer of a purchase or an offer `d` can see its listing `l`.
pub const LISTING_IS_VISIBLE: &str = "(l.catalog_status = 'published' OR l.team = d.buyer OR EXISTS (
    SELECT 1 FROM purchases b WHERE b.buyer = d.buyer AND b.listing = l.id AND b.status = 'completed'))";

/// The columns of a [`BuyerListing`] before [`LISTING_IS_VISIBLE`], which is its last one.
pub const LISTING_COLUMNS: &str = "l.uuid, r.item";

/// A completed purchase, as its buyer sees it.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct Purchase {
    /// The purchased listing.
    #[row(flatten)]
    pub listing: BuyerListing,
    /// ID of the purchase.
    pub id: Uuid,
    /// State of the purchase.
    pub status: PurchaseStatus,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// The assets that it covers.
    #[row(json)]
    pub scope: AssetScope,
    /// Price before fees.
    pub price: Cents,
    /// Fee that the buyer paid in addition to the price.
    pub buyer_fee: Cents,
    /// Time at which the checkout started.
    pub created_at: Timestamp,
    /// ID of the agreement document.
    pub agreement_document: Option<Uuid>,
    /// Time at which the agreement was signed.
    pub agreement_signed_at: Option<Timestamp>,
}

/// What the list of a buyer's purchases can be filtered by.
const FILTERS: FilterColumns = FilterColumns {
    status: Some(("d.status", Some("completed"))),
    kind: Some("d.kind"),
    vendor: Some("(SELECT v.name_key FROM teams v WHERE v.id = l.team)"),
    listing: Some("d.listing"),
    ..FilterColumns::by_time("d.created_at")
};

/// Returns the purchases of a buyer that a filter allows, newest first: the completed ones unless it states other
/// statuses.
pub fn list(reader: &Reader, buyer: TeamRowId, filter: &RecordFilter) -> Result<Vec<Purchase>> {
    let (conditions, values) = FILTERS.conditions(buyer, filter);
    let sql = format!(
        "SELECT {LISTING_COLUMNS}, {LISTING_IS_VISIBLE}, d.uuid, d.status, d.kind, d.scope, d.price_cents,
             d.buyer_fee_cents, d.created_at, d.agreement_document, d.agreement_signed_at
         FROM purchases d {LISTING_JOINS} WHERE d.buyer = ?{conditions}
         ORDER BY d.created_at DESC, d.id DESC"
    );
    reader.query_all(&sql, rusqlite::params_from_iter(values), Purchase::from_row)
}
