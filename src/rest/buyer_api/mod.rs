//! Routes of the buyer API only.

mod offers;
mod opportunities;
mod purchases;

use poem_openapi::OpenApi;

/// All routes of the buyer API only, in the order of the document.
pub fn apis() -> impl OpenApi {
    (purchases::PurchasesApi, offers::OffersApi, opportunities::OpportunitiesApi)
}
