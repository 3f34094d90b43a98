//! Zips that operators are uploading for teams, as operators see them.

use uuid::Uuid;

use super::{
    Filter::{Custom, RefersTo},
    FromRow, Record, Records,
};
use crate::store::operator_uploads::{self, OperatorUpload};

/// A zip that an operator is uploading.
#[derive(Clone, Debug, FromRow)]
pub struct ZipUploadRecord(#[row(with = operator_uploads::read)] pub OperatorUpload);

impl Record for ZipUploadRecord {
    type Id = Uuid;

    const RECORDS: &'static Records = &ZIP_UPLOADS;
}

/// Uploads of zips. Expired uploads can be found by ID. Lists contain them, except for the list of uploads in progress.
pub const ZIP_UPLOADS: Records = Records {
    name: "upload in progress",
    columns: &[operator_uploads::COLUMNS],
    tables: &[operator_uploads::TABLES],
    row_id: "u.id",
    id: "u.uuid",
    condition: Some("u.taskset IS NULL AND u.kind IS NULL"),
    filters: &[
        (
            "in_progress",
            Custom(|query, _, _| {
                let now = query.now.0;
                query.filter("u.expires_at > ?", now)
            }),
        ),
        ("team_id", RefersTo("u.team", "teams")),
    ],
};
