//! Reading uploaded archives, in the background: what is in them becomes what is known of the asset.

use std::io;

use super::{
    assets,
    jobs::{self, Done, Task},
};
use crate::{
    artifacts::{
        Limits,
        archive::{self, Reading},
    },
    domain::assets::Channel,
    error::{Error, Result},
    market::Writer,
    store::{
        self,
        assets::{Progress, Upload},
    },
};

/// What a vendor is told of an archive that the machine could not read, however often it tried.
const GIVEN_UP: &str = "The archive could not be read. Detach it, and upload it again.";

/// What a vendor is told of an upload that is not there any more.
const LOST: &str = "The upload is not there any more. Detach it, and upload it again.";

/// Reads the archive of an asset.
pub fn read(task: &Task) -> Done {
    let number = task.subject();
    let found = task.market().read_blocking(|reader| store::assets::upload_of(reader.rows, number))?;
    let Some(Upload { id, size_bytes }) = found else {
        // It was detached.
        return task.finish(|_| Ok(()));
    };
    let lost =
        || task.finish(|writer| store::assets::note_progress(writer.rows, number, &Progress::lost(LOST)));
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
    let settings = &task.market().settings().archives;
    let limits = Limits { files: settings.max_files, ratio: settings.max_ratio };
    match archive::read(upload.path(), limits, &|| task.goes_on()) {
        Ok(reading) => task.finish(|writer| keep(writer, number, reading)),
        Err(unread) => {
            let refusal = jobs::refusal(unread)?;
            task.finish(|writer| {
                store::assets::note_progress(writer.rows, number, &Progress::failed(&refusal.0))
            })
        }
    }
}

/// Notes that the archive of an asset is not read.
pub fn give_up(task: &Task) -> Done {
    let number = task.subject();
    task.finish(|writer| store::assets::note_progress(writer.rows, number, &Progress::failed(GIVEN_UP)))
}

/// Keeps what was read. A description that the vendor wrote stays; what was read in its place is locked.
fn keep(writer: &mut Writer, number: i64, reading: Reading) -> Result<()> {
    let Some(mut asset) = store::assets::numbered(writer.rows, number)? else { return Ok(()) };
    let roots = serde_json::to_string(&reading.structure.roots).map_err(Error::internal)?;
    store::structures::put(writer.rows, number, reading.structure.max_depth, &roots)?;
    let extensions: Vec<String> = reading.extensions.into_keys().collect();
    store::assets::note_files(writer.rows, number, reading.files, &extensions)?;
    assets::describe(&mut asset, Channel::Zip, reading.description);
    store::assets::note_progress(writer.rows, number, &Progress::read(writer.now))?;
    store::assets::update(writer.rows, &asset)
}
