//! Routes of the buyer API only.

pub mod offers;
mod opportunities;
pub mod purchases;

/// The handlers of all routes of the buyer API only.
pub type Apis = (purchases::PurchasesApi, offers::OffersApi, opportunities::OpportunitiesApi);
