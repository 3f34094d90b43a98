//! The rows of the table of pages for a resource.

use super::{
    list::RecordList,
    record::RecordPage,
    resource::Resource,
    steps::{NewRecord, RecordStep},
};
use crate::console::page::PageRow;

/// Returns the rows of the table of pages for a resource.
pub fn rows<R: Resource>() -> Vec<PageRow> {
    let mut rows = vec![PageRow::page::<RecordList<R>>()];
    if R::NEW.is_some() {
        rows.push(PageRow::form::<NewRecord<R>>());
    }
    rows.push(PageRow::page::<RecordPage<R>>());
    if !R::STEPS.is_empty() {
        rows.push(PageRow::form::<RecordStep<R>>());
    }
    rows
}
