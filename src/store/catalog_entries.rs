//! Listings with all data that the catalog shows or searches.

use std::collections::BTreeMap;

use rusqlite::ToSql;

use super::{Reader, listing_bundles, row};
use crate::{
    domain::{
        assets::Kind,
        catalog::{CatalogAsset, CatalogEntry, TasksetRef, Vendor},
        listings::{DeliveryMethod, ListingRowId, ListingStatus},
        row_ids::{AssetRowId, TasksetRowId},
        scale::ScaleContribution,
    },
    error::Result,
};

/// Returns a listing with all data that the catalog shows or searches.
pub fn find(reader: &Reader, row_id: ListingRowId) -> Result<Option<CatalogEntry>> {
    const SQL: &str = "SELECT l.delivery_method, l.delivery_days, l.review_status, l.catalog_status, l.id, l.uuid, l.team,
             t.name, t.tier, l.title, l.description, l.domain_tags, l.tag_slugs, l.price_cents, l.sample_price_cents,
             l.accepts_bids, l.terms, l.available_from, l.featured, l.certified_at, l.created_at, l.updated_at,
             l.published_at, l.archived_at,
             (SELECT count(*) FROM offers o WHERE o.listing = l.id AND o.status = 'submitted')
         FROM listings l JOIN teams t ON t.id = l.team WHERE l.id = ?1";
    let Some(mut entry) = reader.query_first(SQL, [row_id], read_entry)? else {
        return Ok(None);
    };
    entry.assets = entry_assets(reader, row_id)?;
    entry.bundle_files = listing_bundles::list_files(reader, row_id)?;
    Ok(Some(entry))
}

fn read_entry(row: &rusqlite::Row) -> rusqlite::Result<CatalogEntry> {
    let mut columns = row::ColumnIndexes::default();
    let method: Option<DeliveryMethod> = row.get(columns.next())?;
    let days: Option<u32> = row.get(columns.next())?;
    let status = ListingStatus { review: row.get(columns.next())?, catalog: row.get(columns.next())? };
    // Struct fields are evaluated in source order, which must match the order of the columns.
    Ok(CatalogEntry {
        row_id: row.get(columns.next())?,
        id: row.get(columns.next())?,
        vendor: Vendor {
            row_id: row.get(columns.next())?,
            name: row.get(columns.next())?,
            tier: row.get(columns.next())?,
        },
        title: row.get(columns.next())?,
        description: row.get(columns.next())?,
        domain_tags: row::json(row, columns.next())?,
        tag_slugs: row::json(row, columns.next())?,
        price: row.get(columns.next())?,
        sample_price: row.get(columns.next())?,
        accepts_bids: row.get(columns.next())?,
        terms: row.get(columns.next())?,
        delivery: method.zip(days),
        available_from: row.get(columns.next())?,
        featured: row.get(columns.next())?,
        status,
        certified_at: row.get(columns.next())?,
        created_at: row.get(columns.next())?,
        updated_at: row.get(columns.next())?,
        published_at: row.get(columns.next())?,
        archived_at: row.get(columns.next())?,
        assets: Vec::new(),
        active_bids: row.get(columns.next())?,
        bundle_files: Vec::new(),
    })
}

/// Row ID of an asset, row ID of its taskset if it is one, and its catalog data.
type LoadedAsset = (AssetRowId, Option<TasksetRowId>, CatalogAsset);

fn entry_assets(reader: &Reader, row_id: ListingRowId) -> Result<Vec<CatalogAsset>> {
    const SQL: &str =
        "SELECT a.kind, a.lines_of_code, a.languages, a.file_count, d.archive_bytes, a.environment,
             a.robotics, a.uuid, a.title, a.domain_tags, a.file_extensions, a.id, a.taskset
         FROM listing_assets la JOIN assets a ON a.id = la.asset LEFT JOIN data_objects d ON d.asset = a.id
         WHERE la.listing = ?1 ORDER BY la.position";
    let mut loaded = reader.query_all(SQL, [row_id], read_asset)?;
    for (asset, taskset, entry_asset) in &mut loaded {
        entry_asset.tasksets = match (entry_asset.kind, *taskset) {
            (Kind::Taskset, Some(taskset)) => taskset_refs(reader, "t.id = ?1", taskset)?,
            (Kind::Bundle, _) => taskset_refs(
                reader,
                "t.id IN (SELECT taskset FROM bundle_tasksets WHERE asset = ?1)",
                *asset,
            )?,
            _ => Vec::new(),
        };
        entry_asset.contribution.tasks =
            entry_asset.tasksets.iter().map(|taskset| (taskset.id, taskset.task_count)).collect();
    }
    Ok(loaded.into_iter().map(|(_, _, entry_asset)| entry_asset).collect())
}

fn read_asset(row: &rusqlite::Row) -> rusqlite::Result<LoadedAsset> {
    #[derive(Default, serde::Deserialize)]
    struct Environment {
        capabilities: Vec<String>,
    }
    #[derive(Default, serde::Deserialize)]
    struct Robotics {
        formats: Vec<String>,
    }
    let mut columns = row::ColumnIndexes::default();
    let kind: Kind = row.get(columns.next())?;
    let only_for = |expected: Kind, value: Option<u64>| value.filter(|_| kind == expected).unwrap_or(0);
    // Struct fields are evaluated in source order, which must match the order of the columns.
    let contribution = ScaleContribution {
        loc: only_for(Kind::Codebase, row.get(columns.next())?),
        languages: row::json::<Option<_>>(row, columns.next())?.unwrap_or_default(),
        tasks: BTreeMap::new(),
        zip_files: only_for(Kind::RawData, row.get(columns.next())?),
        zip_bytes: only_for(Kind::RawData, row.get(columns.next())?),
    };
    let environment: Environment = row::json::<Option<_>>(row, columns.next())?.unwrap_or_default();
    let robotics: Robotics = row::json::<Option<_>>(row, columns.next())?.unwrap_or_default();
    let entry_asset = CatalogAsset {
        id: row.get(columns.next())?,
        kind,
        title: row.get(columns.next())?,
        domain_tags: row::json(row, columns.next())?,
        contribution,
        tasksets: Vec::new(),
        file_extensions: row::json::<Option<_>>(row, columns.next())?.unwrap_or_default(),
        capabilities: environment.capabilities,
        robotics_formats: robotics.formats,
    };
    Ok((row.get(columns.next())?, row.get(columns.next())?, entry_asset))
}

/// Returns the tasksets (alias `t`) that match a condition, each with the number of its tasks that are not
/// deleted.
fn taskset_refs(reader: &Reader, condition: &str, parameter: impl ToSql) -> Result<Vec<TasksetRef>> {
    let sql = format!(
        "SELECT t.uuid, t.name, t.tasks AS task_count FROM tasksets t WHERE {condition} ORDER BY t.id"
    );
    reader.query_all(&sql, [parameter], |row| {
        Ok(TasksetRef { id: row.get(0)?, name: row.get(1)?, task_count: row.get(2)? })
    })
}
