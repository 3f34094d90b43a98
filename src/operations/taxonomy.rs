//! The taxonomy of the catalog. Reading it requires only a valid API key.

use super::access::{AuthenticatedTeam, Platform, Vendor};
use crate::{
    domain::{
        due_steps::{StepKind, StepSubject},
        events::{AssetTypeData, EventData},
        taxonomy::{AssetType, InventoryTag, Label, Language},
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store,
    string_enum::StringEnum,
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

/// Creates or replaces an asset kind. If its deprecation is announced, it retires at the announced time.
pub fn set_asset_type(writer: &Writer, _: Platform, asset_type: &AssetType) -> Result<()> {
    store::taxonomy::upsert_asset_type(writer.rows, asset_type)?;
    store::taxonomy::queue_listings(writer.rows, asset_type.kind)?;
    let subject = store::taxonomy::asset_type_row_id(writer.rows, asset_type.kind)?;
    match &asset_type.deprecation {
        Some(deprecation) => writer.schedule(StepKind::AssetTypeRetires, subject, deprecation.retires_at),
        None => writer.unschedule(StepKind::AssetTypeRetires, subject),
    }
}

/// Retires an asset kind: the listings with such assets say so from now on.
pub fn retire_asset_type(writer: &mut Writer, subject: StepSubject) -> Result<()> {
    let asset_type = store::taxonomy::find_asset_type(writer.rows, subject)?
        .ok_or_else(|| Error::internal("an asset kind that retires does not exist"))?;
    store::taxonomy::queue_listings(writer.rows, asset_type)?;
    writer.emit(None, asset_type.as_str(), &EventData::AssetTypeRetired(AssetTypeData { asset_type }))
}
