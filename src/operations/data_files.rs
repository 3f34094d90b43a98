//! Whether the server has the files of an asset's linked data. A fixture can state the progress and the measurements of
//! data without any files.

use crate::{
    blobs::Blobs,
    domain::{
        assets::{ArtifactStatus, Channel},
        inventory::{Asset, AttachedData},
        jobs::DATA_JOB_KINDS,
        row_ids::AssetRowId,
    },
    error::Result,
    store,
};

/// Message for the vendor if the server has never had the files of the data.
const NO_FILES: &str = "The server has no files of this data, only what was stated about it. Detach the data, then \
                        attach the repository or upload itself.";

/// Message for the vendor if the data could not be copied, and the copy left no message.
const NOT_COPIED: &str = "The data could not be copied. Detach it, then attach it again.";

/// Message for the vendor if the file or the copy of the data is missing.
pub const DATA_GONE: &str = "The linked data no longer exists. Detach it, then attach it again.";

/// Whether a job is copying or analyzing the data of an asset, or will.
pub fn is_in_progress(rows: &store::Reader, asset: AssetRowId, data: &AttachedData) -> Result<bool> {
    if is_final(data.archive_status, data.analysis_status) {
        return Ok(false);
    }
    for kind in DATA_JOB_KINDS {
        if store::jobs::is_queued(rows, kind, asset.into())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether data has been analyzed, or never will be because its archive or its analysis failed.
const fn is_final(archive: ArtifactStatus, analysis: ArtifactStatus) -> bool {
    matches!(archive, ArtifactStatus::Failed)
        || !matches!(analysis, ArtifactStatus::Pending | ArtifactStatus::Running)
}

/// Returns why the data of an asset has no files to inspect, as a message for the vendor. Returns `None` if it has some,
/// or a job will copy them. An upload counts as a file, as looking for it can take a request to another server.
pub fn unreadable_reason(
    rows: &store::Reader,
    blobs: &Blobs,
    asset: &Asset,
    data: &AttachedData,
) -> Result<Option<String>> {
    if data.archive_status == ArtifactStatus::Failed {
        return Ok(Some(data.archive_error.clone().unwrap_or_else(|| NOT_COPIED.to_owned())));
    }
    if is_in_progress(rows, asset.row_id, data)? {
        return Ok(None);
    }
    if data.channel == Channel::Zip {
        let upload = store::assets::find_upload(rows, asset.row_id)?;
        return Ok(upload.is_none().then(|| NO_FILES.to_owned()));
    }
    if blobs.has_repository(asset.id, data.attached_at) {
        return Ok(None);
    }
    // A copied repository has metadata of its host, even if it is empty.
    let copied = store::assets::find_repository(rows, asset.row_id)?;
    let was_copied = copied.is_some_and(|repository| repository.host_metadata.is_some());
    Ok(Some(if was_copied { DATA_GONE } else { NO_FILES }.to_owned()))
}
