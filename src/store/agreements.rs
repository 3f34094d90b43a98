//! Agreements of purchases, and the records that they are made from.

use uuid::Uuid;

use super::{
    Reader, Writer,
    bundle_tasks::TASKSETS_OF_ASSET,
    row::{self, FromRow},
};
use crate::{
    domain::{
        agreements::Terms, listings::ListingRowId, purchases::AssetScope, row_ids::PurchaseRowId,
        teams::TeamRowId, time::Timestamp,
    },
    error::Result,
};

/// The agreement of a purchase.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Agreement {
    /// ID of the document.
    pub document: Option<Uuid>,
    /// The text.
    pub text: String,
    /// SHA-256 digest of the text, in hexadecimal.
    pub sha256: String,
    /// Time at which it was made.
    pub created_at: Timestamp,
}

/// Stores the agreement of a purchase.
pub fn insert(
    writer: &Writer,
    purchase: PurchaseRowId,
    text: &str,
    sha256: &str,
    created_at: Timestamp,
) -> Result<()> {
    const SQL: &str = "INSERT INTO agreements (purchase, text, sha256, created_at) VALUES (?1, ?2, ?3, ?4)";
    writer.run(SQL, (purchase, text, sha256, created_at))
}

/// Returns the agreement of a purchase; `None` if it is not completed, or was before agreements were stored.
pub fn find(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<Agreement>> {
    const SQL: &str = "SELECT p.agreement_document, a.text, a.sha256, a.created_at
         FROM agreements a JOIN purchases p ON p.id = a.purchase WHERE a.purchase = ?1";
    reader.query_first(SQL, [purchase], Agreement::from_row)
}

const COLUMNS: &str =
    "b.name AS buyer, v.name AS vendor, l.uuid, l.title, l.terms, l.delivery_method, l.delivery_days,
    l.available_from";

fn read_terms(row: &rusqlite::Row) -> rusqlite::Result<Terms> {
    Ok(Terms {
        buyer: row.get("buyer")?,
        vendor: row.get("vendor")?,
        listing: row.get("uuid")?,
        title: row.get("title")?,
        conditions: row.get("terms")?,
        delivery: row.get::<_, Option<_>>("delivery_method")?.zip(row.get("delivery_days")?),
        available_from: row.get("available_from")?,
        asset_count: row.get("asset_count")?,
    })
}

/// Returns the present terms of a listing for a buyer, and a text that changes with the assets of the listing and with their
/// data, such as the tasks of their tasksets and the versions of these, and with what the vendor has chosen for the sample if the sale
/// is of it.
pub fn find_terms(
    reader: &Reader,
    listing: ListingRowId,
    buyer: TeamRowId,
    is_of_sample: bool,
) -> Result<(Terms, String)> {
    let sql = format!(
        "SELECT {COLUMNS},
             (SELECT count(*) FROM listing_assets s WHERE s.listing = l.id) AS asset_count,
             (SELECT coalesce(max(h.id), 0) FROM listing_history h
              WHERE h.listing = l.id AND h.event IN ('asset_attached', 'asset_detached'))
             || (SELECT printf(' %d %d', count(*), max(d.attached_at)) FROM listing_assets s
                 JOIN data_objects d ON d.asset = s.asset WHERE s.listing = l.id)
             || (SELECT iif(count(*) = 0, '', printf(' %d %d', sum(t.tasks), sum(t.changes)))
                 FROM listing_assets s JOIN assets a ON a.id = s.asset
                 JOIN tasksets t ON t.id IN ({TASKSETS_OF_ASSET}) WHERE s.listing = l.id)
             || iif(?3, coalesce(' ' || l.sample, ''), '') AS asset_changes
         FROM listings l JOIN teams v ON v.id = l.team JOIN teams b ON b.id = ?2 WHERE l.id = ?1"
    );
    reader.query_one(&sql, (listing, buyer, is_of_sample), |row| {
        Ok((read_terms(row)?, row.get("asset_changes")?))
    })
}

/// Keeps what a buyer agreed to when it ordered.
pub fn insert_ordered_terms(writer: &Writer, purchase: PurchaseRowId, text: &str) -> Result<()> {
    const SQL: &str = "INSERT INTO ordered_terms (purchase, text) VALUES (?1, ?2)";
    writer.run(SQL, (purchase, text))
}

/// Returns the terms that a buyer agreed to when it ordered; `None` if the purchase is completed, or was ordered before these
/// terms were stored.
pub fn find_ordered_terms(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<String>> {
    const SQL: &str = "SELECT text FROM ordered_terms WHERE purchase = ?1";
    reader.query_first(SQL, [purchase], |row| row.get(0))
}

/// Deletes the terms that a buyer agreed to when it ordered, because the agreement contains them.
pub fn delete_ordered_terms(writer: &Writer, purchase: PurchaseRowId) -> Result<()> {
    writer.run("DELETE FROM ordered_terms WHERE purchase = ?1", [purchase])
}

/// Returns the present terms of a purchase, and the assets that it covers.
pub fn find_terms_of_purchase(reader: &Reader, purchase: PurchaseRowId) -> Result<(Terms, AssetScope)> {
    let sql = format!(
        "SELECT {COLUMNS}, p.scope, (SELECT count(*) FROM purchase_assets s WHERE s.purchase = p.id) AS asset_count
         FROM purchases p JOIN listings l ON l.id = p.listing JOIN teams v ON v.id = l.team
         JOIN teams b ON b.id = p.buyer WHERE p.id = ?1"
    );
    reader.query_one(&sql, [purchase], |row| Ok((read_terms(row)?, row::json(row, "scope")?)))
}
