//! Zips that a team puts into the market's blob folder.

use std::{fs::File, io::Read, path::Path};

use super::teams;
use crate::{
    error::{Error, Result},
    market::Market,
    store::{self, uploads::NewUpload},
};

/// How a zip begins: with a file, or, where it is empty, with the end of its list of files.
const BEGINNINGS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Copies a zip into the market for a team, which is named by its id or its name. Answers the address, below `base_url`,
/// that raw data attaches.
pub fn put(market: &Market, team: &str, file: &Path, base_url: &str) -> Result<String> {
    let team = market.read_blocking(|reader| teams::resolve(reader.rows, team))?;
    let unreadable = |cause| Error::Conflict(format!("cannot read {}: {cause}", file.display()));
    let mut source = File::open(file).map_err(unreadable)?;
    let mut beginning = Vec::new();
    source.by_ref().take(4).read_to_end(&mut beginning).map_err(unreadable)?;
    if !BEGINNINGS.contains(&beginning.as_slice()) {
        return Err(Error::Conflict(format!("{} is no zip; pack the data as one", file.display())));
    }
    let id = market.clock().id();
    let mut whole = beginning.as_slice().chain(source);
    let written = market.blobs().put_upload(id, &mut whole).map_err(|cause| {
        Error::Conflict(format!("cannot copy {} into the market: {cause}", file.display()))
    })?;
    let url = address(base_url, id);
    let kept = market.write_blocking(|writer| {
        let upload = NewUpload {
            id,
            team: team.number,
            file_name: &file.file_name().unwrap_or_default().to_string_lossy(),
            size_bytes: written.size_bytes,
            sha256: &written.sha256,
            url: &url,
            created_at: writer.now,
        };
        store::uploads::insert(writer.rows, &upload)
    });
    if kept.is_err() {
        // A file that no row knows of would lie there for ever; that it is taken away is not promised to anybody.
        let _ = market.blobs().remove_upload(id);
    }
    kept.map(|_| url)
}

/// The address that raw data attaches: a name, since nothing is served there.
pub fn address(base_url: &str, id: uuid::Uuid) -> String {
    format!("{base_url}/v2/blobs/uploads/{id}.zip")
}

/// Uploads that are not as they came, in words; nothing where all are.
pub fn faults(market: &Market) -> Result<Vec<String>> {
    let uploads = market.read_blocking(|reader| store::uploads::digests(reader.rows))?;
    let fault = |(id, sha256): (uuid::Uuid, String)| match market.blobs().measure_upload(id) {
        Ok(written) if written.sha256 == sha256 => None,
        Ok(_) => Some(format!("the upload {id} is not as it came")),
        Err(cause) => Some(format!("the upload {id} cannot be read: {cause}")),
    };
    Ok(uploads.into_iter().filter_map(fault).collect())
}
