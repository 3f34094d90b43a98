//! Routes of the buyer API only.

pub mod offers;
mod opportunities;
pub mod purchases;

use poem_openapi::OpenApi;

use super::route::DeclaredRoute;

/// All routes of the buyer API only, in the order of the document.
pub fn apis() -> impl OpenApi {
    (purchases::PurchasesApi, offers::OffersApi, opportunities::OpportunitiesApi)
}

/// The routes, in the order in which agents see their tools.
pub fn routes() -> Vec<DeclaredRoute> {
    [&purchases::ROUTES[..], &offers::ROUTES[..], &opportunities::ROUTES[..]].concat()
}
