//! Exclusive sales: which assets are sold exclusively, and what prevents an exclusive sale.

use uuid::Uuid;

use super::{Reader, Writer, index_queue, inventory, purchases::PurchaseRow};
use crate::{
    domain::{
        assets::Exclusivity,
        listings::ListingRowId,
        row_ids::{AssetRowId, PurchaseRowId},
    },
    error::Result,
    string_enum::StringEnum,
};

/// What prevents the exclusive sale of a set of assets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Obstacles {
    /// An asset was sold exclusively, and not refunded. It cannot be sold in any way.
    pub is_sold: bool,
    /// A completed purchase covers an asset, and is not of a sample.
    pub is_covered: bool,
    /// An asset is not a codebase.
    pub has_other_kind: bool,
    /// A codebase is not available for exclusive sales.
    pub has_unavailable: bool,
}

/// Whether a completed purchase other than `?2` covers the asset `s.asset`, and is not of a sample.
const IS_COVERED: &str = "EXISTS (
    SELECT 1 FROM purchase_assets c JOIN purchases p ON p.id = c.purchase
    WHERE c.asset = s.asset AND p.status = 'completed' AND p.kind <> 'sample' AND p.id IS NOT ?2)";

/// Returns what prevents the exclusive sale of the assets of a listing.
pub fn find_obstacles(reader: &Reader, listing: ListingRowId) -> Result<Obstacles> {
    let sql = format!(
        "SELECT coalesce(max(EXISTS (SELECT 1 FROM exclusive_sales e WHERE e.asset = s.asset)), 0),
             coalesce(max({IS_COVERED}), 0), coalesce(max(a.kind <> 'codebase'), 0),
             coalesce(max(a.kind = 'codebase' AND a.exclusivity IS NOT 'available'), 0)
         FROM listing_assets s JOIN assets a ON a.id = s.asset WHERE s.listing = ?1"
    );
    reader.query_one(&sql, (listing, None::<i64>), |row| {
        Ok(Obstacles {
            is_sold: row.get(0)?,
            is_covered: row.get(1)?,
            has_other_kind: row.get(2)?,
            has_unavailable: row.get(3)?,
        })
    })
}

/// Whether an asset of a listing was sold exclusively, and not refunded.
pub fn has_sold_asset(reader: &Reader, listing: ListingRowId) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (
             SELECT 1 FROM listing_assets s JOIN exclusive_sales e ON e.asset = s.asset WHERE s.listing = ?1)";
    reader.query_one(SQL, [listing], |row| row.get(0))
}

/// Whether an asset was sold exclusively, and not refunded.
pub fn is_sold(reader: &Reader, asset: AssetRowId) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM exclusive_sales WHERE asset = ?1)";
    reader.query_one(SQL, [asset], |row| row.get(0))
}

/// Returns whether an asset of a purchase was sold exclusively, and whether another completed purchase covers
/// one.
pub fn find_obstacles_of_purchase(reader: &Reader, purchase: PurchaseRowId) -> Result<Obstacles> {
    let sql = format!(
        "SELECT coalesce(max(EXISTS (SELECT 1 FROM exclusive_sales e WHERE e.asset = s.asset)), 0),
             coalesce(max({IS_COVERED}), 0)
         FROM purchase_assets s WHERE s.purchase = ?1"
    );
    reader.query_one(&sql, (purchase, purchase), |row| {
        Ok(Obstacles { is_sold: row.get(0)?, is_covered: row.get(1)?, ..Obstacles::default() })
    })
}

/// Records that the assets of a purchase are sold exclusively. Fails if one of them already is.
pub fn insert(writer: &Writer, purchase: PurchaseRowId) -> Result<()> {
    const SQL: &str = "INSERT INTO exclusive_sales (asset, purchase)
         SELECT asset, purchase FROM purchase_assets WHERE purchase = ?1";
    writer.execute(SQL, [purchase])?;
    Ok(())
}

/// Deletes the exclusive sales of a purchase.
pub fn delete(writer: &Writer, purchase: PurchaseRowId) -> Result<()> {
    writer.execute("DELETE FROM exclusive_sales WHERE purchase = ?1", [purchase])?;
    Ok(())
}

/// Sets whether the codebases of a purchase are available for exclusive sales, unless they are deleted. Returns
/// the IDs of those that changed.
pub fn set_exclusivity(
    writer: &Writer,
    purchase: PurchaseRowId,
    exclusivity: Exclusivity,
) -> Result<Vec<Uuid>> {
    const CHANGED: &str = "SELECT a.id, a.uuid FROM purchase_assets s JOIN assets a ON a.id = s.asset
         WHERE s.purchase = ?1 AND a.kind = 'codebase' AND a.deleted_at IS NULL AND a.exclusivity IS NOT ?2
         ORDER BY a.id";
    const LISTINGS: &str =
        "SELECT DISTINCT la.listing FROM purchase_assets s JOIN listing_assets la ON la.asset = s.asset
         WHERE s.purchase = ?1 ORDER BY la.listing";
    let value = exclusivity.as_str();
    let changed: Vec<(AssetRowId, Uuid)> =
        writer.query_all(CHANGED, (purchase, value), |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (asset, _) in &changed {
        writer.execute("UPDATE assets SET exclusivity = ?2 WHERE id = ?1", (asset, value))?;
        inventory::upsert_row(writer, *asset)?;
    }
    index_queue::enqueue_all(writer, LISTINGS, [purchase])?;
    Ok(changed.into_iter().map(|(_, id)| id).collect())
}

/// Returns the row IDs of the listings that carry an asset of a purchase and are not archived.
pub fn list_carrying_listings(reader: &Reader, purchase: PurchaseRowId) -> Result<Vec<ListingRowId>> {
    const SQL: &str =
        "SELECT DISTINCT l.id FROM purchase_assets s JOIN listing_assets la ON la.asset = s.asset
         JOIN listings l ON l.id = la.listing
         WHERE s.purchase = ?1 AND l.catalog_status <> 'archived' ORDER BY l.id";
    reader.query_all(SQL, [purchase], |row| row.get(0))
}

/// Returns the pending purchases that an exclusive sale ends, oldest first: those of listings that carry one
/// of its assets, and those that cover one of them and are not of samples.
pub fn list_ended_purchases(reader: &Reader, purchase: PurchaseRowId) -> Result<Vec<PurchaseRow>> {
    super::purchases::list_where(
        reader,
        "p.status = 'pending' AND (
             p.listing IN (
                 SELECT la.listing FROM purchase_assets s JOIN listing_assets la ON la.asset = s.asset WHERE s.purchase = ?1)
             OR p.kind <> 'sample' AND p.id IN (
                 SELECT c.purchase FROM purchase_assets s JOIN purchase_assets c ON c.asset = s.asset WHERE s.purchase = ?1))",
        purchase,
    )
}

/// Returns messages about exclusive sales that do not match the purchases, and about sold assets that are still
/// offered. Empty if there are none.
pub fn find_inconsistencies(reader: &Reader) -> Result<Vec<String>> {
    const UNFOUNDED: &str = "SELECT a.uuid FROM exclusive_sales s JOIN assets a ON a.id = s.asset
         JOIN purchases p ON p.id = s.purchase WHERE NOT (p.exclusive AND p.status = 'completed') ORDER BY s.asset";
    const MISSING: &str = "SELECT p.uuid FROM purchases p JOIN purchase_assets c ON c.purchase = p.id
         WHERE p.exclusive AND p.status = 'completed'
             AND NOT EXISTS (SELECT 1 FROM exclusive_sales s WHERE s.asset = c.asset AND s.purchase = p.id)
         ORDER BY p.id";
    const OFFERED: &str = "SELECT l.uuid FROM exclusive_sales s JOIN listing_assets la ON la.asset = s.asset
         JOIN listings l ON l.id = la.listing WHERE l.catalog_status = 'published' ORDER BY l.id";
    let mut found = Vec::new();
    for (sql, kind, problem) in [
        (UNFOUNDED, "asset", "is recorded as sold exclusively, but not by a completed exclusive purchase"),
        (
            MISSING,
            "purchase",
            "is a completed exclusive sale, but its assets are not recorded as sold exclusively",
        ),
        (OFFERED, "listing", "is in the catalog, but an asset of it was sold exclusively"),
    ] {
        let ids: Vec<Uuid> = reader.query_all(sql, [], |row| row.get(0))?;
        found.extend(ids.into_iter().map(|id| format!("the {kind} {id} {problem}")));
    }
    Ok(found)
}
