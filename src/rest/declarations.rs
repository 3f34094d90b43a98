//! Checks of operation declarations that the framework does not make. An invalid declaration is a bug in this
//! program, so it stops the server at startup.

use std::collections::HashSet;

use poem_openapi::{
    OpenApi,
    registry::{MetaOperation, MetaOperationParam, MetaParamIn, MetaSchemaRef},
};

use super::{path_params, schema_marks::PARAMS_MARK};

/// Panics if any declaration of these APIs is invalid, with a list of everything that is wrong, or if the
/// framework does not treat declared paths as expected.
pub fn check_declarations<A: OpenApi>(_: &A) {
    path_params::check();
    let declaration_errors = declaration_errors::<A>();
    assert!(
        declaration_errors.is_empty(),
        "invalid operation declarations:\n{}",
        declaration_errors.join("\n")
    );
}

/// Returns a sentence for everything that is wrong with the declarations.
fn declaration_errors<A: OpenApi>() -> Vec<String> {
    let (mut declaration_errors, mut operation_ids, mut routes) =
        (Vec::new(), HashSet::new(), HashSet::new());
    for path in A::meta().into_iter().flat_map(|api| api.paths) {
        for operation in &path.operations {
            let name = format!("{} {}", operation.method, path.path);
            declaration_errors.extend(
                operation_errors(&path.path, operation).into_iter().map(|error| format!("{name}: {error}")),
            );
            if let Some(id) = operation.operation_id.filter(|id| !operation_ids.insert(*id)) {
                declaration_errors.push(format!("{name}: its operation ID {id} is already in use"));
            }
            let route = path_params::framework_path(&path.path);
            if !routes.insert((operation.method.clone(), route)) {
                declaration_errors
                    .push(format!("{name}: is declared twice, and only one declaration would be served"));
            }
        }
    }
    declaration_errors
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
            in_query.len() == 1 && in_query.iter().all(|parameter| is_params_struct(parameter)),
            "does not take `Params` exactly once, so unknown parameters would pass; take `Params<NoParams>`",
        ),
    ];
    checks.into_iter().filter(|(holds, _)| !holds).map(|(_, message)| message).collect()
}

fn is_params_struct(parameter: &MetaOperationParam) -> bool {
    matches!(&parameter.schema, MetaSchemaRef::Inline(schema) if schema.title.as_deref() == Some(PARAMS_MARK))
}

#[cfg(test)]
mod tests {
    use poem_openapi::{
        Tags,
        param::{Path, Query},
    };
    use uuid::Uuid;

    use super::*;
    use crate::rest::params::{NoParams, Params};

    #[derive(Tags)]
    enum Tag {
        Things,
    }

    struct ValidApi;

    #[OpenApi(tag = "Tag::Things")]
    #[expect(clippy::unused_async)]
    impl ValidApi {
        /// A part
        #[oai(path = "/a/:a_id/b/:b_id", method = "get", operation_id = "get_part")]
        async fn part(&self, a_id: Path<Uuid>, b_id: Path<Uuid>, _query: Params<NoParams>) {
            let _ = (a_id, b_id);
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

        /// Again
        #[oai(path = "/a/:x/b/:y", method = "get", operation_id = "get_part", tag = "Tag::Things")]
        async fn duplicate(&self, x: Path<Uuid>, y: Path<Uuid>, _query: Params<NoParams>) {
            let _ = (x, y);
        }
    }

    #[test]
    fn invalid_declarations_are_reported() {
        check_declarations(&ValidApi);
        let declaration_errors = declaration_errors::<(ValidApi, InvalidApi)>().join("\n");
        for error in [
            "PUT /a/{a_id}/b/{b_id}: has no operation ID",
            "PUT /a/{a_id}/b/{b_id}: has no summary",
            "PUT /a/{a_id}/b/{b_id}: has no tag",
            "PUT /a/{a_id}/b/{b_id}: its arguments are not in the order",
            "PUT /a/{a_id}/b/{b_id}: does not take `Params` exactly once",
            "GET /a/{x}/b/{y}: its operation ID get_part is already in use",
            "GET /a/{x}/b/{y}: is declared twice",
        ] {
            assert!(declaration_errors.contains(error), "{error} is not in\n{declaration_errors}");
        }
        assert_eq!(declaration_errors.lines().count(), 7, "{declaration_errors}");
    }
}
