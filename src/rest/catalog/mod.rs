//! Routes of both APIs: the catalog, the taxonomy, the wallet and the notifications.

pub mod browse;
mod browse_access;
pub mod browse_query;
pub mod listing_quality;
mod notifications;
pub mod tasksets;
pub mod taxonomy;
mod wallet;

use poem_openapi::OpenApi;

use super::route::DeclaredRoute;

/// All shared routes, in the order of the documents.
pub fn apis() -> impl OpenApi {
    (
        browse::BrowseApi,
        browse_access::BrowseAccessApi,
        listing_quality::ListingQualityApi,
        tasksets::TasksetsApi,
        taxonomy::TaxonomyApi,
        wallet::WalletApi,
        notifications::NotificationsApi,
    )
}

/// The routes, in the order in which agents see their tools.
pub fn routes() -> Vec<DeclaredRoute> {
    [
        &browse::ROUTES[..],
        &browse_access::ROUTES[..],
        &listing_quality::ROUTES[..],
        &tasksets::ROUTES[..],
        &taxonomy::ROUTES[..],
        &wallet::ROUTES[..],
        &notifications::ROUTES[..],
    ]
    .concat()
}
