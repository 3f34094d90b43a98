//! Routes that both sides share: the catalog, the taxonomy, and a team's wallet and messages.

mod access;
mod browse;
mod browse_query;
mod front_pages;
mod notifications;
mod quality;
mod tasksets;
mod taxonomy;
mod wallet;

use poem_openapi::OpenApi;

pub use front_pages::FrontPages;

/// Every shared route, in the order of the documents.
pub fn apis() -> impl OpenApi {
    (
        browse::BrowseApi,
        access::AccessApi,
        quality::QualityApi,
        tasksets::TasksetsApi,
        taxonomy::TaxonomyApi,
        wallet::WalletApi,
        notifications::NotificationsApi,
    )
}
