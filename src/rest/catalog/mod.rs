//! Routes of both APIs: the catalog, the taxonomy, the wallet and the notifications.

pub mod browse;
mod browse_access;
pub mod browse_query;
pub mod listing_quality;
mod notifications;
pub mod tasksets;
pub mod taxonomy;
mod wallet;

/// The handlers of all shared routes.
pub type Apis = (
    browse::BrowseApi,
    browse_access::BrowseAccessApi,
    listing_quality::ListingQualityApi,
    tasksets::TasksetsApi,
    taxonomy::TaxonomyApi,
    wallet::WalletApi,
    notifications::NotificationsApi,
);
