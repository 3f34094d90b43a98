//! Estimations of a vendor.

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::{
    domain::estimations::Estimation,
    store::estimations::{self, read_estimation},
};

/// An estimation in a list.
#[derive(Clone, Debug, FromRow)]
pub struct TeamEstimation(#[row(with = read_estimation)] pub Estimation);

impl TeamRecord for TeamEstimation {
    /// `text` is a part of the full name of the repository, and `is_added` is whether an asset was created from it that still
    /// exists.
    const LIST: &'static TeamRecords = &Records {
        name: "estimation",
        columns: &[estimations::COLUMNS],
        tables: &[estimations::TABLES],
        row_id: "e.id",
        id: "e.uuid",
        condition: None,
        filters: &[
            ("status", Filter::OneOf("e.status")),
            ("channel", Filter::OneOf("e.channel")),
            ("is_added", Filter::HasValue("a.id")),
            ("text", Filter::Contains("e.repo_full_name")),
        ],
    }
    .of_team("e.team");
}
