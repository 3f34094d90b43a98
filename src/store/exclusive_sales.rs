//! Exclusive sales: the assets that are sold exclusively, and the obstacles to an exclusive sale.

use uuid::Uuid;

use super::{Reader, Writer, index_queue, inventory, purchases::PurchaseRow};
use crate::{
    domain::{
        assets::Exclusivity,
        listings::ListingRowId,
        row_ids::{AssetRowId, PurchaseRowId},
    },
    error::{NameList, Result, name_of},
};

/// The assets that prevent the exclusive sale of a set of assets, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstacles {
    /// Assets that were sold exclusively, and not refunded. They cannot be sold in any way.
    pub sold: NameList,
    /// Assets that a completed purchase covers, which is not of a sample.
    pub covered: NameList,
    /// Assets that are not codebases.
    pub other_kinds: NameList,
    /// Codebases that are not available for exclusive sales.
    pub unavailable: NameList,
}

/// Whether a completed purchase other than `?2` covers the asset `a`, or another one of its team with the same data, and is not of a
/// sample.
fn is_covered() -> String {
    let same_data = has_data_of("covered_data");
    format!(
        "(EXISTS (
             SELECT 1 FROM purchase_assets c JOIN purchases p ON p.id = c.purchase
             WHERE c.asset = a.id AND p.status = 'completed' AND p.kind <> 'sample' AND p.id IS NOT ?2)
         OR {same_data})"
    )
}

/// Whether the asset `a`, or another one of its team with the same data, was sold exclusively, and not refunded.
fn is_sold_asset() -> String {
    let same_data = has_data_of("exclusive_data");
    format!("(EXISTS (SELECT 1 FROM exclusive_sales e WHERE e.asset = a.id) OR {same_data})")
}

/// Whether the asset `a` has data that is in a table with teams and identities of data.
fn has_data_of(table: &str) -> String {
    let identities = identities("d", "d", "u");
    format!(
        "EXISTS (
             SELECT 1 FROM data_objects d LEFT JOIN uploads u ON u.id = d.upload, {identities}
             WHERE d.asset = a.id
                 AND EXISTS (SELECT 1 FROM {table} k WHERE k.team = a.team AND k.identity = i.value))"
    )
}

/// The identity of data, as `i.value`: the repository from one table, the commit from another one, and the digest of an upload.
/// Null without an identity.
fn identities(repository: &str, commit: &str, upload: &str) -> String {
    format!(
        "json_each(json_array({repository}.channel || ' ' || lower({repository}.repo_full_name), \
         {commit}.commit_sha, {upload}.sha256)) i"
    )
}

/// Selects the identities of the data that purchases have delivered: the selling team, the identity, and the purchase. `sales`
/// are purchases as `p` and their listings as `l`. The joins are in the order in which there are few rows.
fn delivered_data(sales: &str) -> String {
    let identities = identities("d", "t", "u");
    format!(
        "SELECT l.team AS team, i.value AS identity, p.id AS purchase
         FROM {sales} CROSS JOIN bundles b ON b.purchase = p.id CROSS JOIN bundle_entries t ON t.bundle = b.id
         LEFT JOIN data_objects d ON d.asset = t.asset AND d.attached_at <= p.paid_at
         LEFT JOIN uploads u ON u.id = t.upload, {identities}
         WHERE i.value IS NOT NULL"
    )
}

/// The table of the data that the team of a listing has sold in completed purchases other than `?2`, except samples.
fn covered_data(listing: &str) -> String {
    let data = delivered_data(&format!(
        "listings l CROSS JOIN purchases p ON p.listing = l.id
             AND l.team = (SELECT team FROM listings WHERE id = {listing})
             AND p.status = 'completed' AND p.kind <> 'sample' AND p.id IS NOT ?2"
    ));
    format!("covered_data AS MATERIALIZED ({data})")
}

/// Selects the assets of the exclusive sale `?1`, and others of its team with the same data.
fn assets_with_sold_data() -> String {
    let same_data = has_data_of("(SELECT * FROM exclusive_data WHERE purchase = ?1)");
    format!(
        "SELECT asset FROM purchase_assets WHERE purchase = ?1
         UNION SELECT a.id FROM purchases p JOIN listings l ON l.id = p.listing JOIN assets a ON a.team = l.team
         WHERE p.id = ?1 AND {same_data}"
    )
}

/// Returns the obstacles to an exclusive sale of the assets of a listing.
pub fn find_obstacles(reader: &Reader, listing: ListingRowId) -> Result<Obstacles> {
    let sql = format!(
        "WITH {covered_data}
         SELECT a.title, a.uuid, {is_sold}, {is_covered}, a.kind <> 'codebase',
             a.kind = 'codebase' AND a.exclusivity IS NOT 'available'
         FROM listing_assets s JOIN assets a ON a.id = s.asset WHERE s.listing = ?1 ORDER BY s.position",
        covered_data = covered_data("?1"),
        is_sold = is_sold_asset(),
        is_covered = is_covered(),
    );
    read_obstacles(reader, &sql, (listing, None::<i64>))
}

/// Names the assets of a listing that were sold exclusively, and not refunded, or have data that was.
pub fn find_sold_assets(reader: &Reader, listing: ListingRowId) -> Result<NameList> {
    let sql = format!(
        "SELECT a.title, a.uuid, TRUE, FALSE, FALSE, FALSE
         FROM listing_assets s JOIN assets a ON a.id = s.asset WHERE s.listing = ?1 AND {} ORDER BY s.position",
        is_sold_asset()
    );
    Ok(read_obstacles(reader, &sql, [listing])?.sold)
}

fn read_obstacles(reader: &Reader, sql: &str, parameters: impl rusqlite::Params) -> Result<Obstacles> {
    let mut found = Obstacles::default();
    reader.for_each_row(sql, parameters, |row| {
        let (title, id): (String, Uuid) = (row.get(0)?, row.get(1)?);
        let obstacles = [&mut found.sold, &mut found.covered, &mut found.other_kinds, &mut found.unavailable];
        for (column, named) in (2_usize..).zip(obstacles) {
            if row.get(column)? {
                named.add(|| name_of(&title, id));
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Whether an asset was sold exclusively, and not refunded.
pub fn is_sold(reader: &Reader, asset: AssetRowId) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM exclusive_sales WHERE asset = ?1)";
    reader.query_one(SQL, [asset], |row| row.get(0))
}

/// Returns the assets of a purchase that were sold exclusively, and, if it is exclusive, those that another completed purchase
/// covers. What holds for an asset holds for another one of its team with the same data.
pub fn find_obstacles_of_purchase(reader: &Reader, purchase: PurchaseRowId) -> Result<Obstacles> {
    let sql = format!(
        "WITH {covered_data}
         SELECT a.title, a.uuid, {is_sold}, iif((SELECT exclusive FROM purchases WHERE id = ?1), {is_covered}, FALSE),
             FALSE, FALSE
         FROM purchase_assets s JOIN assets a ON a.id = s.asset WHERE s.purchase = ?1 ORDER BY s.asset",
        covered_data = covered_data("(SELECT listing FROM purchases WHERE id = ?1)"),
        is_sold = is_sold_asset(),
        is_covered = is_covered(),
    );
    read_obstacles(reader, &sql, (purchase, purchase))
}

/// Records that the assets of a purchase, and the data that its bundle delivers, are sold exclusively. Fails if one of the assets
/// already is.
pub fn insert(writer: &Writer, purchase: PurchaseRowId) -> Result<()> {
    const ASSETS: &str = "INSERT INTO exclusive_sales (asset, purchase)
         SELECT asset, purchase FROM purchase_assets WHERE purchase = ?1";
    writer.execute(ASSETS, [purchase])?;
    let data = delivered_data("purchases p CROSS JOIN listings l ON l.id = p.listing AND p.id = ?1");
    let sql = format!("INSERT OR IGNORE INTO exclusive_data (team, identity, purchase) {data}");
    writer.run(&sql, [purchase])
}

/// Deletes the exclusive sales of a purchase.
pub fn delete(writer: &Writer, purchase: PurchaseRowId) -> Result<()> {
    writer.execute("DELETE FROM exclusive_sales WHERE purchase = ?1", [purchase])?;
    writer.run("DELETE FROM exclusive_data WHERE purchase = ?1", [purchase])
}

/// Sets whether the codebases of a purchase are available for exclusive sales, unless they are deleted. Returns
/// the IDs of the changed codebases.
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
    let changed: Vec<(AssetRowId, Uuid)> =
        writer.query_all(CHANGED, (purchase, exclusivity), |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (asset, _) in &changed {
        writer.execute("UPDATE assets SET exclusivity = ?2 WHERE id = ?1", (asset, exclusivity))?;
        inventory::upsert_row(writer, *asset)?;
    }
    index_queue::enqueue_all(writer, LISTINGS, [purchase])?;
    Ok(changed.into_iter().map(|(_, id)| id).collect())
}

/// Returns the row IDs of the listings that carry an asset of an exclusive sale, or one with the same data, and are not archived.
pub fn list_carrying_listings(reader: &Reader, purchase: PurchaseRowId) -> Result<Vec<ListingRowId>> {
    let sql = format!(
        "SELECT DISTINCT l.id FROM ({}) s JOIN listing_assets la ON la.asset = s.asset
         JOIN listings l ON l.id = la.listing WHERE l.catalog_status <> 'archived' ORDER BY l.id",
        assets_with_sold_data()
    );
    reader.query_all(&sql, [purchase], |row| row.get(0))
}

/// Returns the pending purchases that an exclusive sale ends, oldest first: those of listings that carry one
/// of its assets, or one with the same data, and those that cover such an asset and are not of samples.
pub fn list_ended_purchases(reader: &Reader, purchase: PurchaseRowId) -> Result<Vec<PurchaseRow>> {
    let assets = assets_with_sold_data();
    let condition = format!(
        "p.status = 'pending' AND (
             p.listing IN (SELECT la.listing FROM ({assets}) s JOIN listing_assets la ON la.asset = s.asset)
             OR p.kind <> 'sample' AND p.id IN (
                 SELECT c.purchase FROM ({assets}) s JOIN purchase_assets c ON c.asset = s.asset))"
    );
    super::purchases::list_where(reader, &condition, purchase)
}

/// Returns messages about exclusive sales that do not match the purchases, and about sold assets that are still
/// offered. Empty if there are none.
pub fn find_inconsistencies(reader: &Reader) -> Result<Vec<String>> {
    const UNFOUNDED: &str = "SELECT a.uuid, p.uuid FROM exclusive_sales s JOIN assets a ON a.id = s.asset
         JOIN purchases p ON p.id = s.purchase WHERE NOT (p.exclusive AND p.status = 'completed') ORDER BY s.asset";
    const MISSING: &str = "SELECT p.uuid, a.uuid FROM purchases p JOIN purchase_assets c ON c.purchase = p.id
         JOIN assets a ON a.id = c.asset
         WHERE p.exclusive AND p.status = 'completed'
             AND NOT EXISTS (SELECT 1 FROM exclusive_sales s WHERE s.asset = c.asset AND s.purchase = p.id)
         ORDER BY p.id, a.id";
    const OFFERED: &str = "SELECT l.uuid, a.uuid FROM exclusive_sales s JOIN assets a ON a.id = s.asset
         JOIN listing_assets la ON la.asset = s.asset
         JOIN listings l ON l.id = la.listing WHERE l.catalog_status = 'published' ORDER BY l.id, a.id";
    let mut found = Vec::new();
    let mut add = |sql: &str, describe: &dyn Fn(Uuid, Uuid) -> String| -> Result<()> {
        found.extend(reader.query_all(sql, [], |row| Ok(describe(row.get(0)?, row.get(1)?)))?);
        Ok(())
    };
    add(UNFOUNDED, &|asset, purchase| {
        format!(
            "the asset {asset} is recorded as sold exclusively by the purchase {purchase}, which is no completed \
             exclusive purchase"
        )
    })?;
    add(MISSING, &|purchase, asset| {
        format!(
            "the purchase {purchase} is a completed exclusive sale, but its asset {asset} is not recorded as sold \
             exclusively"
        )
    })?;
    add(OFFERED, &|listing, asset| {
        format!("the listing {listing} is in the catalog, but its asset {asset} was sold exclusively")
    })?;
    Ok(found)
}
