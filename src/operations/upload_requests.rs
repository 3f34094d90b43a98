//! Validates the bodies of requests under an upload grant. `grant_uploads` executes valid requests.

use std::collections::HashSet;

use uuid::Uuid;

use super::{
    access::Vendor,
    grant_uploads::{FileInput, check_size, expect_upload},
    grants::find_open,
    upload_part_list::{check_parts_exist, problem_of_part},
};
use crate::{
    domain::{grants::Grant, problems::Problems},
    error::{MAX_PROBLEMS, Problem, Result},
    market::{Market, Reader},
    request_problems::ProblemsExt,
    store::grants::PendingUpload,
};

/// Returns the file of a request to plan an upload, which is `None` if `problems` has the reason. Fails with
/// all problems.
pub fn check_plan(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    (file, size_bytes): (Option<FileInput>, Option<u64>),
    mut problems: Problems,
) -> Result<FileInput> {
    if let Some((grant, _)) = find_grant_if_invalid(market, vendor, token, &problems)?
        && let Some(size_bytes) = size_bytes
    {
        problems.collect(check_size(&grant, size_bytes))?;
    }
    problems.into_result_of(file)
}

/// Returns the upload and the part numbers of a request for parts, which are `None` if `problems` has the
/// reason. Fails with all problems, except that valid numbers of a valid request are checked by
/// [`check_part_numbers`].
pub fn check_parts(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    (upload, numbers): (Option<Uuid>, &[Option<u32>]),
    mut problems: Problems,
) -> Result<(Uuid, Vec<u32>)> {
    if let Some((_, pending)) = find_grant_if_invalid(market, vendor, token, &problems)?
        && let Some(pending) = collect_upload(pending, upload, &mut problems)?
    {
        let count = pending.upload.layout.part_count();
        problems.collect(check_part_numbers(numbers.iter().copied(), count))?;
    }
    let numbers: Vec<u32> = numbers.iter().copied().flatten().collect();
    Ok((problems.into_result_of(upload)?, numbers))
}

/// Fails if an upload of `count` parts does not have one of the parts.
pub fn check_part_numbers(numbers: impl Iterator<Item = Option<u32>>, count: u32) -> Result<()> {
    check_parts_exist(numbers, count, |index, kind, msg| {
        Problem::body(&["part_numbers", &index.to_string()], kind, msg)
    })
}

/// Number and ETag of a part; `None` if the request states it in an invalid form.
pub type StatedPart = (Option<u32>, Option<String>);

/// Returns the upload and the parts of a request to complete an upload, which are `None` if `problems` has
/// the reason. Fails with all problems, except that whether the parts of a valid request exist is checked
/// later, by [`check_parts_exist`].
pub fn check_completion(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    (upload, parts): (Option<Uuid>, Vec<StatedPart>),
    mut problems: Problems,
) -> Result<(Uuid, Vec<(u32, String)>)> {
    let has_valid_shape = problems.is_empty();
    let mut listed = HashSet::new();
    let repeated = parts.iter().enumerate().filter_map(|(index, (number, _))| {
        let number = number.filter(|number| !listed.insert(*number))?;
        let msg = format!("Part {number} is listed more than once. List each part once.");
        Some(problem_of_part(index, "duplicate", msg))
    });
    for problem in repeated.take(MAX_PROBLEMS) {
        problems.push(problem);
    }
    // An absent grant is 404 if the shape of the body is valid, whatever else is wrong with it.
    let found = if has_valid_shape && !problems.is_empty() {
        Some(find_grant(market, vendor, token)?)
    } else {
        find_grant_if_invalid(market, vendor, token, &problems)?
    };
    if let Some((_, pending)) = found
        && let Some(pending) = collect_upload(pending, upload, &mut problems)?
    {
        let numbers = parts.iter().map(|(number, _)| *number);
        let count = pending.upload.layout.part_count();
        problems.collect(check_parts_exist(numbers, count, problem_of_part))?;
    }
    let parts = parts.into_iter().filter_map(|(number, etag)| number.zip(etag)).collect();
    Ok((problems.into_result_of(upload)?, parts))
}

/// Returns the upload in progress, or reports that it is not the one that the request names.
fn collect_upload(
    pending: Option<PendingUpload>,
    upload: Option<Uuid>,
    problems: &mut Problems,
) -> Result<Option<PendingUpload>> {
    match upload {
        Some(upload) => problems.collect(expect_upload(pending, upload)),
        None => Ok(pending),
    }
}

/// Returns the grant of a request whose body has problems, and the upload in progress. Without problems, the
/// operation that follows reads both and reports errors.
fn find_grant_if_invalid(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    problems: &Problems,
) -> Result<Option<(Grant, Option<PendingUpload>)>> {
    if problems.is_empty() {
        return Ok(None);
    }
    problems.if_available(find_grant(market, vendor, token))
}

/// Returns the grant of a request, and the upload in progress.
fn find_grant(market: &Market, vendor: &Vendor, token: &str) -> Result<(Grant, Option<PendingUpload>)> {
    let find = |reader: &Reader| find_open(reader.rows, vendor, token, reader.now);
    market.read_blocking_for(vendor.requester(), find)
}
