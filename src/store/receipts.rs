//! What receipts of purchases list: the delivered assets.

use uuid::Uuid;

use super::Reader;
use crate::{
    domain::{
        assets::Kind,
        bundles::EntryContent,
        row_ids::{AssetRowId, BundleRowId, PurchaseRowId},
    },
    error::Result,
};

/// An asset on a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptLine {
    /// Row ID of the asset, after which the next page of lines begins.
    pub row_id: AssetRowId,
    /// ID of the asset.
    pub asset: Uuid,
    /// Name of the asset.
    pub name: String,
    /// Kind of the asset.
    pub kind: Kind,
    /// The file that is delivered of it; `None` until it is prepared, and after a refund.
    pub file: Option<ReceiptFile>,
}

/// A file on a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptFile {
    /// Path in the bundle.
    pub path: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal.
    pub sha256: String,
    /// Why the file is only the description of the asset; `None` unless its data cannot be delivered.
    pub problem: Option<String>,
}

impl ReceiptLine {
    /// Whether only the description of the asset is delivered.
    pub fn is_description_only(&self) -> bool {
        let path = EntryContent::Description.path(self.asset, false);
        self.file.as_ref().is_some_and(|file| file.path == path)
    }
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<ReceiptLine> {
    let file = match row.get("path")? {
        Some(path) => Some(ReceiptFile {
            path,
            size_bytes: row.get("size_bytes")?,
            sha256: row.get("sha256")?,
            problem: row.get("problem")?,
        }),
        None => None,
    };
    Ok(ReceiptLine {
        row_id: row.get("id")?,
        asset: row.get("uuid")?,
        name: row.get("name")?,
        kind: row.get("kind")?,
        file,
    })
}

/// Returns the entries of the bundle of a purchase as lines, after an asset. Descriptions keep the title that an asset had.
pub fn list_of_bundle(
    reader: &Reader,
    bundle: BundleRowId,
    after: AssetRowId,
    limit: u32,
) -> Result<Vec<ReceiptLine>> {
    const SQL: &str =
        "SELECT a.id, a.uuid, coalesce(e.description ->> 'title', a.title) AS name, a.kind, e.path, e.size_bytes,
             e.sha256, e.problem
         FROM bundle_entries e JOIN assets a ON a.id = e.asset
         WHERE e.bundle = ?1 AND e.asset > ?2 ORDER BY e.asset LIMIT ?3";
    reader.query_all(SQL, (bundle, after, limit), read)
}

/// Returns the assets that a purchase without a bundle covers as lines, after an asset.
pub fn list_of_purchase(
    reader: &Reader,
    purchase: PurchaseRowId,
    after: AssetRowId,
    limit: u32,
) -> Result<Vec<ReceiptLine>> {
    const SQL: &str = "SELECT a.id, a.uuid, a.title AS name, a.kind, NULL AS path
         FROM purchase_assets s JOIN assets a ON a.id = s.asset
         WHERE s.purchase = ?1 AND s.asset > ?2 ORDER BY s.asset LIMIT ?3";
    reader.query_all(SQL, (purchase, after, limit), read)
}

/// Returns the number of assets that a purchase covers.
pub fn count_assets(reader: &Reader, purchase: PurchaseRowId) -> Result<u64> {
    reader.query_one("SELECT count(*) FROM purchase_assets WHERE purchase = ?1", [purchase], |row| row.get(0))
}
