//! The background job that analyzes an uploaded archive. The results become properties of the asset.

use std::path::Path;

use super::{
    asset_changes,
    child_processes::TimeLimit,
    data_analysis::{self, finish_with, write_progress},
    data_structures,
    running_job::{self, JobResult, RunningJob},
    upload_reading::read_upload,
};
use crate::{
    artifacts::{
        Limits, ReadError,
        analyses::{AnalysisByKind, ArchiveAnalysis},
        child::Task,
    },
    config::Settings,
    domain::{
        assets::{Channel, Kind, Robotics},
        field_locks,
        inventory::Asset,
        row_ids::AssetRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    market::Writer,
    store::{
        self,
        assets::{DataProgress, LinkedUpload},
    },
};

/// Message for the vendor if this machine could not read the archive on any attempt.
const UNREADABLE: &str = "The archive could not be read. Detach it, then upload it again.";

/// Message for the vendor if the file of an upload is missing.
const UPLOAD_MISSING: &str = "The upload no longer exists. Detach it, then upload the archive again.";

/// Analyzes the archive of an asset.
pub fn analyze(job: &RunningJob) -> JobResult {
    let asset_row_id = job.asset_row_id();
    let found = job.market().read_blocking(|reader| store::assets::find_upload(reader.rows, asset_row_id))?;
    // The data may have been detached.
    let Some(upload) = found else { return job.finish(|_| Ok(())) };
    job.wait_and_begin()?;
    write_progress(job, &DataProgress::analyzing())?;
    match analyze_upload(job, &upload) {
        Ok(Some(found)) => job.finish(|writer| store_analysis(writer, asset_row_id, found, writer.now)),
        Ok(None) => finish_with(job, &DataProgress::copy_failed(UPLOAD_MISSING)),
        Err(error) => finish_with(job, &DataProgress::analysis_failed(&running_job::rejection(error)?.0)),
    }
}

/// Records that the archive of an asset could not be analyzed, after the last attempt failed.
pub fn give_up(job: &RunningJob) -> JobResult {
    finish_with(job, &DataProgress::analysis_failed(UNREADABLE))
}

/// Returns the limits for reading archives.
pub fn limits(settings: &Settings) -> Limits {
    Limits { max_files: settings.archives.max_files, max_ratio: settings.archives.max_ratio }
}

/// Analyzes an upload. Returns none if its file no longer exists.
fn analyze_upload(
    job: &RunningJob,
    upload: &LinkedUpload,
) -> std::result::Result<Option<ArchiveAnalysis>, ReadError> {
    let market = job.market();
    let asset =
        market.read_blocking(|reader| store::assets::find_by_row_id(reader.rows, job.asset_row_id()))?;
    let is_codebase = asset.is_some_and(|asset| asset.kind == Kind::Codebase);
    let task = Task::AnalyzeArchive { is_codebase, limits: limits(market.settings()) };
    let limit = TimeLimit { seconds: market.settings().archives.max_seconds, what: "The archive" };
    read_upload(job, upload, &task, Path::new("/"), limit)
}

/// Stores the result of an analysis, and locks the fields that it sets. A description that the vendor wrote
/// is kept.
pub fn store_analysis(
    writer: &Writer,
    asset_row_id: AssetRowId,
    found: ArchiveAnalysis,
    at: Timestamp,
) -> Result<()> {
    let Some(mut asset) = store::assets::find_by_row_id(writer.rows, asset_row_id)? else { return Ok(()) };
    let before = asset.clone();
    set_fields(&mut asset, &found);
    let ArchiveAnalysis { listing: summary, own } = found;
    data_structures::store(writer, asset_row_id, &summary.structure)?;
    match own {
        AnalysisByKind::Codebase(code) => {
            let languages = data_analysis::languages_by_slug(
                &store::taxonomy::languages(writer.rows)?,
                code.languages.bytes,
            );
            store::assets::set_languages(writer.rows, asset_row_id, &languages)?;
        }
        AnalysisByKind::RawData(dataset) => {
            let extensions: Vec<String> = summary.extensions.into_keys().collect();
            store::assets::set_files(writer.rows, asset_row_id, summary.files, &extensions)?;
            let description =
                dataset.as_ref().map(serde_json::to_string).transpose().map_err(Error::internal)?;
            store::data_structures::set_dataset(writer.rows, asset_row_id, description.as_deref())?;
            let robotics = dataset.and_then(|dataset| dataset.robotics).map(|robotics| Robotics {
                formats: vec![robotics.format],
                episodes: robotics.episodes.unwrap_or(0),
                size_bytes: summary.bytes,
            });
            store::assets::set_robotics(writer.rows, asset_row_id, robotics.as_ref())?;
        }
    }
    data_analysis::store_fields(writer, &before, &asset, at)
}

/// Sets the fields of an asset that its archive states, and locks them.
pub fn set_fields(asset: &mut Asset, found: &ArchiveAnalysis) {
    let mut description = found.listing.description.clone();
    if let AnalysisByKind::Codebase(code) = &found.own {
        asset.codebase.lines_of_code = Some(code.languages.lines as i64);
        asset.codebase.ci_on_prs = Some(code.ci_on_prs);
        field_locks::lock_extracted(&mut asset.locks, Channel::Zip, ["lines_of_code", "ci_on_prs"]);
        description = description.or_else(|| code.manifest.clone());
    }
    asset_changes::set_description_from_data(asset, Channel::Zip, description);
}
