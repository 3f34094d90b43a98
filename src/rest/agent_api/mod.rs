//! Operations that only agents call: related data in one call, and sums that the server computes. They are in no
//! document, and nothing serves them over HTTP.

mod aggregates;
mod assets;
mod croissant;
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

/// The handlers of all operations.
pub type Apis = (
    listings::ListingsApi,
    quality::QualityApi,
    aggregates::AggregatesApi,
    deals::DealsApi,
    money::MoneyApi,
    own_listings::OwnListingsApi,
    assets::AssetsApi,
    evidence::EvidenceApi,
    task_preview::TaskPreviewApi,
    croissant::CroissantApi,
    taxonomy::TaxonomyApi,
);
