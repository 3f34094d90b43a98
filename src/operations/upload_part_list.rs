//! The list of parts in a request that completes an upload, and what it is compared with: the parts that were
//! received, or those of which an earlier request has already joined the file.

use crate::{
    blobs::{ReceivedBytes, UploadedPart, missing_parts},
    domain::{grants::Grant, uploads::Upload},
    error::{Error, LocSegment, MAX_PROBLEMS, Problem, Result},
    store,
};

/// Returns the parts of an upload with a grant that have arrived.
pub(super) fn received_parts(
    rows: &store::Reader,
    grant: &Grant,
    upload: &Upload,
    received: &ReceivedBytes,
) -> Result<Vec<UploadedPart>> {
    let joined_etags = match received {
        ReceivedBytes::Parts(_) => None,
        // An earlier version of this program did not store the tags.
        ReceivedBytes::Joined => store::grants::find_part_etags(rows, grant.row_id)?,
    };
    Ok(received.parts(upload.layout, joined_etags.unwrap_or_default()))
}

/// Returns the numbers of the parts that were not received, or that the list of a request lacks or states with another entity tag.
/// If there are none, stores the tags, since they are unknown after the parts are joined.
pub(super) fn find_missing(
    rows: &store::Writer,
    grant: &Grant,
    upload: &Upload,
    received: &ReceivedBytes,
    listed: &[(u32, String)],
) -> Result<Vec<u32>> {
    let received = received_parts(rows, grant, upload, received)?;
    let missing = missing_parts(upload.layout, &received, listed);
    if missing.is_empty() {
        let etags: Vec<&str> = received.iter().map(|part| part.etag.as_str()).collect();
        store::grants::set_part_etags(rows, grant.row_id, &etags)?;
    }
    Ok(missing)
}

/// Fails if a part of a list does not exist in an upload of `count` parts.
pub fn check_listed_parts(numbers: impl Iterator<Item = Option<u32>>, count: u32) -> Result<()> {
    let absent = numbers.enumerate().filter_map(|(index, number)| {
        let number = number.filter(|number| *number > count)?;
        let msg = format!("Part {number} does not exist: the upload has {count} parts.");
        Some(problem_of_part(index, "less_than_equal", msg))
    });
    let problems: Vec<Problem> = absent.take(MAX_PROBLEMS).collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

/// Returns a problem with the number of a part in the list of a request.
pub fn problem_of_part(index: usize, kind: &'static str, msg: String) -> Problem {
    let path = [LocSegment::Name("parts".to_owned()), LocSegment::Index(index)];
    Problem::body(&["part_number"], kind, msg).nested_in(&path)
}
