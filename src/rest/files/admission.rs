//! Admission of requests that no declaration describes.

use poem::Request;

use crate::{
    error::Result,
    web::{
        auth::Policy,
        limits::{Budget, RequestLimits},
        served_market::ServedMarket,
    },
};

/// Admits the sender of a request, which counts for a budget.
pub async fn admit<A: Policy>(served: &ServedMarket, request: &Request, budget: Budget) -> Result<A> {
    RequestLimits::set_budget(request, budget);
    let authenticated = A::identify(served, request).await?;
    A::admit(served, authenticated, request).await
}
