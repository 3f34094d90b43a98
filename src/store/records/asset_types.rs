//! Asset kinds and their retirements.

use super::{
    Filter::{Equals, HasValue},
    FromRow, Record, Records,
};
use crate::{
    domain::{assets::Kind, taxonomy::Retirement},
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

impl FromRow for AssetTypeRecord {
    fn from_row(row: &rusqlite::Row) -> rusqlite::Result<AssetTypeRecord> {
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
}

impl Record for AssetTypeRecord {
    type Id = String;

    const RECORDS: &'static Records = &ASSET_TYPES;
}

/// Asset kinds.
pub const ASSET_TYPES: Records = Records {
    name: "asset type",
    columns: &[
        "slug, label, is_enabled, listing_kinds, deprecated_at, retires_at, accepts_new_listings, message,
         retired_at",
    ],
    tables: &["asset_types"],
    row_id: "position",
    id: "slug",
    condition: None,
    filters: &[("enabled", Equals("is_enabled")), ("deprecated", HasValue("deprecated_at"))],
};
