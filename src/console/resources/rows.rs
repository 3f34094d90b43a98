//! The rows of the table of pages for a resource.

use std::marker::PhantomData;

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
        rows.push(PageRow::form(NewRecord::<R>(PhantomData)));
    }
    rows.push(PageRow::page(RecordPage::<R>(PhantomData)));
    if !R::STEPS.is_empty() {
        rows.push(PageRow::form(RecordStep::<R>(PhantomData)));
    }
    rows
}

/// Returns the row of the list of a resource, which describes the resource.
pub fn list_row<R: Resource>() -> PageRow {
    PageRow::list(RecordList::<R>(PhantomData)).of_kind(R::SUBJECT).of_resource(ResourceInfo::of::<R>)
}
