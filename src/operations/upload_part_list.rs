//! The list of parts in a request that completes an upload, and what it is compared with: the parts that were
//! received, or those of which an earlier request has already joined the file.

use crate::{
    blobs::{ReceivedBytes, UploadedPart, missing_parts},
    domain::{grants::Grant, problems::Problems, uploads::Upload, written::counted},
    error::{MAX_PROBLEMS, Problem, Result},
    request_problems::ProblemsExt,
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

/// Fails with a problem for each of these parts that does not exist in an upload of `count` parts. `problem` takes the index of
/// the part, and the kind and the message of the problem.
pub fn check_parts_exist(
    numbers: impl Iterator<Item = Option<u32>>,
    count: u32,
    problem: impl Fn(usize, &'static str, String) -> Problem,
) -> Result<()> {
    let absent = numbers.enumerate().filter_map(|(index, number)| {
        let number = number.filter(|number| *number > count)?;
        let parts = counted(count.into(), "part", "parts");
        let msg = format!("Part {number} does not exist: the upload has {parts}.");
        Some(problem(index, "less_than_equal", msg))
    });
    Problems::from(absent.take(MAX_PROBLEMS).collect::<Vec<_>>()).into_result()
}

/// Returns a problem with the number of a part in the list of a request.
pub fn problem_of_part(index: usize, kind: &'static str, msg: String) -> Problem {
    Problem::body(&["parts", &index.to_string(), "part_number"], kind, msg)
}
