//! The taxonomy of the catalog. Reading it requires only a valid API key.

use super::access::{AuthenticatedTeam, Vendor};
use crate::{
    domain::taxonomy::{AssetType, InventoryTag, Label, Language},
    error::Result,
    market::Reader,
    store,
};

/// Returns all business domains.
pub fn domains(reader: &Reader, _: &AuthenticatedTeam) -> Result<Vec<Label>> {
    store::taxonomy::domains(reader.rows)
}

/// Returns all inventory tags, which classify listings in more detail than domains.
pub fn inventory_tags(reader: &Reader, _: &AuthenticatedTeam) -> Result<Vec<InventoryTag>> {
    store::taxonomy::inventory_tags(reader.rows)
}

/// Returns all content tags, which classify assets of the kind `other`.
pub fn content_tags(reader: &Reader, _: &AuthenticatedTeam) -> Result<Vec<Label>> {
    store::taxonomy::content_tags(reader.rows)
}

/// Returns the asset types: those that are not deprecated, and those whose deprecation was announced.
pub fn asset_types(reader: &Reader, _: &AuthenticatedTeam) -> Result<(Vec<AssetType>, Vec<AssetType>)> {
    let all = store::taxonomy::asset_types(reader.rows)?;
    Ok(all.into_iter().partition(|kind| kind.deprecation.is_none()))
}

/// Returns all programming languages that codebases and filters can name.
pub fn languages(reader: &Reader, _: &Vendor) -> Result<Vec<Language>> {
    store::taxonomy::languages(reader.rows)
}
