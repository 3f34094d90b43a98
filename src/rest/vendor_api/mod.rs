//! Routes of the vendor API only.

mod asset_matches;
pub mod asset_queries;
pub mod assets;
mod codebases;
mod data_assets;
mod data_structures;
mod earnings;
mod estimations;
mod groups;
mod listing_assets;
mod listing_quality;
pub mod listings;
pub mod opportunities;
mod quality_reports;
mod quality_runs;
mod raw_data;
mod sales;
mod task_quality_refreshes;
mod tasks;
pub mod taxonomy;
mod uploads;

use poem_openapi::OpenApi;

use super::route::DeclaredRoute;

/// All routes of the vendor API only, in the order of the document.
pub fn apis() -> impl OpenApi {
    (
        (listings::ListingsApi, listing_assets::ListingAssetsApi),
        (listing_quality::ListingQualityApi, quality_reports::QualityReportsApi),
        sales::SalesApi,
        earnings::EarningsApi,
        opportunities::OpportunitiesApi,
        estimations::EstimationsApi,
        assets::AssetsApi,
        codebases::CodebasesApi,
        taxonomy::TaxonomyApi,
        raw_data::RawDataApi,
        data_structures::DataStructuresApi,
        quality_runs::QualityRunsApi,
        tasks::TasksApi,
        task_quality_refreshes::TaskQualityRefreshesApi,
        groups::GroupsApi,
        uploads::UploadsApi,
    )
}

/// The routes, in the order in which agents see their tools.
pub fn routes() -> Vec<DeclaredRoute> {
    [
        &listings::ROUTES[..],
        &listing_assets::ROUTES[..],
        &listing_quality::ROUTES[..],
        &quality_reports::ROUTES[..],
        &sales::ROUTES[..],
        &opportunities::ROUTES[..],
        &assets::ROUTES[..],
        &codebases::ROUTES[..],
        &taxonomy::ROUTES[..],
        &data_structures::ROUTES[..],
        &raw_data::ROUTES[..],
        &quality_runs::ROUTES[..],
        &tasks::ROUTES[..],
        &task_quality_refreshes::ROUTES[..],
        &groups::ROUTES[..],
        &uploads::ROUTES[..],
        &estimations::ROUTES[..],
        &earnings::ROUTES[..],
    ]
    .concat()
}
