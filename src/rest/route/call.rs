//! The first argument of each handler: the caller's access, and the state that all handlers share.

use std::{marker::PhantomData, sync::Arc};

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
};

use super::attributes::{Deadline, Route};
use crate::{
    error::Error,
    market::Market,
    rest::{
        app::App,
        auth::{self, Policy},
        capacity::Slot,
        limits::RequestLimits,
        params,
        problem::ApiError,
        schema_marks::ROUTE_MARK,
    },
};

/// A call of a route by a caller that has the required access.
///
/// Arguments are extracted in order, so a caller without access learns nothing about parameters or resources. If
/// the route has neither path nor query parameters, the query is checked to be empty.
pub struct Call<R: Route> {
    /// The state that all handlers share.
    pub app: Arc<App>,
    /// The proof of access.
    pub access: R::Access,
    route: PhantomData<fn() -> R>,
}

impl<R: Route> Call<R> {
    /// Returns the market that the handlers operate on.
    pub fn market(&self) -> &Market {
        self.app.market()
    }
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
        let app =
            request.data::<Arc<App>>().ok_or_else(|| ApiError(Error::internal("no app in the request")))?;
        RequestLimits::set_budget(request, R::ATTRIBUTES.budget);
        if R::ATTRIBUTES.deadline == Deadline::None {
            Slot::remove_deadline(request);
        }
        let authenticated = auth::identify(app, request).await.map_err(ApiError)?;
        let access = R::Access::admit(app, authenticated, request).await.map_err(ApiError)?;
        if request.data::<NoQuery>().is_some_and(|query| query.path_parameters == 0) {
            params::reject_query(request, body).await?;
        }
        Ok(Call { app: Arc::clone(app), access, route: PhantomData })
    }
}
