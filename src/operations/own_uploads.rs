//! Zips that a team uploads itself in the web app. Each is planned with its target, and its parts go through this server. When
//! all have arrived, the zip becomes a new asset or the data of an existing one. An upload that is not completed in a day is
//! discarded.

use std::fs::File;

use uuid::Uuid;

use super::{
    access::Vendor,
    assets, cleanup,
    codebases::{self, UploadedCodebase},
    grant_uploads::{FileInput, check_not_joined, part_conflict_error},
    linked_data,
    operator_uploads::{self, JoinedFile, UploadPurpose, not_in_progress},
    raw_data, uploads,
};
use crate::{
    blobs::{PartReceiver, UploadedPart},
    domain::{
        assets::Kind, inventory::Asset, problems::Problems, row_ids::UploadRowId, texts,
        upload_activity::UploadStep, uploads::Upload, written,
    },
    error::{Error, Problem, Result, StateCode},
    market::{CheckContext, Market, Reader, Writer},
    request_problems::ProblemsExt,
    store::{
        self,
        operator_uploads::{OperatorUpload, UploadTarget},
        uploads::CompletedUpload,
    },
};

/// Kinds of assets that a zip can be the data of.
pub const KINDS: [Kind; 2] = [Kind::Codebase, Kind::RawData];

/// The smallest zip: one without entries.
const MIN_ZIP_BYTES: u64 = 22;

/// A zip that is complete, and what it became.
#[derive(Clone, Debug)]
pub struct CompletedOwnUpload {
    /// The upload.
    pub upload: CompletedUpload,
    /// ID and title of the asset whose data it is; `None` if it was detached meanwhile.
    pub asset: Option<(Uuid, String)>,
}

/// How far an upload is that is in progress.
#[derive(Clone, Debug)]
pub struct UploadProgress {
    /// The upload.
    pub upload: OperatorUpload,
    /// The parts that have arrived; `None` if the store no longer has the upload, which then cannot be continued.
    pub received: Option<Vec<UploadedPart>>,
    /// Whether its parts are being joined.
    pub is_joining: bool,
}

/// Checks what a file is to become. Fails with all problems with it and with the file.
pub fn check(reader: &Reader, vendor: &Vendor, file: &FileInput, target: &UploadTarget) -> Result<()> {
    let mut problems = Problems::default();
    let max_bytes = reader.settings.blobs.max_upload_bytes;
    if file.size_bytes < MIN_ZIP_BYTES {
        let size = written::size(file.size_bytes);
        let message = format!("This file is too small to be a zip: it has {size}. Choose a zip file.");
        problems.push(Problem::body(&["file"], "greater_than_equal", message));
    } else if file.size_bytes > max_bytes {
        let limit = written::size(max_bytes);
        let message = format!("This file is larger than the limit of {limit}. Choose a smaller zip file.");
        problems.push(Problem::body(&["file"], "less_than_equal", message));
    }
    problems.check_text(&["file"], &file.file_name, texts::FILE_NAME);
    if !KINDS.contains(&target.kind) {
        problems.push(Problem::body(&["kind"], "value_error", "Choose what the zip has."));
    }
    if let Some(asset) = target.asset {
        check_has_no_data(reader, vendor, asset, target.kind)?;
    } else {
        problems.check_text(&["title"], &target.title, texts::TITLE);
        if let Some(group) = target.group
            && store::groups::find(reader.rows, vendor.team_row_id(), group)?.is_none()
        {
            let message = "Choose a group of your inventory.";
            problems.push(Problem::body(&["group"], "unknown_reference", message));
        }
    }
    problems.into_result()
}

fn check_has_no_data(reader: &Reader, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<()> {
    assets::find(reader.rows, vendor, id, Some(kind)).and_then(|asset| check_without_data(&asset))
}

/// Fails if an asset has data.
pub fn check_without_data(asset: &Asset) -> Result<()> {
    if asset.data.is_none() {
        return Ok(());
    }
    let message = "This asset already has data. Detach it first.";
    Err(Error::InvalidState(StateCode::DataAttached, message.to_owned()))
}

/// Makes the calls of the blob store that a plan requires, before [`plan`] writes it. Call [`finish_plan`] with the result.
pub fn prepare(market: &Market, vendor: &Vendor, file: &FileInput, target: &UploadTarget) -> Result<Upload> {
    market.read_blocking_for(vendor.requester(), |reader| check(reader, vendor, file, target))?;
    operator_uploads::prepare_for(market, UploadPurpose::Zip(vendor.team().id), file)
}

/// Writes the plan of an upload. Returns its ID.
pub fn plan(
    writer: &mut Writer,
    vendor: &Vendor,
    (file, target): (&FileInput, UploadTarget),
    upload: &Upload,
) -> Result<Uuid> {
    let purpose = UploadPurpose::Zip(vendor.team().id);
    let planned = operator_uploads::plan_for(writer, purpose, file, upload, Some(target))?;
    Ok(planned.upload.id)
}

/// Deletes what [`prepare`] started if [`plan`] did not write it.
pub fn finish_plan(market: &Market, upload: &Upload) {
    operator_uploads::finish_plan(market, upload);
}

/// Returns the uploads of the team that are in progress, newest first.
pub fn list(reader: &Reader, vendor: &Vendor) -> Result<Vec<OperatorUpload>> {
    store::operator_uploads::list_own(reader.rows, vendor.team_row_id(), reader.now)
}

/// Returns an upload of the team that is in progress.
pub fn find(context: &CheckContext, vendor: &Vendor, id: Uuid) -> Result<OperatorUpload> {
    let found = operator_uploads::find(context, id)?;
    let is_own = found.team == vendor.team_row_id() && found.target.is_some();
    if is_own { Ok(found) } else { Err(not_in_progress()) }
}

/// Returns the progress of an upload of the team.
pub fn find_progress(market: &Market, vendor: &Vendor, id: Uuid) -> Result<UploadProgress> {
    let is_joining = market.blobs().plan_conflict(id).is_some();
    let found =
        market.read_blocking_for(vendor.requester(), |reader| find(&reader.check_context(), vendor, id))?;
    let received = operator_uploads::find_received_parts(market, &found)?;
    Ok(UploadProgress { upload: found, received, is_joining })
}

/// Fails if an upload of the team receives no parts: it is not in progress, or the store no longer has it.
pub fn check_receives_parts(market: &Market, vendor: &Vendor, id: Uuid) -> Result<()> {
    let received = find_progress(market, vendor, id)?.received;
    received.map(drop).ok_or_else(|| Error::not_found("upload in the store"))
}

/// Returns a zip of the team that is complete, and what it became; `None` if there is none.
pub fn find_completed(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Option<CompletedOwnUpload>> {
    let found = store::uploads::find_zip(reader.rows, id)?;
    let Some(upload) = found.filter(|found| found.team == vendor.team().id) else { return Ok(None) };
    let asset = store::uploads::find_asset_of_upload(reader.rows, id)?;
    Ok(Some(CompletedOwnUpload { upload, asset }))
}

/// Starts receiving a part of an upload that [`find`] has returned. Fails if the upload has ended meanwhile, if its parts were
/// joined, if another request uses the upload in a way that excludes the part, or if the disk has no space for the part.
pub fn start_part(market: &Market, vendor: &Vendor, id: Uuid, number: u32) -> Result<PartReceiver> {
    let step = UploadStep::ReceivePart(number);
    let lock = market.blobs().lock_upload(id, step).map_err(part_conflict_error)?;
    // Checked with the lock, so no cleanup deletes the upload between this check and the first byte.
    let found =
        market.read_blocking_for(vendor.requester(), |reader| find(&reader.check_context(), vendor, id))?;
    let (_, size) =
        found.upload.layout.part(number).ok_or_else(|| Error::not_found("part of this upload"))?;
    check_not_joined(market, &found.upload)?;
    let reservation = market.reserve_space(size)?;
    market.blobs().receive_part(lock, &found.upload, number, reservation).map_err(Error::internal)
}

/// Joins the parts of an upload. Returns `None` if it was completed already. Fails with [`Error::PartsMissing`] if some have not
/// arrived.
pub fn join(market: &Market, vendor: &Vendor, id: Uuid) -> Result<Option<JoinedFile>> {
    let is_completed = || {
        let find = |reader: &Reader| find_completed(reader, vendor, id).map(|found| found.is_some());
        market.read_blocking_for(vendor.requester(), find)
    };
    match operator_uploads::join(market, |reader| find(&reader.check_context(), vendor, id)) {
        Err(Error::NotFound(_)) if is_completed()? => Ok(None),
        joined => joined.map(Some),
    }
}

/// Completes a joined upload for its planned target. Returns the ID of the asset.
pub fn complete(writer: &mut Writer, vendor: &Vendor, base_url: &str, joined: &JoinedFile) -> Result<Uuid> {
    let planned = &joined.upload;
    let target = planned.target.as_ref().filter(|_| planned.team == vendor.team_row_id());
    let target = target.ok_or_else(not_in_progress)?;
    // The plan first, so that its bytes count once.
    operator_uploads::consume(writer, joined)?;
    let of_team = (planned.upload.id, planned.team);
    let upload = uploads::record(writer, base_url, of_team, &planned.file_name, &joined.file)?;
    add_to_inventory(writer, vendor, (upload, joined.file.size_bytes), target)
}

/// Discards an upload in progress. The next cleanup deletes the received parts.
pub fn cancel(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let found = store::operator_uploads::find(writer.rows, id)?;
    let is_own = |found: &OperatorUpload| found.team == vendor.team_row_id() && found.target.is_some();
    if !found.as_ref().is_some_and(is_own) {
        return Err(not_in_progress());
    }
    store::discarded_uploads::discard_operator_upload(writer.rows, id)?;
    cleanup::enqueue(writer)
}

/// Puts a zip that arrived in one request into the store, and joins it. It was planned like an upload in parts, so after a
/// failure before [`complete`], somebody can complete it, or it is discarded in a day.
pub fn store_whole(market: &Market, vendor: &Vendor, id: Uuid, file: &mut File) -> Result<JoinedFile> {
    let planned =
        market.read_blocking_for(vendor.requester(), |reader| find(&reader.check_context(), vendor, id))?;
    let step = UploadStep::ReceivePart(1);
    let lock = market.blobs().lock_upload(id, step).map_err(part_conflict_error)?;
    let reservation = market.reserve_space(planned.upload.layout.size_bytes)?;
    market.blobs().put_upload(id, file).map_err(Error::internal)?;
    drop((lock, reservation));
    operator_uploads::join(market, |reader| find(&reader.check_context(), vendor, id))
}

/// Creates the asset of a complete upload of this size, or attaches the upload to one. Returns the ID of the asset.
fn add_to_inventory(
    writer: &mut Writer,
    vendor: &Vendor,
    (upload, bytes): (UploadRowId, u64),
    target: &UploadTarget,
) -> Result<Uuid> {
    if let Some(asset) = target.asset {
        let asset = assets::find(writer.rows, vendor, asset, Some(target.kind))?;
        check_without_data(&asset)?;
        let data = linked_data::of_upload(writer, upload, bytes);
        return linked_data::attach(writer, vendor, &asset, &data).map(|asset| asset.id);
    }
    // A group that was deleted meanwhile is replaced by the default group.
    let group = match target.group {
        Some(group) => store::groups::find(writer.rows, vendor.team_row_id(), group)?,
        None => None,
    };
    if target.kind == Kind::Codebase {
        let codebase = UploadedCodebase {
            title: &target.title,
            exclusivity: target.exclusivity,
            group: group.map(|group| group.row_id),
        };
        return codebases::create_from_upload(writer, vendor, codebase, upload, bytes);
    }
    let group = match group {
        Some(group) => group,
        None => store::groups::find_default(writer.rows, vendor.team_row_id())?,
    };
    let (title, group) = (target.title.as_str(), (group.row_id, group.id));
    raw_data::create_from_upload(writer, vendor, (title, group), (upload, bytes))
}
