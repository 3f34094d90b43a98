//! Linking of data to codebases and raw data.

use uuid::Uuid;

use super::{
    access::Vendor, asset_events, assets, certifications, listing_changes, purchase_changes, quality_runs,
};
use crate::{
    domain::{
        assets::{Channel, Kind},
        events::EventData,
        inventory::Asset,
        jobs::{self, JobKind, JobSubject},
        listing_lifecycle::Operation,
        listings::{Actor, ReviewStatus},
        replaced_values,
        row_ids::{AssetRowId, UploadRowId},
    },
    error::{Error, Result, StateCode},
    market::Writer,
    store::{self, assets::NewData, quality_runs::Subject},
};

/// Links data to an asset that has none, and ends the approval and the certification of its listings. Returns the asset
/// with its data.
pub fn attach(writer: &mut Writer, vendor: &Vendor, asset: &Asset, data: &NewData) -> Result<Asset> {
    if asset.data.is_some() {
        let message = "The asset already has linked data. Detach the data first, with `DELETE .../data`.";
        return Err(Error::InvalidState(StateCode::DataAttached, message.to_owned()));
    }
    end_decisions(writer, asset)?;
    insert(writer, asset.row_id, data)?;
    store::assets::update(writer.rows, asset)?;
    let attached = assets::find(writer.rows, vendor, asset.id, None)?;
    asset_events::changed(writer, asset.stage(), &attached, EventData::AssetDataAttached)?;
    Ok(attached)
}

/// Inserts the data of an asset, and enqueues the job that copies the repository or analyzes the upload. The
/// caller updates the inventory row.
pub fn insert(writer: &Writer, asset: AssetRowId, data: &NewData) -> Result<()> {
    store::assets::attach_data(writer.rows, asset, data)?;
    let job = match data.channel {
        Channel::Zip => JobKind::AnalyzeArchive,
        _ => JobKind::CopyRepository,
    };
    writer.enqueue(job, asset)
}

/// Returns the data of an asset that an upload of this size is.
pub(super) fn of_upload(writer: &Writer, upload: UploadRowId, bytes: u64) -> NewData<'static> {
    NewData {
        is_private: true,
        archive_bytes: Some(bytes),
        upload: Some(upload),
        ..NewData::pending(Channel::Zip, writer.now)
    }
}

/// Ends the decisions on the listings with an asset, because its data changes: their certification, and their approval unless
/// they are in the catalog. In the catalog, data may be attached to an asset that has none.
fn end_decisions(writer: &mut Writer, asset: &Asset) -> Result<()> {
    for listing in store::listings::listings_with_asset(writer.rows, asset.row_id)? {
        if listing.status.review == ReviewStatus::Approved && !assets::keeps_assets(listing.status) {
            let change = listing_changes::check(&listing, Operation::ChangeData)?;
            listing_changes::record(writer, &listing, change, Actor::Team, None)?;
        } else {
            certifications::revoke_if_certified(writer, &listing)?;
        }
    }
    Ok(())
}

/// Detaches the data of an asset, and cancels pending purchases that cover it. Fields that were read from it get the values
/// back that they had before, and the stage follows from them.
pub fn detach(writer: &mut Writer, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<()> {
    let asset = assets::find(writer.rows, vendor, id, Some(kind))?;
    let stage_before = asset.stage();
    let detached = detach_silently(writer, asset)?;
    asset_events::changed(writer, stage_before, &detached, EventData::AssetDataDetached)
}

/// Deletes an asset with the data that is linked to it, as a change of many assets does.
pub fn delete_with_asset(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let asset = assets::find(writer.rows, vendor, id, None)?;
    if asset.data.is_some() {
        detach(writer, vendor, id, asset.kind)?;
    }
    assets::delete(writer, vendor, id, asset.kind)
}

/// Like [`detach`], without the event, for an operation with its own event. Returns the asset without its data.
pub(super) fn detach_silently(writer: &mut Writer, mut asset: Asset) -> Result<Asset> {
    if asset.data.is_none() {
        let message = "The asset has no linked data.";
        return Err(Error::InvalidState(StateCode::DataNotAttached, message.to_owned()));
    }
    assets::check_not_in_use(writer.rows, &asset)?;
    end_decisions(writer, &asset)?;
    for ordered in store::purchases::list_pending_with_asset(writer.rows, asset.row_id)? {
        purchase_changes::cancel(writer, &ordered, Actor::System)?;
    }
    asset.data = None;
    let replaced = store::assets::find_replaced_values(writer.rows, asset.row_id)?;
    replaced_values::restore(&mut asset, replaced);
    for kind in jobs::DATA_JOB_KINDS {
        store::jobs::cancel(writer.rows, kind, asset.row_id.into())?;
    }
    quality_runs::cancel(writer, Subject::Asset(asset.row_id))?;
    quality_runs::resume_waiting_runs(writer, asset.row_id)?;
    // The files are deleted by a job, since another job may still be reading them.
    writer.enqueue(JobKind::Cleanup, JobSubject::NONE)?;
    store::assets::detach_data(writer.rows, &asset, writer.now)?;
    Ok(asset)
}
