//! Checks of operation declarations that the framework does not make. An invalid declaration is a bug in this
//! program, so it stops the server at startup.

use std::collections::{BTreeSet, HashSet};

use poem::http::Method;
use poem_openapi::registry::{MetaOperation, MetaOperationParam, MetaParamIn, MetaSchema, MetaSchemaRef};

use super::{
    api::{self, Api, RouteGroup},
    path_params,
    route::{Audience, DeclaredRoute, Repeatability, Tool},
    schema_marks::{IDEMPOTENCY_MARK, PARAMS_MARK, ROUTE_MARK},
};

/// Panics if any declaration of these APIs is invalid, with a list of everything that is wrong, or if the
/// framework does not treat declared paths as expected.
pub fn check_declarations(apis: &[&'static Api]) {
    path_params::check();
    let prefixes: BTreeSet<&str> = apis.iter().map(|api| api.prefix).collect();
    let with_prefix =
        |prefix| apis.iter().copied().filter(|api| api.prefix == prefix).collect::<Vec<&'static Api>>();
    // APIs with different prefixes are separate, so their operations can have the same IDs.
    let mut declaration_errors: Vec<String> = prefixes
        .into_iter()
        .flat_map(|prefix| declaration_errors(&api::groups(&with_prefix(prefix))))
        .collect();
    declaration_errors.extend(apis.iter().flat_map(|api| api_errors(api, apis)));
    assert!(
        declaration_errors.is_empty(),
        "invalid operation declarations:\n{}",
        declaration_errors.join("\n")
    );
}

/// Returns a sentence for everything that is wrong with the declarations.
fn declaration_errors(groups: &[&RouteGroup]) -> Vec<String> {
    let (mut declaration_errors, mut operation_ids, mut paths) = (Vec::new(), HashSet::new(), HashSet::new());
    let routes: Vec<DeclaredRoute> = groups.iter().flat_map(|group| (group.routes)()).collect();
    for path in groups.iter().flat_map(|group| (group.declarations)()).flat_map(|api| api.paths) {
        for operation in &path.operations {
            let name = format!("{} {}", operation.method, path.path);
            let mut errors = operation_errors(&path.path, operation);
            errors.extend(attribute_errors(operation, &routes));
            declaration_errors.extend(errors.into_iter().map(|error| format!("{name}: {error}")));
            if let Some(id) = operation.operation_id.filter(|id| !operation_ids.insert(*id)) {
                declaration_errors.push(format!("{name}: its operation ID {id} is already in use"));
            }
            if !paths.insert((operation.method.clone(), path_params::framework_path(&path.path))) {
                declaration_errors
                    .push(format!("{name}: is declared twice, and only one declaration would be served"));
            }
        }
    }
    let unused = routes.iter().filter(|route| !operation_ids.contains(route.operation));
    declaration_errors
        .extend(unused.map(|route| format!("{}: has attributes but no handler", route.operation)));
    declaration_errors
}

/// Returns a sentence for everything in which an API differs from its row in the table.
fn api_errors(api: &Api, apis: &[&Api]) -> Vec<String> {
    let Api { name, prefix, .. } = api;
    let mut errors = Vec::new();
    for other in apis.iter().filter(|other| !std::ptr::eq(**other, api)) {
        if other.name == *name {
            errors.push(format!("{name}: another API has the same name"));
        }
        if other.prefix == *prefix && (other.keys, other.cors) != (api.keys, api.cors) {
            errors.push(format!("{name}: has other keys or another CORS policy than {}", other.name));
        }
        if other.prefix != *prefix && api::is_below(other.prefix, prefix) {
            errors.push(format!("{name}: its prefix contains that of {}", other.name));
        }
    }
    let declarations = api.groups.iter().flat_map(|group| (group.declarations)());
    for path in declarations.flat_map(|declared| declared.paths) {
        if !api::is_below(&path.path, prefix) {
            errors.push(format!("{name}: {} is not below its prefix {prefix}", path.path));
        }
    }
    for route in api.routes() {
        let operation = route.operation;
        if route.required_access.key_kind() != api.keys {
            errors.push(format!("{name}: {operation} takes another kind of keys"));
        }
        let has_tool = !matches!(route.tool(), Tool::Excluded(_));
        if has_tool && route.required_access.audience() == Audience::Operators {
            errors.push(format!("{name}: {operation} has a tool, but agents act for teams"));
        }
    }
    errors
}

/// Returns what is wrong with the attributes of an operation.
fn attribute_errors(operation: &MetaOperation, routes: &[DeclaredRoute]) -> Vec<&'static str> {
    let declared = operation.params.iter().find_map(|parameter| mark(parameter, ROUTE_MARK));
    let Some(declared) = declared else {
        return vec!["does not take the `Call` of its route"];
    };
    if operation.operation_id != declared.description {
        return vec!["takes the `Call` of another route"];
    }
    let mut listed = routes.iter().filter(|route| Some(route.operation) == operation.operation_id);
    let (Some(route), None) = (listed.next(), listed.next()) else {
        return vec!["its attributes are not listed exactly once"];
    };
    let repeatability = match operation.method {
        Method::GET => Repeatability::Safe,
        Method::POST => Repeatability::OncePerKey,
        _ => Repeatability::Idempotent,
    };
    let has_key = operation.params.iter().any(|parameter| mark(parameter, IDEMPOTENCY_MARK).is_some());
    let checks = [
        (route.repeatability == repeatability, "its attributes are those of another method"),
        (
            has_key == (route.repeatability == Repeatability::OncePerKey),
            "takes an idempotency key although its attributes say otherwise, or the other way round",
        ),
        (
            has_json_body(operation) == route.body_example.is_some(),
            "has an example of a body but takes none, or the other way round",
        ),
    ];
    checks.into_iter().filter(|(holds, _)| !holds).map(|(_, message)| message).collect()
}

/// Whether an operation takes a body of JSON, rather than a file.
fn has_json_body(operation: &MetaOperation) -> bool {
    let mut contents = operation.request.iter().flat_map(|request| &request.content);
    contents.any(|content| content.content_type == "application/json")
}

fn operation_errors(path: &str, operation: &MetaOperation) -> Vec<&'static str> {
    let is_snake_case =
        |id: &str| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let parameters = |location: MetaParamIn| {
        operation.params.iter().filter(move |parameter| parameter.in_type == location)
    };
    let in_path = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let in_query: Vec<_> = parameters(MetaParamIn::Query).collect();
    let checks = [
        (operation.operation_id.is_some_and(is_snake_case), "has no operation ID in snake case"),
        (operation.summary.is_some(), "has no summary"),
        (!operation.tags.is_empty(), "has no tag"),
        (
            in_path.eq(parameters(MetaParamIn::Path).map(|parameter| parameter.name.as_str())),
            "its arguments are not in the order of its path parameters, and they are bound by position",
        ),
        (
            in_query.len() <= 1 && in_query.iter().all(|parameter| is_params_struct(parameter)),
            "takes query parameters other than by one `Params`, so unknown ones would pass",
        ),
    ];
    checks.into_iter().filter(|(holds, _)| !holds).map(|(_, message)| message).collect()
}

/// Whether a parameter is a struct of query parameters.
pub fn is_params_struct(parameter: &MetaOperationParam) -> bool {
    mark(parameter, PARAMS_MARK).is_some()
}

/// Returns the schema of a parameter if it has this mark.
fn mark<'a>(parameter: &'a MetaOperationParam, mark: &str) -> Option<&'a MetaSchema> {
    match &parameter.schema {
        MetaSchemaRef::Inline(schema) => {
            Some(&**schema).filter(|schema| schema.title.as_deref() == Some(mark))
        }
        MetaSchemaRef::Reference(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use poem_openapi::{OpenApi, Tags, param::Query};
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::{
        domain::principals::PrincipalKind,
        operations::access::Vendor,
        rest::{
            cors::CorsPolicy,
            limits::Budget,
            route::{Call, Contract, Path, Route, RouteAttributes, Target, Tool},
        },
    };

    #[derive(Tags)]
    enum Tag {
        Things,
    }

    struct GetPart;

    impl Route for GetPart {
        type Access = Vendor;

        const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
            "get_part",
            Budget::Other,
            Tool::Excluded("this is a test"),
            Contract::new(Target::None),
        );
    }

    struct PutPart;

    impl Route for PutPart {
        type Access = Vendor;

        const ATTRIBUTES: RouteAttributes =
            RouteAttributes::post("put_part", Budget::Other, Some(|| json!({})), Contract::new(Target::None));
    }

    struct ValidApi;

    #[OpenApi(tag = "Tag::Things")]
    #[expect(clippy::unused_async)]
    impl ValidApi {
        /// A part
        #[oai(path = "/a/:a_id/b/:b_id", method = "get", operation_id = "get_part")]
        async fn part(&self, call: Call<GetPart>, a_id: Path<Uuid>, b_id: Path<Uuid>) {
            let _ = (call, a_id, b_id);
        }
    }

    struct InvalidApi;

    #[OpenApi]
    #[expect(clippy::unused_async)]
    impl InvalidApi {
        #[oai(path = "/a/:a_id/b/:b_id", method = "put", operation_id = "putPart")]
        async fn swapped(&self, b_id: Path<Uuid>, a_id: Path<Uuid>, limit: Query<u8>) {
            let _ = (a_id, b_id, limit);
        }

        /// Put a part
        #[oai(path = "/a/:a_id", method = "put", operation_id = "put_part", tag = "Tag::Things")]
        async fn put(&self, call: Call<PutPart>, a_id: Path<Uuid>) {
            let _ = (call, a_id);
        }

        /// Delete a part
        #[oai(path = "/a/:a_id", method = "delete", operation_id = "delete_part", tag = "Tag::Things")]
        async fn delete(&self, call: Call<PutPart>, a_id: Path<Uuid>) {
            let _ = (call, a_id);
        }

        /// Again
        #[oai(path = "/a/:x/b/:y", method = "get", operation_id = "get_part", tag = "Tag::Things")]
        async fn duplicate(&self, call: Call<GetPart>, x: Path<Uuid>, y: Path<Uuid>) {
            let _ = (call, x, y);
        }
    }

    fn group<A: OpenApi + 'static>(routes: fn() -> Vec<DeclaredRoute>) -> RouteGroup {
        RouteGroup { routes, declarations: A::meta, add_endpoints: |_| () }
    }

    #[test]
    fn invalid_declarations_are_reported() {
        let valid = group::<ValidApi>(|| vec![DeclaredRoute::of::<GetPart>()]);
        assert_eq!(declaration_errors(&[&valid]), [""; 0]);
        let invalid =
            group::<InvalidApi>(|| vec![DeclaredRoute::of::<PutPart>(), DeclaredRoute::of::<GetPart>()]);
        let unused = group::<()>(|| vec![DeclaredRoute::of::<PutPart>()]);
        let errors = declaration_errors(&[&valid, &invalid]).join("\n");
        for error in [
            "PUT /a/{a_id}/b/{b_id}: has no operation ID",
            "PUT /a/{a_id}/b/{b_id}: has no summary",
            "PUT /a/{a_id}/b/{b_id}: has no tag",
            "PUT /a/{a_id}/b/{b_id}: its arguments are not in the order",
            "PUT /a/{a_id}/b/{b_id}: takes query parameters other than by one `Params`",
            "PUT /a/{a_id}/b/{b_id}: does not take the `Call` of its route",
            "PUT /a/{a_id}: its attributes are those of another method",
            "PUT /a/{a_id}: takes an idempotency key although",
            "PUT /a/{a_id}: has an example of a body but takes none",
            "DELETE /a/{a_id}: takes the `Call` of another route",
            "GET /a/{a_id}/b/{b_id}: its attributes are not listed exactly once",
            "GET /a/{x}/b/{y}: its operation ID get_part is already in use",
            "GET /a/{x}/b/{y}: is declared twice",
            "GET /a/{x}/b/{y}: its attributes are not listed exactly once",
        ] {
            assert!(errors.contains(error), "{error} is not in\n{errors}");
        }
        assert_eq!(errors.lines().count(), 14, "{errors}");
        assert_eq!(declaration_errors(&[&unused]), ["put_part: has attributes but no handler"]);
    }

    static THINGS: RouteGroup = RouteGroup {
        routes: || vec![DeclaredRoute::of::<GetPart>()],
        declarations: ValidApi::meta,
        add_endpoints: |_| (),
    };

    static GROUPS: [&RouteGroup; 1] = [&THINGS];

    const fn api(name: &'static str, prefix: &'static str, keys: PrincipalKind) -> Api {
        Api {
            name,
            prefix,
            keys,
            cors: CorsPolicy::ConfiguredOrigins,
            title: "",
            version: "",
            purpose: "",
            demo_key: "",
            groups: &GROUPS,
            spec: String::new,
        }
    }

    #[test]
    fn routes_that_differ_from_the_row_of_their_api_are_reported() {
        static VALID: Api = api("things", "/a", PrincipalKind::Team);
        let errors =
            |other: Api| [api_errors(&other, &[&VALID, &other]), api_errors(&VALID, &[&VALID])].concat();
        assert_eq!(errors(api("others", "/a", PrincipalKind::Team)), [""; 0]);
        let path = "/a/{a_id}/b/{b_id}";
        for (other, expected) in [
            (
                api("others", "/b", PrincipalKind::Team),
                vec![format!("others: {path} is not below its prefix /b")],
            ),
            (
                api("others", "/a", PrincipalKind::Operator),
                vec![
                    "others: has other keys or another CORS policy than things".to_owned(),
                    "others: get_part takes another kind of keys".to_owned(),
                ],
            ),
            (
                api("things", "/a", PrincipalKind::Team),
                vec!["things: another API has the same name".to_owned()],
            ),
            (
                api("others", "", PrincipalKind::Team),
                vec!["others: its prefix contains that of things".to_owned()],
            ),
        ] {
            assert_eq!(errors(other), expected);
        }
    }
}
