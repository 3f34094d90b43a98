//! The background job that analyzes an uploaded archive. The results become properties of the asset.

use std::{io, path::Path};

use super::{
    assets,
    jobs::{self, Done, Task},
    quality_runs, repositories,
};
use crate::{
    artifacts::{
        Limits, Unread,
        readings::{self, OfArchive, Own},
    },
    config::Settings,
    domain::{
        assets::{Channel, Kind, Robotics},
        field_locks,
        time::Timestamp,
    },
    error::{Error, Result},
    market::Writer,
    store::{
        self,
        assets::{Progress, Upload},
    },
};

/// Message for the vendor if this machine could not read the archive on any attempt.
const GIVEN_UP: &str = "The archive could not be read. Detach it, then upload it again.";

/// Message for the vendor if the file of an upload is missing.
const LOST: &str = "The upload no longer exists. Detach it, then upload the archive again.";

/// Analyzes the archive of an asset.
pub fn read(task: &Task) -> Done {
    let number = task.subject();
    let found = task.market().read_blocking(|reader| store::assets::upload_of(reader.rows, number))?;
    let Some(Upload { id, size_bytes }) = found else {
        // The data was detached.
        return task.finish(|_| Ok(()));
    };
    let lost = || task.finish(|writer| settle(writer, number, &Progress::lost(LOST)));
    let upload = match task.market().blobs().fetch(id) {
        Ok(upload) => upload,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return lost(),
        Err(cause) => return Err(Error::internal(cause).into()),
    };
    match std::fs::metadata(upload.path()) {
        Ok(file) if file.len() == size_bytes => {}
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(Error::internal(cause).into()),
        _ => return lost(),
    }
    task.report(|writer| store::assets::note_progress(writer.rows, number, &Progress::reading()))?;
    match look(task, upload.path()) {
        Ok(found) => task.finish(|writer| keep(writer, number, found, writer.now)),
        Err(unread) => {
            let refusal = jobs::refusal(unread)?;
            task.finish(|writer| settle(writer, number, &Progress::failed(&refusal.0)))
        }
    }
}

/// Records that the archive of an asset could not be analyzed, after the last attempt failed.
pub fn give_up(task: &Task) -> Done {
    let number = task.subject();
    task.finish(|writer| settle(writer, number, &Progress::failed(GIVEN_UP)))
}

/// Records the final progress of an asset's data, and resumes the quality runs that waited for it.
pub fn settle(writer: &Writer, number: i64, progress: &Progress) -> Result<()> {
    store::assets::note_progress(writer.rows, number, progress)?;
    quality_runs::data_settled(writer, number)
}

/// Returns the limits for reading archives.
pub fn limits(settings: &Settings) -> Limits {
    Limits { files: settings.archives.max_files, ratio: settings.archives.max_ratio }
}

fn look(task: &Task, path: &Path) -> std::result::Result<OfArchive, Unread> {
    let market = task.market();
    let asset = market.read_blocking(|reader| store::assets::numbered(reader.rows, task.subject()));
    let asset = asset.map_err(|error| Unread::Broken(io::Error::other(error.to_string())))?;
    let is_codebase = asset.is_some_and(|asset| asset.kind == Kind::Codebase);
    task.within(market.settings().archives.max_seconds, "The archive", |go_on| {
        readings::archive(path, is_codebase, limits(market.settings()), go_on)
    })
}

/// Stores the result of an analysis, and locks the fields that it sets. A description that the vendor wrote
/// is kept.
pub fn keep(writer: &Writer, number: i64, found: OfArchive, at: Timestamp) -> Result<()> {
    let Some(mut asset) = store::assets::numbered(writer.rows, number)? else { return Ok(()) };
    let OfArchive { listing: reading, own } = found;
    let roots = serde_json::to_string(&reading.structure.roots).map_err(Error::internal)?;
    store::structures::put(writer.rows, number, reading.structure.max_depth, &roots)?;
    let manifest = match own {
        Own::Codebase(code) => {
            asset.history.lines_of_code = Some(code.mix.lines as i64);
            asset.history.ci_on_prs = Some(code.ci_on_prs);
            field_locks::read(&mut asset.locks, Channel::Zip, ["lines_of_code", "ci_on_prs"]);
            let languages = repositories::by_slug(writer, code.mix.bytes)?;
            store::assets::note_languages(writer.rows, number, &languages)?;
            code.manifest
        }
        Own::RawData(dataset) => {
            let extensions: Vec<String> = reading.extensions.into_keys().collect();
            store::assets::note_files(writer.rows, number, reading.files, &extensions)?;
            let described =
                dataset.as_ref().map(serde_json::to_string).transpose().map_err(Error::internal)?;
            store::structures::describe(writer.rows, number, described.as_deref())?;
            let robotics = dataset.and_then(|dataset| dataset.robotics).map(|robotics| Robotics {
                formats: vec![robotics.format],
                episodes: robotics.episodes.unwrap_or(0),
                size_bytes: reading.bytes,
            });
            store::assets::note_robotics(writer.rows, number, robotics.as_ref())?;
            None
        }
    };
    assets::describe(&mut asset, Channel::Zip, reading.description.or(manifest));
    settle(writer, number, &Progress::read(at))?;
    store::assets::update(writer.rows, &asset)
}
