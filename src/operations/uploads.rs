//! Uploads that are complete: their URLs, and damage of their files.

use std::{
    fs::File,
    io::{self, Write},
};

use crate::{
    blobs::{self, Blobs, StoredFile},
    domain::{
        events::{EventData, UploadData},
        row_ids::UploadRowId,
        teams::TeamRowId,
    },
    error::{Result, excerpt, quoted},
    market::{Market, Reader, Writer},
    search::Progress,
    store::{
        self,
        uploads::{NewUpload, RecordedUpload},
    },
};

/// Returns the URL with which an upload is attached. It only identifies the upload; nothing is served there.
fn upload_url(base_url: &str, id: uuid::Uuid) -> String {
    format!("{base_url}/v2/blobs/uploads/{id}.zip")
}

/// Records that an upload of a team is complete. Returns its row ID.
pub(super) fn record(
    writer: &Writer,
    base_url: &str,
    (id, team): (uuid::Uuid, TeamRowId),
    file_name: &str,
    file: &StoredFile,
) -> Result<UploadRowId> {
    let new = NewUpload {
        id,
        team,
        file_name,
        size_bytes: file.size_bytes,
        sha256: &file.sha256,
        url: &upload_url(base_url, id),
        created_at: writer.now,
    };
    let row_id = store::uploads::insert(writer.rows, &new)?;
    let data = UploadData { upload_id: id, size_bytes: file.size_bytes };
    writer.emit(Some(team), id, &EventData::UploadCompleted(data))?;
    Ok(row_id)
}

/// Returns a description of each upload, and of each file of a bundle, that is unreadable or differs from the recorded
/// digest.
pub fn find_damaged(market: &Market) -> Result<Vec<String>> {
    find_damaged_with_progress(market, &())
}

/// Like [`find_damaged`], and reports how many bytes were read.
pub fn find_damaged_with_progress(market: &Market, progress: &dyn Progress) -> Result<Vec<String>> {
    let uploads = market.read_blocking(|reader| store::uploads::list(reader.rows))?;
    let bundle_files = market.read_blocking(|reader| store::bundles::list_files(reader.rows))?;
    let uploaded: u64 = uploads.iter().map(|upload| upload.size_bytes).sum();
    let total = uploaded + bundle_files.iter().map(|file| file.size_bytes).sum::<u64>();
    let mut sink = Counted { inner: io::sink(), progress, done: 0, total };
    let mut found = Vec::new();
    // An upload that a cleanup has deleted since the lists were read is not missing.
    for upload in uploads {
        let read = market.blobs().copy_upload(upload.id, &mut sink);
        if !is_missing(&read)
            || market.read_blocking(|reader| store::uploads::exists(reader.rows, upload.id))?
        {
            found.extend(find_damage(market.blobs(), &upload, read));
        }
    }
    for file in bundle_files {
        let recorded = StoredFile { size_bytes: file.size_bytes, sha256: file.sha256 };
        let path = market.blobs().bundle_file_path(&recorded.sha256);
        let read = File::open(path).and_then(|mut file| blobs::copy_and_hash(&mut file, &mut sink));
        let is_recorded = |reader: &Reader| store::bundles::has_file(reader.rows, &recorded.sha256);
        if !is_missing(&read) || market.read_blocking(is_recorded)? {
            found.extend(find_bundle_damage(&recorded, read));
        }
    }
    Ok(found)
}

fn is_missing(read: &io::Result<StoredFile>) -> bool {
    read.as_ref().is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound)
}

/// Reports how many bytes were written to something.
struct Counted<'a, T> {
    inner: T,
    progress: &'a dyn Progress,
    done: u64,
    total: u64,
}

impl<T> Counted<'_, T> {
    fn advance(&mut self, count: usize) {
        self.done += count as u64;
        self.progress.advance(self.done, self.total.max(self.done));
    }
}

impl<T: Write> Write for Counted<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.advance(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Returns the problem with a file of bundles, if there is one, given the result of reading it.
pub(super) fn find_bundle_damage(recorded: &StoredFile, read: io::Result<StoredFile>) -> Option<String> {
    let StoredFile { sha256, .. } = recorded;
    match read {
        Ok(file) if file == *recorded => None,
        Ok(_) => Some(format!("the file {sha256} of a bundle differs from its digest")),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            Some(format!("the file {sha256} of a bundle is missing"))
        }
        Err(cause) => Some(format!("the file {sha256} of a bundle cannot be read: {cause}")),
    }
}

/// Returns the problem with the file of an upload, if there is one, given the result of reading it.
pub(super) fn find_damage(
    blobs: &Blobs,
    upload: &RecordedUpload,
    read: io::Result<StoredFile>,
) -> Option<String> {
    let RecordedUpload { id, size_bytes, file_name, team_name, .. } = upload;
    let (file_name, place) = (quoted(&excerpt(file_name)), blobs.upload_location(*id));
    let damage = match read {
        Ok(file) if file.sha256 == upload.sha256 => return None,
        Ok(file) => format!("differs from the received file: {place} has {} bytes", file.size_bytes),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => format!("is missing: there is no {place}"),
        Err(cause) => format!("cannot be read from {place}: {cause}"),
    };
    Some(format!(
        "the upload {id} ({file_name} of the team {}, {size_bytes} bytes) {damage}",
        quoted(&excerpt(team_name))
    ))
}
