//! Domains, tags, asset kinds and languages.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use uuid::Uuid;

use super::{
    Reader, Writer,
    notifications::{BulkNotification, insert_for_all},
    row,
};
use crate::{
    domain::{
        assets::Kind,
        due_steps::StepSubject,
        taxonomy::{AssetType, Deprecation, InventoryTag, Label, Language, Retirement},
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

fn read_label(row: &rusqlite::Row) -> rusqlite::Result<Label> {
    Ok(Label { slug: row.get(0)?, label: row.get(1)? })
}

fn read_inventory_tag(row: &rusqlite::Row) -> rusqlite::Result<InventoryTag> {
    Ok(InventoryTag {
        slug: row.get(0)?,
        label: row.get(1)?,
        description: row.get(2)?,
        category: row.get(3)?,
    })
}

fn read_language(row: &rusqlite::Row) -> rusqlite::Result<Language> {
    Ok(Language { slug: row.get("slug")?, name: row.get("name")?, aliases: row::json(row, "aliases")? })
}

/// Returns all domains, in display order.
pub fn domains(reader: &Reader) -> Result<Vec<Label>> {
    reader.query_all("SELECT slug, label FROM domains ORDER BY position", [], read_label)
}

/// Returns the slugs of all domains.
pub fn domain_slugs(reader: &Reader) -> Result<HashSet<String>> {
    Ok(reader.query_all("SELECT slug FROM domains", [], |row| row.get(0))?.into_iter().collect())
}

/// Returns all content tags, in display order.
pub fn content_tags(reader: &Reader) -> Result<Vec<Label>> {
    reader.query_all("SELECT slug, label FROM content_tags ORDER BY position", [], read_label)
}

/// Returns all inventory tags, in display order.
pub fn inventory_tags(reader: &Reader) -> Result<Vec<InventoryTag>> {
    const SQL: &str = "SELECT slug, label, description, category FROM inventory_tags ORDER BY position";
    reader.query_all(SQL, [], read_inventory_tag)
}

/// Returns all languages, in display order.
pub fn languages(reader: &Reader) -> Result<Vec<Language>> {
    reader.query_all("SELECT slug, name, aliases FROM languages ORDER BY position", [], read_language)
}

/// Returns the labels of these domains, by slug. An inventory tag can have the same slug.
pub fn find_domain_labels(reader: &Reader, slugs: &[impl Serialize]) -> Result<BTreeMap<String, String>> {
    const SQL: &str = "SELECT slug, label FROM domains WHERE slug IN (SELECT value FROM json_each(?1))";
    find_names(reader, SQL, slugs)
}

/// Returns the labels of these inventory tags, by slug. A domain can have the same slug.
pub fn find_inventory_tag_labels(
    reader: &Reader,
    slugs: &[impl Serialize],
) -> Result<BTreeMap<String, String>> {
    const SQL: &str =
        "SELECT slug, label FROM inventory_tags WHERE slug IN (SELECT value FROM json_each(?1))";
    find_names(reader, SQL, slugs)
}

/// Returns the names of these languages, by slug.
pub fn find_language_names(reader: &Reader, slugs: &[impl Serialize]) -> Result<BTreeMap<String, String>> {
    const SQL: &str = "SELECT slug, name FROM languages WHERE slug IN (SELECT value FROM json_each(?1))";
    find_names(reader, SQL, slugs)
}

/// Returns the names that a statement finds for slugs. Its parameter is a JSON array of the slugs.
fn find_names(reader: &Reader, sql: &str, slugs: &[impl Serialize]) -> Result<BTreeMap<String, String>> {
    if slugs.is_empty() {
        return Ok(BTreeMap::new());
    }
    let names = reader.query_all(sql, [row::to_json(slugs)?], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(names.into_iter().collect())
}

/// Returns all asset kinds, in display order.
pub fn asset_types(reader: &Reader) -> Result<Vec<AssetType>> {
    const SQL: &str = "SELECT slug, label, is_enabled, listing_kinds, deprecated_at, retires_at, accepts_new_listings, message
         FROM asset_types ORDER BY position";
    reader.query_all(SQL, [], |row| {
        let deprecation = match row.get::<_, Option<Timestamp>>("deprecated_at")? {
            Some(_) => Some(read_deprecation(row)?),
            None => None,
        };
        Ok(AssetType {
            kind: row.get("slug")?,
            label: row.get("label")?,
            is_enabled: row.get("is_enabled")?,
            listing_kinds: row::json(row, "listing_kinds")?,
            deprecation,
        })
    })
}

/// Reads the announced retirement of an asset kind.
pub(in crate::store) fn read_deprecation(row: &rusqlite::Row) -> rusqlite::Result<Deprecation> {
    Ok(Deprecation {
        deprecated_at: row.get("deprecated_at")?,
        retires_at: row.get("retires_at")?,
        accepts_new_listings: row.get("accepts_new_listings")?,
        message: row.get("message")?,
    })
}

/// Returns the announced retirements, by asset kind.
pub fn deprecations(reader: &Reader) -> Result<BTreeMap<Kind, Retirement>> {
    const SQL: &str = "SELECT slug, deprecated_at, retires_at, accepts_new_listings, message, retired_at
         FROM asset_types WHERE deprecated_at IS NOT NULL";
    let announced = reader.query_all(SQL, [], |row| {
        let retired_at = row.get("retired_at")?;
        Ok((row.get("slug")?, Retirement { announced: read_deprecation(row)?, retired_at }))
    })?;
    Ok(announced.into_iter().collect())
}

/// Records that a kind has retired.
pub fn record_retirement(writer: &Writer, kind: Kind, at: Timestamp) -> Result<()> {
    writer.run("UPDATE asset_types SET retired_at = ?2 WHERE slug = ?1", (kind, at))
}

/// Inserts or updates a domain. A new domain comes last.
pub fn upsert_domain(writer: &Writer, domain: &Label) -> Result<()> {
    const SQL: &str = "INSERT INTO domains (slug, label, position)
         VALUES (?1, ?2, (SELECT count(*) FROM domains)) ON CONFLICT (slug) DO UPDATE SET label = excluded.label";
    writer.run(SQL, (&domain.slug, &domain.label))
}

/// Inserts or updates a content tag. A new tag comes last.
pub fn upsert_content_tag(writer: &Writer, tag: &Label) -> Result<()> {
    const SQL: &str = "INSERT INTO content_tags (slug, label, position)
         VALUES (?1, ?2, (SELECT count(*) FROM content_tags)) ON CONFLICT (slug) DO UPDATE SET label = excluded.label";
    writer.run(SQL, (&tag.slug, &tag.label))
}

/// Inserts or updates an inventory tag. A new tag comes last.
pub fn upsert_inventory_tag(writer: &Writer, tag: &InventoryTag) -> Result<()> {
    const SQL: &str = "INSERT INTO inventory_tags (slug, label, description, category, position)
         VALUES (?1, ?2, ?3, ?4, (SELECT count(*) FROM inventory_tags))
         ON CONFLICT (slug) DO UPDATE
         SET label = excluded.label, description = excluded.description, category = excluded.category";
    writer.run(SQL, (&tag.slug, &tag.label, &tag.description, &tag.category))
}

/// Inserts or updates a language. A new language comes last.
pub fn upsert_language(writer: &Writer, language: &Language) -> Result<()> {
    const SQL: &str = "INSERT INTO languages (slug, name, aliases, position)
         VALUES (?1, ?2, ?3, (SELECT count(*) FROM languages))
         ON CONFLICT (slug) DO UPDATE SET name = excluded.name, aliases = excluded.aliases";
    writer.run(SQL, (&language.slug, &language.name, row::to_json(&language.aliases)?))
}

/// Inserts or updates an asset kind. A new kind comes last. If the announced time of a retired kind changes or is
/// removed, the kind is no longer retired.
pub fn upsert_asset_type(writer: &Writer, kind: &AssetType) -> Result<()> {
    const SQL: &str =
        "INSERT INTO asset_types (slug, label, is_enabled, listing_kinds, deprecated_at, retires_at,
             accepts_new_listings, message, position)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, (SELECT count(*) FROM asset_types))
         ON CONFLICT (slug) DO UPDATE SET label = excluded.label, is_enabled = excluded.is_enabled,
             listing_kinds = excluded.listing_kinds, deprecated_at = excluded.deprecated_at,
             retires_at = excluded.retires_at, accepts_new_listings = excluded.accepts_new_listings,
             message = excluded.message,
             retired_at = iif(excluded.retires_at IS retires_at, retired_at, NULL)";
    let deprecation = kind.deprecation.as_ref();
    writer.run(
        SQL,
        (
            kind.kind,
            &kind.label,
            kind.is_enabled,
            row::to_json(&kind.listing_kinds)?,
            deprecation.map(|deprecation| deprecation.deprecated_at),
            deprecation.map(|deprecation| deprecation.retires_at),
            deprecation.is_none_or(|deprecation| deprecation.accepts_new_listings),
            deprecation.map(|deprecation| &deprecation.message),
        ),
    )
}

/// Returns the row ID of an asset kind, as the subject of its steps.
pub fn asset_type_row_id(reader: &Reader, kind: Kind) -> Result<StepSubject> {
    const SQL: &str = "SELECT position FROM asset_types WHERE slug = ?1";
    reader.query_one(SQL, [kind], |row| row.get(0))
}

/// Returns the asset kind with this row ID.
pub fn find_asset_type(reader: &Reader, row_id: StepSubject) -> Result<Option<Kind>> {
    const SQL: &str = "SELECT slug FROM asset_types WHERE position = ?1";
    reader.query_first(SQL, [row_id.0], |row| row.get(0))
}

/// Queues all listings with an asset of the kind for the index.
pub fn queue_listings(writer: &Writer, kind: Kind) -> Result<()> {
    const LISTINGS: &str =
        "SELECT DISTINCT la.listing FROM listing_assets la JOIN assets a ON a.id = la.asset
         WHERE a.kind = ?1 ORDER BY la.listing";
    super::index_queue::enqueue_all(writer, LISTINGS, [kind.as_str()])
}

/// Returns the number of listings with an asset of the kind, and how many of them are in the catalog.
pub fn count_listings(reader: &Reader, kind: Kind) -> Result<(u64, u64)> {
    const SQL: &str =
        "SELECT count(*), count(*) FILTER (WHERE l.catalog_status = 'published') FROM listings l
         WHERE l.id IN (
             SELECT la.listing FROM assets a JOIN listing_assets la ON la.asset = a.id
             WHERE a.kind = ?1 AND a.deleted_at IS NULL)";
    reader.query_one(SQL, [kind], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the domain with this slug.
pub fn find_domain(reader: &Reader, slug: &str) -> Result<Option<Label>> {
    reader.query_first("SELECT slug, label FROM domains WHERE slug = ?1", [slug], read_label)
}

/// Returns the content tag with this slug.
pub fn find_content_tag(reader: &Reader, slug: &str) -> Result<Option<Label>> {
    reader.query_first("SELECT slug, label FROM content_tags WHERE slug = ?1", [slug], read_label)
}

/// Returns the inventory tag with this slug.
pub fn find_inventory_tag(reader: &Reader, slug: &str) -> Result<Option<InventoryTag>> {
    const SQL: &str = "SELECT slug, label, description, category FROM inventory_tags WHERE slug = ?1";
    reader.query_first(SQL, [slug], read_inventory_tag)
}

/// Returns the language with this slug.
pub fn find_language(reader: &Reader, slug: &str) -> Result<Option<Language>> {
    reader.query_first("SELECT slug, name, aliases FROM languages WHERE slug = ?1", [slug], read_language)
}

/// Queues all listings with a domain or an inventory tag for the index.
pub fn queue_listings_with_slug(writer: &Writer, slug: &str) -> Result<()> {
    const LISTINGS: &str = "SELECT l.id FROM listings l
         WHERE EXISTS (SELECT 1 FROM json_each(l.domain_tags) WHERE value = ?1)
             OR EXISTS (SELECT 1 FROM json_each(l.tag_slugs) WHERE value = ?1)
         ORDER BY l.id";
    super::index_queue::enqueue_all(writer, LISTINGS, [slug])
}

/// Queues all listings with a codebase in one of these languages for the index. Reads the languages of all assets.
pub fn queue_listings_with_languages(writer: &Writer, slugs: &[String]) -> Result<()> {
    const LISTINGS: &str =
        "SELECT DISTINCT la.listing FROM listing_assets la JOIN assets a ON a.id = la.asset
         WHERE EXISTS (
             SELECT 1 FROM json_each(a.languages) WHERE key IN (SELECT value FROM json_each(?1))
         ) ORDER BY la.listing";
    super::index_queue::enqueue_all(writer, LISTINGS, [row::to_json(slugs)?])
}

/// The vendors who have assets of a kind (?1), or listings with such assets, except closed teams.
const VENDORS: &str = "SELECT t.id AS team FROM teams t
     WHERE t.closed_at IS NULL AND (
         EXISTS (SELECT 1 FROM inventory i WHERE i.team = t.id AND i.kind = ?1)
         OR EXISTS (SELECT 1 FROM listings l JOIN listing_assets la ON la.listing = l.id
             JOIN assets a ON a.id = la.asset WHERE l.team = t.id AND a.kind = ?1))";

/// Returns the number of vendors who have assets of a kind, or listings with such assets, except closed teams, and
/// the IDs of the first `max` of them.
pub fn find_vendors(reader: &Reader, kind: Kind, max: usize) -> Result<(u64, Vec<Uuid>)> {
    let count = format!("SELECT count(*) FROM ({VENDORS})");
    let list =
        format!("SELECT x.uuid FROM ({VENDORS}) r JOIN teams x ON x.id = r.team ORDER BY r.team LIMIT ?2");
    Ok((
        reader.query_one(&count, [kind], |row| row.get(0))?,
        reader.query_all(&list, (kind, max as i64), |row| row.get(0))?,
    ))
}

/// Notifies the vendors of [`find_vendors`], with one statement.
pub fn notify_vendors(writer: &Writer, kind: Kind, notification: &BulkNotification) -> Result<()> {
    let parameters = [kind.as_str().to_owned().into(), rusqlite::types::Value::Null];
    insert_for_all(writer, (VENDORS, parameters), notification)
}
