//! The first argument of each handler: the caller's access, and the state that all handlers share.

use std::{marker::PhantomData, sync::Arc};

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
};

use super::attributes::{Deadline, Route, RouteAttributes};
use crate::rest::{
    auth::{self, Policy},
    capacity::Slot,
    limits::RequestLimits,
    params,
    problem::ApiError,
    schema_marks::ROUTE_MARK,
    served_market::ServedMarket,
};

/// A call of a route by a caller that has the required access.
///
/// Arguments are extracted in order, so a caller without access learns nothing about parameters or resources.
/// If the route has neither path nor query parameters, the query is checked to be empty.
pub struct Call<R: Route> {
    /// The market that is served.
    pub served: Arc<ServedMarket>,
    /// The proof of access.
    pub access: R::Access,
    route: PhantomData<fn() -> R>,
}

/// Marks a request to a route without query parameters: any in the query is an error.
#[derive(Clone, Copy, Debug)]
pub struct NoQuery {
    /// Number of path parameters, which are checked before the query.
    pub path_parameters: usize,
}

impl<'a, R: Route> ApiExtractor<'a> for Call<R> {
    const TYPES: &'static [ApiExtractorType] =
        &[ApiExtractorType::SecurityScheme, ApiExtractorType::Parameter];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        auth::register_schemes(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        auth::SCHEMES.to_vec()
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    /// Returns no schema of a parameter but a mark, from which the attributes of the operation are found.
    fn param_schema_ref() -> Option<MetaSchemaRef> {
        let mark = MetaSchema {
            title: Some(ROUTE_MARK.to_owned()),
            description: Some(R::ATTRIBUTES.operation),
            ..MetaSchema::ANY
        };
        Some(MetaSchemaRef::Inline(Box::new(mark)))
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let (served, access) = admit(request, body, &R::ATTRIBUTES).await?;
        Ok(Call { served, access, route: PhantomData })
    }
}

/// Checks the caller's access, as every route that requires this proof does.
async fn admit<A: Policy>(
    request: &Request,
    body: &mut RequestBody,
    attributes: &'static RouteAttributes,
) -> poem::Result<(Arc<ServedMarket>, A)> {
    let served = ServedMarket::shared(request).map_err(ApiError)?;
    RequestLimits::set_budget(request, attributes.budget);
    if attributes.deadline == Deadline::None {
        Slot::remove_deadline(request);
    }
    let authenticated = A::identify(&served, request).await.map_err(ApiError)?;
    let access = A::admit(&served, authenticated, request).await.map_err(ApiError)?;
    if request.data::<NoQuery>().is_some_and(|query| query.path_parameters == 0) {
        params::reject_query(request, body).await?;
    }
    Ok((served, access))
}
