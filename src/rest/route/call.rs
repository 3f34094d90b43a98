//! The first argument of each handler: the caller's access, and the state that all handlers share.

use std::sync::Arc;

use poem::{Request, RequestBody};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions, registry::Registry};

use super::attributes::{Deadline, DeclaredRoute};
use crate::{
    error::Error,
    operations::maintenance,
    rest::arguments::params,
    web::{
        auth::{self, Policy, required_access::RequiredAccess},
        limits::RequestLimits,
        problem::ApiError,
        served_market::ServedMarket,
        shares::capacity::Slot,
    },
};

/// A call of a route by a caller that has the required access. `A` is the proof of it.
///
/// Arguments are extracted in order, so a caller without access learns nothing about parameters or resources.
/// If the route has neither path nor query parameters, the query is checked to be empty.
pub struct Call<A> {
    /// The market that is served.
    pub served: Arc<ServedMarket>,
    /// The proof of access.
    pub access: A,
    /// The route.
    pub route: DeclaredRoute,
}

/// The first argument of a handler, which cannot be extracted without the required access.
#[diagnostic::on_unimplemented(message = "the first argument of a handler is its `Call`")]
pub trait ProvesAccess {
    /// The access that the caller needs.
    const REQUIRED: RequiredAccess;
}

impl<A: Policy> ProvesAccess for Call<A> {
    const REQUIRED: RequiredAccess = A::REQUIRED;
}

/// What the router says about a request.
#[derive(Clone, Copy, Debug)]
pub struct RoutedRequest {
    /// The route.
    pub route: DeclaredRoute,
    /// Number of path parameters, which are checked before the query.
    pub path_parameters: usize,
    /// Whether the route has query parameters.
    pub has_query: bool,
}

impl RoutedRequest {
    /// Rejects any query of a route without query parameters, if `parameters` is the number of its path parameters.
    pub async fn reject_query_after(
        request: &Request,
        body: &mut RequestBody,
        parameters: usize,
    ) -> poem::Result<()> {
        let routed = request.data::<RoutedRequest>();
        if routed.is_some_and(|routed| !routed.has_query && routed.path_parameters == parameters) {
            params::reject_query(request, body).await?;
        }
        Ok(())
    }
}

impl<'a, A: Policy> ApiExtractor<'a> for Call<A> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        auth::register_schemes(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        auth::SCHEMES.to_vec()
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let served = ServedMarket::shared(request).map_err(ApiError)?;
        let routed = request.data::<RoutedRequest>();
        let route = routed.ok_or_else(|| ApiError(Error::internal("the router sets the route")))?.route;
        RequestLimits::set_budget(request, route.budget);
        if route.deadline == Deadline::None {
            Slot::remove_deadline(request);
        }
        let authenticated = A::identify(&served, request).await.map_err(ApiError)?;
        let changing = route.is_change().then(|| authenticated.clone());
        let access = A::admit(&served, authenticated, request).await.map_err(ApiError)?;
        if let Some(authenticated) = changing {
            Slot::move_to_changes(request).await.map_err(ApiError)?;
            maintenance::admit_change(served.market(), &authenticated).await.map_err(ApiError)?;
        }
        RoutedRequest::reject_query_after(request, body, 0).await?;
        Ok(Call { served, access, route })
    }
}
