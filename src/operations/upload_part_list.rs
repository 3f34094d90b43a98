//! The list of parts in a request that completes an upload, and what it is compared with: the parts that were
//! received, or those of which an earlier request has already joined the file.

use crate::{
    blobs::{UploadedPart, missing_parts},
    domain::{grants::Grant, uploads::Upload},
    error::{Error, LocSegment, MAX_PROBLEMS, Problem, Result},
    store,
};

/// Stores the entity tags of the received parts before they are joined, because they are not known
/// afterwards. Returns the parts that are missing in the list of the request; nothing is stored if there are
/// any.
pub(super) fn record_received(
    rows: &store::Writer,
    grant: &Grant,
    upload: &Upload,
    received: &[UploadedPart],
    parts: &[(u32, String)],
) -> Result<Vec<u32>> {
    let missing = missing_parts(upload.layout, received, parts);
    if missing.is_empty() {
        let etags: Vec<&str> = received.iter().map(|part| part.etag.as_str()).collect();
        store::grants::set_part_etags(rows, grant.row_id, &etags)?;
    }
    Ok(missing)
}

/// Returns the parts of an upload whose parts were joined that the list of the request does not state, or
/// with another entity tag.
pub(super) fn missing_of_joined(
    rows: &store::Reader,
    grant: &Grant,
    upload: &Upload,
    parts: &[(u32, String)],
) -> Result<Vec<u32>> {
    // An earlier version of this program did not store the tags. An empty tag is one that is not known.
    let etags = store::grants::find_part_etags(rows, grant.row_id)?
        .unwrap_or_else(|| vec![String::new(); upload.layout.part_count() as usize]);
    let numbered = (1..).zip(etags);
    let received: Vec<UploadedPart> =
        numbered.map(|(part_number, etag)| UploadedPart { part_number, etag, size_bytes: 0 }).collect();
    Ok(missing_parts(upload.layout, &received, parts))
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
