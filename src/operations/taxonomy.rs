//! The catalog's words. A valid key is all that reading them needs.

use super::access::KeyHolder;
use crate::{
    domain::taxonomy::{AssetType, InventoryTag, Label},
    error::Result,
    market::Reader,
    store,
};

/// Business fields.
pub fn domains(reader: &Reader, _: &KeyHolder) -> Result<Vec<Label>> {
    store::taxonomy::domains(reader.rows)
}

/// Finer labels of listings.
pub fn inventory_tags(reader: &Reader, _: &KeyHolder) -> Result<Vec<InventoryTag>> {
    store::taxonomy::inventory_tags(reader.rows)
}

/// Labels of assets of the kind `other`.
pub fn content_tags(reader: &Reader, _: &KeyHolder) -> Result<Vec<Label>> {
    store::taxonomy::content_tags(reader.rows)
}

/// Asset kinds: those that are here to stay, and those whose retirement was announced.
pub fn asset_types(reader: &Reader, _: &KeyHolder) -> Result<(Vec<AssetType>, Vec<AssetType>)> {
    let all = store::taxonomy::asset_types(reader.rows)?;
    Ok(all.into_iter().partition(|kind| kind.deprecation.is_none()))
}
