//! Domains and tags. The newest is the last in display order.

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::taxonomy::{InventoryTag, Label},
    error::Result,
};

/// A business domain.
#[derive(Clone, Debug)]
pub struct DomainRecord(pub Label);

/// A tag of assets of the kind `other`.
#[derive(Clone, Debug)]
pub struct ContentTagRecord(pub Label);

/// A tag that describes listings in more detail than a domain.
#[derive(Clone, Debug)]
pub struct InventoryTagRecord(pub InventoryTag);

/// What the list of inventory tags can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct InventoryTagFilter {
    /// Category of the tag.
    pub category: Option<String>,
}

fn find_label(reader: &Reader, table: &str, slug: &str) -> Result<Option<Label>> {
    reader.query_first(&format!("SELECT slug, label FROM {table} WHERE slug = ?1"), [slug], read_label)
}

fn page_of_labels(reader: &Reader, table: &str, request: PageRequest) -> Result<RowPage<Label>> {
    PageQuery::new("slug, label", table, "position").fetch(reader, request, read_label)
}

fn read_label(row: &rusqlite::Row) -> rusqlite::Result<Label> {
    Ok(Label { slug: row.get("slug")?, label: row.get("label")? })
}

impl Record for DomainRecord {
    type Id = String;
    type Filter = ();

    const NAME: &'static str = "domain";

    fn find(reader: &Reader, slug: &String) -> Result<Option<DomainRecord>> {
        Ok(find_label(reader, "domains", slug)?.map(DomainRecord))
    }

    fn page(reader: &Reader, (): &(), request: PageRequest) -> Result<RowPage<DomainRecord>> {
        page_of_labels(reader, "domains", request).map(|page| page.map(DomainRecord))
    }
}

impl Record for ContentTagRecord {
    type Id = String;
    type Filter = ();

    const NAME: &'static str = "content tag";

    fn find(reader: &Reader, slug: &String) -> Result<Option<ContentTagRecord>> {
        Ok(find_label(reader, "content_tags", slug)?.map(ContentTagRecord))
    }

    fn page(reader: &Reader, (): &(), request: PageRequest) -> Result<RowPage<ContentTagRecord>> {
        page_of_labels(reader, "content_tags", request).map(|page| page.map(ContentTagRecord))
    }
}

const COLUMNS: &str = "slug, label, description, category";

fn read_inventory_tag(row: &rusqlite::Row) -> rusqlite::Result<InventoryTagRecord> {
    Ok(InventoryTagRecord(InventoryTag {
        slug: row.get("slug")?,
        label: row.get("label")?,
        description: row.get("description")?,
        category: row.get("category")?,
    }))
}

impl Record for InventoryTagRecord {
    type Id = String;
    type Filter = InventoryTagFilter;

    const NAME: &'static str = "inventory tag";

    fn find(reader: &Reader, slug: &String) -> Result<Option<InventoryTagRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM inventory_tags WHERE slug = ?1");
        reader.query_first(&sql, [slug], read_inventory_tag)
    }

    fn page(
        reader: &Reader,
        filter: &InventoryTagFilter,
        request: PageRequest,
    ) -> Result<RowPage<InventoryTagRecord>> {
        PageQuery::new(COLUMNS, "inventory_tags", "position")
            .filter("category = ?", filter.category.as_deref())
            .fetch(reader, request, read_inventory_tag)
    }
}
