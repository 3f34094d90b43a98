//! Routes of the buyer API only.

mod opportunities;
mod purchases_and_offers;

use poem_openapi::OpenApi;

/// All routes of the buyer API only, in the order of the document.
pub fn apis() -> impl OpenApi {
    (purchases_and_offers::PurchasesAndOffersApi, opportunities::OpportunitiesApi)
}
