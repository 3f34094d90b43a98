//! Zips that operators upload for teams, which can then attach them to raw data.

use uuid::Uuid;

use super::{
    access::Platform,
    cleanup,
    operator_uploads::{self, JoinedFile, not_in_progress},
    uploads,
};
use crate::{
    blobs::UploadedPart,
    error::{Error, Result},
    market::{Market, Reader, Writer},
    store::{self, operator_uploads::OperatorUpload, uploads::CompletedUpload},
};

fn find(reader: &Reader, upload: Uuid) -> Result<OperatorUpload> {
    let found = operator_uploads::find(&reader.check_context(), upload)?;
    if found.taskset.is_none() && found.target.is_none() { Ok(found) } else { Err(not_in_progress()) }
}

/// Returns an upload in progress, with the parts received so far.
pub fn find_with_parts(
    market: &Market,
    _: Platform,
    upload: Uuid,
) -> Result<(OperatorUpload, Vec<UploadedPart>)> {
    let found = market.read_blocking(|reader| find(reader, upload))?;
    let received = operator_uploads::received_parts(market, &found)?;
    Ok((found, received))
}

/// Joins the parts of an upload. Returns `None` if it was completed already; [`complete`] then returns it again, so that a
/// client that did not see the response can repeat the request.
pub fn join(market: &Market, _: Platform, upload: Uuid) -> Result<Option<JoinedFile>> {
    if market.read_blocking(|reader| store::uploads::find_zip(reader.rows, upload))?.is_some() {
        return Ok(None);
    }
    match operator_uploads::join(market, |reader| find(reader, upload)) {
        // Another request may have completed it meanwhile.
        Err(Error::NotFound(_))
            if market.read_blocking(|reader| store::uploads::find_zip(reader.rows, upload))?.is_some() =>
        {
            Ok(None)
        }
        joined => joined.map(Some),
    }
}

/// Records a joined upload, which its team can then attach by its URL below `base_url`.
pub fn complete(
    writer: &mut Writer,
    _: Platform,
    base_url: &str,
    upload: Uuid,
    joined: Option<&JoinedFile>,
) -> Result<CompletedUpload> {
    if let Some(joined) = joined {
        operator_uploads::consume(writer, joined)?;
        let JoinedFile { upload: planned, file, .. } = joined;
        uploads::record(writer, base_url, (upload, planned.team), &planned.file_name, file)?;
    }
    store::uploads::find_zip(writer.rows, upload)?.ok_or_else(not_in_progress)
}

/// Cancels an upload in progress. The next cleanup deletes what was received.
pub fn cancel(writer: &mut Writer, _: Platform, upload: Uuid) -> Result<OperatorUpload> {
    let found = store::operator_uploads::find(writer.rows, upload)?
        .filter(|found| found.expires_at > writer.now && found.taskset.is_none() && found.target.is_none())
        .ok_or_else(not_in_progress)?;
    store::discarded_uploads::discard_operator_upload(writer.rows, upload)?;
    cleanup::enqueue(writer)?;
    Ok(found)
}
