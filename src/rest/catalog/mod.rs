//! Routes of both APIs: the catalog, the taxonomy, the wallet and the notifications.

mod access;
mod browse;
mod browse_query;
mod notifications;
mod quality;
mod tasksets;
mod taxonomy;
mod wallet;

use poem_openapi::OpenApi;

/// All shared routes, in the order of the documents.
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
