//! Builds the route table from the declared operations.
//!
//! The framework's own route table has three defects: it responds 405 without an `Allow` header, it names
//! path parameters by position in its errors, and it parses the query before authentication.

use std::{collections::HashMap, sync::Arc};

use futures_util::TryFutureExt;
use poem::{
    Endpoint, EndpointExt, PathPattern, Request, Response, Route,
    endpoint::{BoxEndpoint, make},
    http::Method,
};
use poem_openapi::{
    error::ParsePathError,
    registry::{MetaOperation, MetaOperationParam, MetaParamIn, MetaSchemaRef},
};

use super::{
    api::RouteGroup,
    route::{DeclaredRoute, RoutedRequest},
};
use crate::{
    error::{Error, Problem, Result},
    rest::arguments::request_body::TakesNoBody,
    web::{path_params, problem::ApiError, request_id},
};

/// Builds the routes for all operations of the given groups.
pub fn build_routes(groups: &[&RouteGroup]) -> Route {
    let mut documented: HashMap<String, Documented> = HashMap::new();
    for group in groups {
        let routes = (group.routes)();
        for path in (group.declarations)().into_iter().flat_map(|api| api.paths) {
            // The operations of a path are in several declarations if their APIs are.
            let entry = documented.entry(path_params::framework_path(&path.path)).or_default();
            for operation in &path.operations {
                entry.parameters = Parameter::from_operation(&operation.params);
                entry.operations.push((operation.method.clone(), Operation::new(operation, &routes)));
            }
            entry.path = path.path;
        }
    }
    let mut resources = HashMap::new();
    for group in groups {
        (group.add_endpoints)(&mut resources);
    }
    resources.into_iter().fold(Route::new(), |route, (path, methods)| {
        let documented = documented.remove(&path).expect("each route is documented");
        route.at(path, Resource::new(methods, documented))
    })
}

/// Wraps an undocumented endpoint that accepts only GET (and HEAD).
pub fn get_only(endpoint: impl Endpoint<Output = Response> + 'static) -> impl Endpoint<Output = Response> {
    only(Method::GET, endpoint)
}

/// Returns an undocumented endpoint that accepts only this method (and HEAD with GET). The function responds.
pub fn answered_by<Answer>(
    method: Method,
    answer: impl Fn(Request) -> Answer + Send + Sync + 'static,
) -> impl Endpoint<Output = Response>
where
    Answer: Future<Output = Result<Response>> + Send + 'static,
{
    only(method, make(move |request| answer(request).map_err(ApiError)))
}

fn only(method: Method, endpoint: impl Endpoint<Output = Response> + 'static) -> Resource {
    Resource::new([(method, endpoint.boxed())], Documented::default())
}

/// What the declarations of a path say; empty if it is not documented.
#[derive(Default)]
struct Documented {
    path: String,
    parameters: Vec<Parameter>,
    operations: Vec<(Method, Operation)>,
}

/// What the operation of a method says about its requests; nothing if it is not documented.
#[derive(Clone, Copy, Default)]
struct Operation {
    routed: Option<RoutedRequest>,
    has_body: bool,
}

impl Operation {
    /// Finds the route of an operation by its ID, which is unique among the routes of a group.
    fn new(operation: &MetaOperation, routes: &[DeclaredRoute]) -> Operation {
        let count =
            |location| operation.params.iter().filter(|parameter| parameter.in_type == location).count();
        let route = routes.iter().find(|route| Some(route.operation) == operation.operation_id);
        let routed = route.map(|route| RoutedRequest {
            route: *route,
            path_parameters: count(MetaParamIn::Path),
            has_query: count(MetaParamIn::Query) > 0,
        });
        Operation { routed, has_body: operation.request.is_some() }
    }
}

/// A path parameter, with what is needed to report an invalid value.
struct Parameter {
    name: String,
    is_uuid: bool,
}

impl Parameter {
    fn from_operation(parameters: &[MetaOperationParam]) -> Vec<Parameter> {
        let in_path = parameters.iter().filter(|parameter| parameter.in_type == MetaParamIn::Path);
        let parameter = |parameter: &MetaOperationParam| Parameter {
            name: parameter.name.clone(),
            is_uuid: matches!(&parameter.schema, MetaSchemaRef::Inline(schema) if schema.format == Some("uuid")),
        };
        in_path.map(parameter).collect()
    }

    fn problem(&self) -> Problem {
        let name = &self.name;
        if self.is_uuid {
            Problem::path(name, "uuid_parsing", format!("`{name}` in the path must be a UUID."))
        } else {
            Problem::path(
                name,
                "value_error",
                format!("`{name}` in the path does not have the documented format."),
            )
        }
    }
}

/// The endpoints of one path, by method.
struct Resource {
    methods: Vec<(Method, Operation, BoxEndpoint<'static, Response>)>,
    allowed: Vec<String>,
    parameters: Vec<Parameter>,
    /// The documented path, for the log; `None` if the endpoint is not documented.
    route: Option<Arc<str>>,
}

impl Resource {
    fn new(
        methods: impl IntoIterator<Item = (Method, BoxEndpoint<'static, Response>)>,
        documented: Documented,
    ) -> Resource {
        let Documented { path, parameters, operations } = documented;
        let with_operation = |(method, endpoint)| {
            let found = operations.iter().find(|(declared, _)| *declared == method);
            (method, found.map(|(_, operation)| *operation).unwrap_or_default(), endpoint)
        };
        let methods: Vec<_> = methods.into_iter().map(with_operation).collect();
        let mut allowed: Vec<String> = methods.iter().map(|(method, ..)| method.to_string()).collect();
        if allowed.iter().any(|method| method == "GET") {
            allowed.push("HEAD".to_owned());
        }
        allowed.sort();
        let route = (!path.is_empty()).then(|| path.into());
        Resource { methods, allowed, parameters, route }
    }

    /// Replaces the framework's error for an invalid path parameter by a problem that has the documented
    /// name.
    fn name_parameter(&self, error: poem::Error) -> poem::Error {
        let position = error.downcast_ref::<ParsePathError>().and_then(path_params::position);
        match position.and_then(|position| self.parameters.get(position)) {
            Some(parameter) => ApiError(Error::invalid(parameter.problem())).into(),
            None => error,
        }
    }
}

impl Endpoint for Resource {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let pattern = || request.data::<PathPattern>().map(|pattern| Arc::clone(&pattern.0));
        if let Some(route) = self.route.clone().or_else(pattern) {
            request_id::set_route(&request, route);
        }
        match self.methods.iter().find(|(method, ..)| method == request.method()) {
            Some((_, operation, endpoint)) => {
                if self.route.is_some() && !operation.has_body {
                    request.set_data(TakesNoBody);
                }
                if let Some(routed) = operation.routed {
                    request.set_data(routed);
                }
                endpoint.call(request).await.map_err(|error| self.name_parameter(error))
            }
            None => Err(ApiError(Error::MethodNotAllowed(self.allowed.clone())).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use poem::{http::StatusCode, test::TestClient};
    use poem_openapi::{OpenApi, param::Path};
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::{
        http_server::head,
        rest::json::{Json, JsonResult},
        web::error_layer,
    };

    struct Things;

    #[OpenApi(prefix_path = "/v2")]
    #[expect(clippy::unused_async)]
    impl Things {
        #[oai(path = "/things/:thing_id/parts/:number", method = "get")]
        async fn part(&self, thing_id: Path<Uuid>, number: Path<u8>) -> JsonResult<String> {
            Ok(Json::from_small(&format!("{} {}", thing_id.0, number.0)))
        }

        #[oai(path = "/things/:thing_id", method = "delete")]
        async fn remove(&self, thing_id: Path<Uuid>) -> JsonResult<String> {
            Ok(Json::from_small(&thing_id.0.to_string()))
        }

        #[oai(path = "/things/:thing_id", method = "get")]
        async fn thing(&self, thing_id: Path<Uuid>) -> JsonResult<String> {
            Ok(Json::from_small(&thing_id.0.to_string()))
        }

        #[oai(path = "/things/mine", method = "post")]
        async fn mine(&self) -> JsonResult<String> {
            Ok(Json::from_small(&"mine".to_owned()))
        }
    }

    static THINGS: RouteGroup = RouteGroup {
        routes: Vec::new,
        declarations: Things::meta,
        add_endpoints: |endpoints| Things.add_routes(endpoints),
    };

    async fn send(method: Method, path: &str) -> (StatusCode, Option<String>, Value) {
        let client = TestClient::new(build_routes(&[&THINGS]).around(error_layer::layer).around(head::layer));
        let response = client.request(method, path).send().await;
        let allow = response.0.headers().get("allow").map(|allow| allow.to_str().unwrap().to_owned());
        let status = response.0.status();
        let bytes = response.0.into_body().into_vec().await.unwrap();
        (status, allow, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    const ID: &str = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";

    #[tokio::test]
    async fn invalid_path_parameter_is_reported_by_name() {
        for (path, name, kind) in [
            ("/v2/things/7/parts/7".to_owned(), "thing_id", "uuid_parsing"),
            (format!("/v2/things/{ID}/parts/x"), "number", "value_error"),
            (format!("/v2/things/{ID}/parts/256"), "number", "value_error"),
            ("/v2/things/%ff/parts/%zz".to_owned(), "thing_id", "uuid_parsing"),
        ] {
            let (status, _, body) = send(Method::GET, &path).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{path}");
            assert_eq!(body["detail"][0]["loc"], json!(["path", name]));
            assert_eq!(body["detail"][0]["type"], kind);
        }
        assert_eq!(send(Method::GET, &format!("/v2/things/{ID}/parts/7")).await.2, format!("{ID} 7"));
    }

    #[tokio::test]
    async fn wrong_method_is_rejected_with_allow_header() {
        for (method, path, allowed) in [
            (Method::POST, format!("/v2/things/{ID}"), "DELETE, GET, HEAD"),
            (Method::OPTIONS, format!("/v2/things/{ID}/parts/1"), "GET, HEAD"),
            (Method::DELETE, "/v2/things/mine".to_owned(), "POST"),
            (Method::from_bytes(b"BREW").unwrap(), "/v2/things/mine".to_owned(), "POST"),
            (Method::HEAD, "/v2/things/mine".to_owned(), "POST"),
        ] {
            let (status, allow, _) = send(method, &path).await;
            assert_eq!((status, allow.as_deref()), (StatusCode::METHOD_NOT_ALLOWED, Some(allowed)), "{path}");
        }
        assert_eq!(send(Method::HEAD, &format!("/v2/things/{ID}")).await.0, StatusCode::OK);
        for path in ["/", "/v2", "/v2/things", "/v2/things/mine/", "/v3/things/mine", "//v2/things/mine"] {
            assert_eq!(send(Method::POST, path).await.0, StatusCode::NOT_FOUND, "{path}");
        }
    }
}
