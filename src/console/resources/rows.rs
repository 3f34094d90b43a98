//! The rows of the table of pages for a resource.

use super::{
    list::RecordList,
    record::RecordPage,
    resource::Resource,
    steps::{NewRecord, RecordStep},
};
use crate::console::{described::ResourceInfo, navigation::PageRow};

/// Returns the rows of the table of pages for a resource.
pub fn rows<R: Resource>() -> Vec<PageRow> {
    let mut rows = vec![list_row::<R>()];
    if R::NEW.is_some() {
        rows.push(PageRow::form::<NewRecord<R>>());
    }
    rows.push(PageRow::page::<RecordPage<R>>());
    if !R::STEPS.is_empty() {
        rows.push(PageRow::form::<RecordStep<R>>());
    }
    rows
}

/// Returns the row of the list of a resource, which describes the resource.
pub fn list_row<R: Resource>() -> PageRow {
    PageRow::page::<RecordList<R>>().of_kind(R::SUBJECT).of_resource(ResourceInfo::of::<R>)
}
