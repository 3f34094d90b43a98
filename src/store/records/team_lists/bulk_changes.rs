//! Bulk changes of a team's assets.

use super::{Records, TeamRecord, TeamRecords};
use crate::store::bulk_changes::{self, BulkChange};

impl TeamRecord for BulkChange {
    const LIST: &'static TeamRecords = &Records {
        name: "change of assets",
        columns: &[bulk_changes::COLUMNS],
        tables: &["bulk_changes c"],
        row_id: "c.id",
        id: "c.uuid",
        condition: None,
        filters: &[],
    }
    .of_team("c.team");
}
