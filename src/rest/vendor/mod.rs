//! Routes of vendors alone.

mod assets;
mod codebases;
mod collections;
mod groups;
mod languages;
mod listings;
mod qc_refreshes;
mod raw_data;
mod tasks;

use poem_openapi::OpenApi;

/// Every route of vendors, in the order of the document.
pub fn apis() -> impl OpenApi {
    (
        listings::ListingsApi,
        assets::AssetsApi,
        codebases::CodebasesApi,
        languages::LanguagesApi,
        raw_data::RawDataApi,
        tasks::TasksApi,
        qc_refreshes::QcRefreshesApi,
        groups::GroupsApi,
    )
}
