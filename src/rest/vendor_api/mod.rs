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

/// The handlers of all routes of the vendor API only.
pub type Apis = (
    (listings::ListingsApi, listing_assets::ListingAssetsApi),
    (listing_quality::ListingQualityApi, quality_reports::QualityReportsApi),
    sales::SalesApi,
    opportunities::OpportunitiesApi,
    (assets::AssetsApi, codebases::CodebasesApi, taxonomy::TaxonomyApi),
    (data_structures::CodebaseStructuresApi, data_structures::RawDataStructuresApi),
    raw_data::RawDataApi,
    (quality_runs::CodebaseQualityRunsApi, quality_runs::RawDataQualityRunsApi),
    (tasks::TasksApi, task_quality_refreshes::TaskQualityRefreshesApi),
    (groups::GroupsApi, uploads::UploadsApi),
    (estimations::EstimationsApi, earnings::EarningsApi),
);
