//! Routes of the buyer API only.

mod deals;
mod opportunities;

use poem_openapi::OpenApi;

/// All routes of the buyer API only, in the order of the document.
pub fn apis() -> impl OpenApi {
    (deals::DealsApi, opportunities::OpportunitiesApi)
}
