//! Tasksets on listings, and the preview of their tasks.

use uuid::Uuid;

use super::{access::ListingViewer, browse};
use crate::{
    error::{Error, Result},
    market::Reader,
    store::{self, tasks::PreviewedTask, tasksets::Taskset},
};

/// Maximum number of tasks in a preview.
const MAX_PREVIEW_TASKS: usize = 20;

/// Returns a taskset of a listing.
pub fn find(reader: &Reader, viewer: &ListingViewer, listing: Uuid, taskset: Uuid) -> Result<Taskset> {
    let listing = browse::find_visible(reader, viewer, listing)?;
    let missing = || Error::not_found("taskset on this listing");
    let taskset = store::tasksets::find(reader.rows, taskset)?.ok_or_else(missing)?;
    if store::listings::has_taskset(reader.rows, listing.row_id, taskset.row_id)? {
        Ok(taskset)
    } else {
        Err(missing())
    }
}

/// Returns a taskset of a listing, with its newest tasks.
pub fn preview(
    reader: &Reader,
    viewer: &ListingViewer,
    listing: Uuid,
    taskset: Uuid,
) -> Result<(Taskset, Vec<PreviewedTask>)> {
    let taskset = find(reader, viewer, listing, taskset)?;
    let tasks = store::tasks::list_preview(reader.rows, taskset.row_id, MAX_PREVIEW_TASKS)?;
    Ok((taskset, tasks))
}
