//! Routes of buyers alone.

mod deals;
mod opportunities;

use poem_openapi::OpenApi;

/// Every route of buyers, in the order of the document.
pub fn apis() -> impl OpenApi {
    (deals::DealsApi, opportunities::OpportunitiesApi)
}
