//! Uploads of zip files into the market, from the command line.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use super::teams;
use crate::{
    blobs::{self, Blobs, StoredFile},
    domain::{
        collections::Collection,
        events::{EventData, UploadData},
    },
    error::{Error, Result, excerpt},
    market::Market,
    regular_files,
    search::Progress,
    store::{
        self,
        uploads::{NewUpload, RecordedUpload},
    },
};

/// Possible first bytes of a zip file: a local file header, or the end of the central directory if the
/// archive is empty.
const ZIP_SIGNATURES: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Copies a zip file into the market for a team, given by ID or name. Returns the URL of the upload, below
/// `base_url`, with which it can be attached to raw data.
pub fn import_zip(market: &Market, team: &str, file: &Path, base_url: &str) -> Result<String> {
    import_zip_with_progress(market, team, file, base_url, &())
}

/// Like [`import_zip`], and reports how many bytes of the file were copied.
pub fn import_zip_with_progress(
    market: &Market,
    team: &str,
    file: &Path,
    base_url: &str,
    progress: &dyn Progress,
) -> Result<String> {
    let team = market.read_blocking(|reader| teams::resolve(reader.rows, team))?;
    let unreadable = |cause| Error::Conflict(format!("cannot read {}: {cause}", file.display()));
    let mut source =
        regular_files::open(file, market.settings().blobs.max_upload_bytes).map_err(unreadable)?;
    let mut signature = Vec::new();
    Read::by_ref(&mut source).take(4).read_to_end(&mut signature).map_err(unreadable)?;
    if !ZIP_SIGNATURES.contains(&signature.as_slice()) {
        return Err(Error::Conflict(format!("{} is not a zip file; pack the data as one", file.display())));
    }
    let id = market.clock().new_id(Collection::Uploads);
    let total = source.metadata().map_err(unreadable)?.len();
    let reservation = market.reserve_space(total)?;
    let mut contents = Counted { inner: signature.as_slice().chain(source), progress, done: 0, total };
    let written = market.blobs().put_upload(id, &mut contents).map_err(|cause| {
        Error::Conflict(format!("cannot copy {} into the market: {cause}", file.display()))
    })?;
    drop(reservation);
    let url = upload_url(base_url, id);
    let inserted = market.write_blocking(|writer| {
        let upload = NewUpload {
            id,
            team: team.row_id,
            file_name: &file.file_name().unwrap_or_default().to_string_lossy(),
            size_bytes: written.size_bytes,
            sha256: &written.sha256,
            url: &url,
            created_at: writer.now,
        };
        store::uploads::insert(writer.rows, &upload)?;
        let data = UploadData { upload_id: id, size_bytes: written.size_bytes };
        writer.emit(Some(team.row_id), id, &EventData::UploadCompleted(data))
    });
    if inserted.is_err() {
        // Without a row, nothing would ever delete the file. A failure to remove it here is ignored.
        let _ = market.blobs().remove_upload(id);
    }
    inserted.map(|()| url)
}

/// Returns the URL with which an upload is attached. It only identifies the upload; nothing is served there.
pub fn upload_url(base_url: &str, id: uuid::Uuid) -> String {
    format!("{base_url}/v2/blobs/uploads/{id}.zip")
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
    let found = uploads.iter().filter_map(|upload| {
        let read = market.blobs().copy_upload(upload.id, &mut sink);
        find_damage(market.blobs(), upload, read)
    });
    let mut found: Vec<String> = found.collect();
    for file in bundle_files {
        let recorded = StoredFile { size_bytes: file.size_bytes, sha256: file.sha256 };
        let path = market.blobs().bundle_file_path(&recorded.sha256);
        let read = File::open(path).and_then(|mut file| blobs::copy_and_hash(&mut file, &mut sink));
        found.extend(find_bundle_damage(&recorded, read));
    }
    Ok(found)
}

/// Reports how many bytes were read from, or written to, something.
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

impl<T: Read> Read for Counted<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.advance(count);
        Ok(count)
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

/// Returns what is wrong with a file of bundles, if anything, given what was read of it.
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

/// Returns what is wrong with the file of an upload, if anything, given what was read of it.
pub(super) fn find_damage(
    blobs: &Blobs,
    upload: &RecordedUpload,
    read: io::Result<StoredFile>,
) -> Option<String> {
    let RecordedUpload { id, size_bytes, file_name, team_name, .. } = upload;
    let (file_name, place) = (excerpt(file_name), blobs.upload_location(*id));
    let damage = match read {
        Ok(file) if file.sha256 == upload.sha256 => return None,
        Ok(file) => format!("differs from the received file: {place} has {} bytes", file.size_bytes),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => format!("is missing: there is no {place}"),
        Err(cause) => format!("cannot be read from {place}: {cause}"),
    };
    Some(format!(
        "the upload {id} ({file_name:?} of the team {:?}, {size_bytes} bytes) {damage}",
        excerpt(team_name)
    ))
}
