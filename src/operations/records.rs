//! Records of all teams, for operators.

use super::access::Platform;
use crate::{
    error::{Error, Result},
    store::{
        self,
        records::{
            Record,
            pages::{PageRequest, RowPage},
        },
    },
};

/// Returns the record with this ID.
pub fn find<R: Record>(rows: &store::Reader, _: Platform, id: &R::Id) -> Result<R> {
    R::find(rows, id)?.ok_or_else(|| Error::not_found(R::NAME))
}

/// Returns a page of the records that the filter allows, newest first.
pub fn page<R: Record>(
    rows: &store::Reader,
    _: Platform,
    filter: &R::Filter,
    request: PageRequest,
) -> Result<RowPage<R>> {
    R::page(rows, filter, request)
}
