//! Zips that operators are uploading for teams, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::time::Timestamp,
    error::Result,
    store::operator_uploads::{self, OperatorUpload},
};

/// A zip that an operator is uploading.
#[derive(Clone, Debug)]
pub struct ZipUploadRecord(pub OperatorUpload);

/// What the list of uploads can be filtered by.
#[derive(Clone, Copy, Debug)]
pub struct ZipUploadFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// The time at which they are in progress.
    pub now: Timestamp,
}

impl Record for ZipUploadRecord {
    type Id = Uuid;
    type Filter = ZipUploadFilter;

    const NAME: &'static str = "upload in progress";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<ZipUploadRecord>> {
        let found = operator_uploads::find(reader, *id)?;
        Ok(found.filter(|found| found.taskset.is_none()).map(ZipUploadRecord))
    }

    fn page(
        reader: &Reader,
        filter: &ZipUploadFilter,
        request: PageRequest,
    ) -> Result<RowPage<ZipUploadRecord>> {
        let page = PageQuery::new(operator_uploads::COLUMNS, operator_uploads::TABLES, "u.id")
            .when(true, "u.taskset IS NULL")
            .filter("u.expires_at > ?", Some(filter.now.0))
            .refers_to("u.team", "teams", filter.team)
            .fetch(reader, request, operator_uploads::read)?;
        Ok(page.map(ZipUploadRecord))
    }
}
