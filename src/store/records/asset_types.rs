//! Asset kinds and their retirements.

use super::{
    Filter::{Equals, HasValue},
    FromRow, Record, Records,
};
use crate::{
    domain::{assets::Kind, taxonomy::Retirement, time::Timestamp},
    store::taxonomy::read_deprecation,
};

/// An asset kind, as configured.
#[derive(Clone, Debug, FromRow)]
pub struct AssetTypeRecord {
    /// The asset kind.
    #[row(name = "slug")]
    pub kind: Kind,
    /// Display name.
    pub label: String,
    /// Whether vendors can create assets of this kind.
    pub is_enabled: bool,
    /// Former names of listings with assets of this kind.
    #[row(json)]
    pub listing_kinds: Vec<String>,
    /// The retirement, if one was announced.
    #[row(with = read_retirement)]
    pub retirement: Option<Retirement>,
}

fn read_retirement(row: &rusqlite::Row) -> rusqlite::Result<Option<Retirement>> {
    Ok(match row.get::<_, Option<Timestamp>>("deprecated_at")? {
        Some(_) => Some(Retirement { announced: read_deprecation(row)?, retired_at: row.get("retired_at")? }),
        None => None,
    })
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
