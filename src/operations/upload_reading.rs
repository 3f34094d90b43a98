//! Reading an uploaded archive for a job. An upload that is attached to many assets is read once per task: the
//! reply of the child process is stored.

use std::{fs::File, path::Path};

use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::{child_processes::TimeLimit, running_job::RunningJob};
use crate::{
    artifacts::{
        ReadError, Rejection,
        child::{Input, ReplyBytes, Task, Validate},
    },
    blobs::UploadFile,
    error::{Error, Result},
    market::Market,
    store::{self, assets::LinkedUpload, upload_replies::ReplyKey},
};

/// Runs a task on an upload, or returns the result of an earlier run of the same task by the same program.
/// Returns none if the upload no longer exists. The task may write temporary files to `directory`.
pub fn read_upload<T: DeserializeOwned + Validate>(
    job: &RunningJob,
    upload: &LinkedUpload,
    task: &Task,
    directory: &Path,
    limit: TimeLimit,
) -> std::result::Result<Option<T>, ReadError> {
    let blobs = job.market().blobs();
    let Some(version) = blobs.upload_version(upload.id).map_err(ReadError::Io)? else { return Ok(None) };
    let key = ReplyKey {
        upload: upload.row_id,
        task: job.children().describe_task(task, limit).map_err(|error| ReadError::Io(error.into()))?,
        version: format!("{}/{version}", job.children().program_version()),
    };
    let stored = job.market().read_blocking(|reader| store::upload_replies::find(reader.rows, &key))?;
    if let Some(reply) = stored {
        return job.parse_reply(&ReplyBytes::from_stored(reply)).map(Some);
    }
    let file = fetch_upload(job.market(), upload.id, upload.size_bytes)?;
    let archive = File::open(file.path()).map_err(ReadError::Io)?;
    match job.run_child(task, Input::File(archive, directory), limit) {
        Ok((result, reply)) => {
            store_reply(job, &key, reply.as_bytes())?;
            Ok(Some(result))
        }
        Err(ReadError::Rejected(rejection)) => {
            let reply = ReplyBytes::rejection(&rejection).map_err(|error| ReadError::Io(error.into()))?;
            store_reply(job, &key, reply.as_bytes())?;
            Err(Rejection(rejection.0).into())
        }
        Err(error) => Err(error),
    }
}

fn store_reply(job: &RunningJob, key: &ReplyKey, reply: &[u8]) -> Result<()> {
    let reply = store::upload_replies::pack(reply)?;
    job.market().write_blocking(|writer| store::upload_replies::upsert(writer.rows, key, &reply))
}

/// Returns the file of an upload of this size. An upload in another store is downloaded.
pub(super) fn fetch_upload(market: &Market, id: Uuid, size_bytes: u64) -> Result<UploadFile> {
    let blobs = market.blobs();
    // Until it is downloaded.
    let _reservation = if blobs.receives_parts() { None } else { Some(market.reserve_space(size_bytes)?) };
    blobs.fetch_upload(id).map_err(Error::internal)
}
