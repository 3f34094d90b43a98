//! Exclusive sales: which assets are sold exclusively, and what prevents an exclusive sale.

use uuid::Uuid;

use super::{Reader, Writer, index_queue, inventory, purchases::PurchaseRow};
use crate::{
    domain::{
        assets::Exclusivity,
        listings::ListingRowId,
        row_ids::{AssetRowId, PurchaseRowId},
    },
    error::{Named, Result, name_of},
    string_enum::StringEnum,
};

/// The assets that prevent the exclusive sale of a set of assets, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstacles {
    /// Assets that were sold exclusively, and not refunded. They cannot be sold in any way.
    pub sold: Named,
    /// Assets that a completed purchase covers, which is not of a sample.
    pub covered: Named,
    /// Assets that are no codebases.
    pub other_kinds: Named,
    /// Codebases that are not available for exclusive sales.
    pub unavailable: Named,
}

/// Whether a completed purchase other than `?2` covers the codebase `s.asset`, or another one of its team with the same data, and
/// is not of a sample.
fn is_covered() -> String {
    format!(
        "(EXISTS (
             SELECT 1 FROM purchase_assets c JOIN purchases p ON p.id = c.purchase
             WHERE c.asset = s.asset AND p.status = 'completed' AND p.kind <> 'sample' AND p.id IS NOT ?2)
         OR {})",
        has_data_of("covered_data")
    )
}

/// Whether the asset `s.asset`, or another one of its team with the same data, was sold exclusively, and not refunded.
fn is_sold_asset() -> String {
    let same_data = has_data_of("sold_data");
    format!("(EXISTS (SELECT 1 FROM exclusive_sales e WHERE e.asset = s.asset) OR {same_data})")
}

/// Whether the asset `a` has data that is in a table of [`delivered_data`].
fn has_data_of(table: &str) -> String {
    format!(
        "EXISTS (
             SELECT 1 FROM data_objects d LEFT JOIN uploads u ON u.id = d.upload
             WHERE d.asset = a.id AND (
                 (a.team, d.channel || ' ' || lower(d.repo_full_name)) IN (SELECT team, repository FROM {table})
                 OR (a.team, d.commit_sha) IN (SELECT team, commit_sha FROM {table})
                 OR (a.team, u.sha256) IN (SELECT team, sha256 FROM {table})))"
    )
}

/// Selects the team of the listing `?1`.
const TEAM_OF_LISTING: &str = "SELECT team FROM listings WHERE id = ?1";

/// Selects the team that sells the purchase `?1`.
const TEAM_OF_PURCHASE: &str =
    "SELECT z.team FROM purchases y JOIN listings z ON z.id = y.listing WHERE y.id = ?1";

/// What identifies the data that a team has delivered with completed purchases, as `p`, that match a condition: the repository,
/// while it is linked still, the commit, and the digest of the upload. `team` selects the team. The joins are in the order in which
/// there are few rows.
fn delivered_data(team: &str, condition: &str) -> String {
    format!(
        "SELECT k.team, x.channel || ' ' || lower(x.repo_full_name) AS repository, t.commit_sha, w.sha256
         FROM listings k CROSS JOIN purchases p ON p.listing = k.id AND k.team = ({team}) AND p.status = 'completed'
             AND {condition}
         CROSS JOIN bundles b ON b.purchase = p.id CROSS JOIN bundle_entries t ON t.bundle = b.id
         LEFT JOIN data_objects x ON x.asset = t.asset AND x.attached_at <= p.paid_at
         LEFT JOIN uploads w ON w.id = t.upload"
    )
}

/// The table of the data that a team has sold exclusively, and not refunded.
fn sold_data(team: &str) -> String {
    format!("sold_data AS MATERIALIZED ({})", delivered_data(team, "p.exclusive"))
}

/// The table of the data that a team has sold in completed purchases other than `?2`, except samples.
fn covered_data(team: &str) -> String {
    let data = delivered_data(team, "p.kind <> 'sample' AND p.id IS NOT ?2");
    format!("covered_data AS MATERIALIZED ({data})")
}

/// Selects the assets of the exclusive sale `?1`, and others of the team with data that was sold exclusively.
fn assets_with_sold_data() -> String {
    format!(
        "SELECT asset FROM purchase_assets WHERE purchase = ?1
         UNION SELECT asset FROM (
             WITH {sold_data}
             SELECT a.id AS asset FROM assets a WHERE a.team = ({TEAM_OF_PURCHASE}) AND {has_sold_data})",
        sold_data = sold_data(TEAM_OF_PURCHASE),
        has_sold_data = has_data_of("sold_data"),
    )
}

/// Returns what prevents the exclusive sale of the assets of a listing.
pub fn find_obstacles(reader: &Reader, listing: ListingRowId) -> Result<Obstacles> {
    let sql = format!(
        "WITH {sold_data}, {covered_data}
         SELECT a.title, a.uuid, {is_sold}, {is_covered}, a.kind <> 'codebase',
             a.kind = 'codebase' AND a.exclusivity IS NOT 'available'
         FROM listing_assets s JOIN assets a ON a.id = s.asset WHERE s.listing = ?1 ORDER BY s.position",
        sold_data = sold_data(TEAM_OF_LISTING),
        covered_data = covered_data(TEAM_OF_LISTING),
        is_sold = is_sold_asset(),
        is_covered = is_covered(),
    );
    read_obstacles(reader, &sql, (listing, None::<i64>))
}

/// Names the assets of a listing that were sold exclusively, and not refunded, or have data that was.
pub fn find_sold_assets(reader: &Reader, listing: ListingRowId) -> Result<Named> {
    let sql = format!(
        "WITH {sold_data} SELECT a.title, a.uuid, TRUE, FALSE, FALSE, FALSE
         FROM listing_assets s JOIN assets a ON a.id = s.asset WHERE s.listing = ?1 AND {is_sold} ORDER BY s.position",
        sold_data = sold_data(TEAM_OF_LISTING),
        is_sold = is_sold_asset(),
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
        "WITH {sold_data}, {covered_data}
         SELECT a.title, a.uuid, {is_sold}, iif((SELECT exclusive FROM purchases WHERE id = ?1), {is_covered}, FALSE),
             FALSE, FALSE
         FROM purchase_assets s JOIN assets a ON a.id = s.asset WHERE s.purchase = ?1 ORDER BY s.asset",
        sold_data = sold_data(TEAM_OF_PURCHASE),
        covered_data = covered_data(TEAM_OF_PURCHASE),
        is_sold = is_sold_asset(),
        is_covered = is_covered(),
    );
    read_obstacles(reader, &sql, (purchase, purchase))
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
