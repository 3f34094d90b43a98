//! Asset kinds and their retirements.

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{assets::Kind, taxonomy::Retirement},
    error::Result,
    store::{row, taxonomy::read_deprecation},
};

/// An asset kind, as configured.
#[derive(Clone, Debug)]
pub struct AssetTypeRecord {
    /// The asset kind.
    pub kind: Kind,
    /// Display name.
    pub label: String,
    /// Whether vendors can create assets of this kind.
    pub is_enabled: bool,
    /// Former names of listings with assets of this kind.
    pub listing_kinds: Vec<String>,
    /// The retirement, if one was announced.
    pub retirement: Option<Retirement>,
}

/// What the list of asset kinds can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct AssetTypeFilter {
    /// Whether vendors can create assets of the kind.
    pub is_enabled: Option<bool>,
    /// Whether the retirement of the kind was announced.
    pub is_deprecated: Option<bool>,
}

const COLUMNS: &str =
    "slug, label, is_enabled, listing_kinds, deprecated_at, retires_at, accepts_new_listings,
    message, retired_at";

fn read(row: &rusqlite::Row) -> rusqlite::Result<AssetTypeRecord> {
    let retirement = match row::optional_time(row, "deprecated_at")? {
        Some(_) => Some(Retirement {
            announced: read_deprecation(row)?,
            retired_at: row::optional_time(row, "retired_at")?,
        }),
        None => None,
    };
    Ok(AssetTypeRecord {
        kind: row::string_enum(row, "slug")?,
        label: row.get("label")?,
        is_enabled: row.get("is_enabled")?,
        listing_kinds: row::json(row, "listing_kinds")?,
        retirement,
    })
}

impl Record for AssetTypeRecord {
    type Id = String;
    type Filter = AssetTypeFilter;

    const NAME: &'static str = "asset type";

    fn find(reader: &Reader, slug: &String) -> Result<Option<AssetTypeRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM asset_types WHERE slug = ?1"), [slug], read)
    }

    fn page(
        reader: &Reader,
        filter: &AssetTypeFilter,
        request: PageRequest,
    ) -> Result<RowPage<AssetTypeRecord>> {
        PageQuery::new(COLUMNS, "asset_types", "position")
            .when(filter.is_enabled == Some(true), "is_enabled")
            .when(filter.is_enabled == Some(false), "NOT is_enabled")
            .when(filter.is_deprecated == Some(true), "deprecated_at IS NOT NULL")
            .when(filter.is_deprecated == Some(false), "deprecated_at IS NULL")
            .fetch(reader, request, read)
    }
}
