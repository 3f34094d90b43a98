//! The events of changes of assets.

use uuid::Uuid;

use crate::{
    domain::{
        assets::Kind,
        bulk_changes::BulkActionKind,
        events::{AssetAnalysisData, AssetBulkChangeData, AssetData, AssetStageData, AssetsData, EventData},
        inventory::Asset,
        stages::Stage,
        teams::TeamRowId,
    },
    error::Result,
    market::Writer,
    store::assets::DataProgress,
};

/// Appends one event for assets of a kind that were created together, if there are any.
pub fn created(writer: &Writer, team: TeamRowId, kind: Kind, ids: &[Uuid]) -> Result<()> {
    let Some(first) = ids.first() else { return Ok(()) };
    writer.emit(Some(team), *first, &EventData::AssetsCreated(AssetsData::new(kind, ids)))
}

/// Appends one event for assets that a bulk change has changed in a transaction, if there are any.
pub fn changed_together(
    writer: &Writer,
    team: TeamRowId,
    (bulk_change, action): (Uuid, BulkActionKind),
    ids: &[Uuid],
) -> Result<()> {
    let Some(first) = ids.first() else { return Ok(()) };
    let data = AssetBulkChangeData::new(bulk_change, action, ids);
    writer.emit(Some(team), *first, &EventData::AssetBulkChanged(data))
}

/// Appends the event of a change of an asset, and another one if its stage changed. `make` makes the former.
pub fn changed(
    writer: &Writer,
    before: Stage,
    asset: &Asset,
    make: fn(AssetData) -> EventData,
) -> Result<()> {
    let data = AssetData { asset_id: asset.id, asset_type: asset.kind, stage: asset.stage() };
    writer.emit(Some(asset.team), asset.id, &make(data))?;
    stage_changed(writer, before, asset)
}

/// Appends the events of the end of an analysis.
pub fn analyzed(writer: &Writer, before: Stage, asset: &Asset, progress: &DataProgress) -> Result<()> {
    let data = AssetAnalysisData {
        asset_id: asset.id,
        archive_status: progress.archive_status,
        analysis_status: progress.analysis_status,
        stage: asset.stage(),
    };
    writer.emit(Some(asset.team), asset.id, &EventData::AssetDataAnalyzed(data))?;
    stage_changed(writer, before, asset)
}

fn stage_changed(writer: &Writer, before: Stage, asset: &Asset) -> Result<()> {
    if asset.stage() == before {
        return Ok(());
    }
    let data = AssetStageData {
        asset_id: asset.id,
        asset_type: asset.kind,
        from_stage: before,
        to_stage: asset.stage(),
    };
    writer.emit(Some(asset.team), asset.id, &EventData::AssetStageChanged(data))
}
