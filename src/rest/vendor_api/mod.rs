//! Routes of the vendor API only.

mod asset_matches;
mod asset_queries;
mod assets;
mod checked_runs;
mod codebases;
mod data_assets;
mod estimations;
mod groups;
mod languages;
mod opportunities;
mod own_listings;
mod qc_refreshes;
mod quality;
mod quality_runs;
mod raw_data;
mod sales;
mod structures;
mod tasks;
mod uploads;

use poem_openapi::OpenApi;

/// All routes of the vendor API only, in the order of the document.
pub fn apis() -> impl OpenApi {
    (
        own_listings::ListingsApi,
        quality::QualityApi,
        sales::SalesApi,
        opportunities::OpportunitiesApi,
        estimations::EstimationsApi,
        assets::AssetsApi,
        codebases::CodebasesApi,
        languages::LanguagesApi,
        raw_data::RawDataApi,
        structures::StructuresApi,
        quality_runs::QualityRunsApi,
        tasks::TasksApi,
        qc_refreshes::QcRefreshesApi,
        groups::GroupsApi,
        uploads::UploadsApi,
    )
}
