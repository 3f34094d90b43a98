//! The pages about the teams of the market, what they offer, what they look for, and the taxonomy.

use super::{
    asset_types::AssetTypes,
    assets::Assets,
    estimations::Estimations,
    grants::Grants,
    keys::{Keys, OperatorKeys},
    listings::Listings,
    opportunities::{Opportunities, Projects},
    project_bids::ProjectBids,
    quality_runs::QualityRuns,
    tasks::{Builds, Tasks, Versions},
    tasksets::{Tasksets, TraceImports},
    taxonomy::{ContentTags, Domains, InventoryTags},
    teams::Teams,
    uploads::Uploads,
};
use crate::console::{navigation::PageRow, resources};

/// Returns the rows of the table of pages, without those of the taxonomy.
pub fn rows() -> Vec<PageRow> {
    [
        resources::rows::<Listings>(),
        resources::rows::<Assets>(),
        resources::rows::<QualityRuns>(),
        resources::rows::<Tasksets>(),
        resources::rows::<Tasks>(),
        resources::rows::<Versions>(),
        resources::rows::<Builds>(),
        resources::rows::<TraceImports>(),
        resources::rows::<Estimations>(),
        resources::rows::<Teams>(),
        resources::rows::<Keys>(),
        resources::rows::<OperatorKeys>(),
        resources::rows::<Grants>(),
        resources::rows::<Uploads>(),
        resources::rows::<Opportunities>(),
        resources::rows::<Projects>(),
        resources::rows::<ProjectBids>(),
    ]
    .concat()
}

/// Returns the rows of the taxonomy.
pub fn taxonomy() -> Vec<PageRow> {
    [
        resources::rows::<AssetTypes>(),
        resources::rows::<Domains>(),
        resources::rows::<ContentTags>(),
        resources::rows::<InventoryTags>(),
    ]
    .concat()
}
