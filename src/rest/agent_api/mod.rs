//! Operations that only agents call: related data in one call, and sums that the server computes. They are in no
//! document, and nothing serves them over HTTP.

mod aggregates;
mod assets;
mod deals;
mod evidence;
mod filters;
mod listings;
mod money;
mod own_listings;
mod quality;
mod rows;
mod task_preview;
mod taxonomy;

use poem_openapi::OpenApi;

use super::route::DeclaredRoute;

/// All operations.
pub fn apis() -> impl OpenApi {
    (
        listings::ListingsApi,
        quality::QualityApi,
        aggregates::apis(),
        deals::DealsApi,
        money::MoneyApi,
        own_listings::OwnListingsApi,
        assets::AssetsApi,
        evidence::EvidenceApi,
        task_preview::TaskPreviewApi,
        taxonomy::TaxonomyApi,
    )
}

/// The routes, in the order in which agents see their tools.
pub fn routes() -> Vec<DeclaredRoute> {
    [
        &listings::ROUTES[..],
        &quality::ROUTES[..],
        &aggregates::routes(),
        &deals::ROUTES[..],
        &money::ROUTES[..],
        &own_listings::ROUTES[..],
        &assets::ROUTES[..],
        &evidence::ROUTES[..],
        &task_preview::ROUTES[..],
        &taxonomy::ROUTES[..],
    ]
    .concat()
}
