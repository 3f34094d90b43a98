//! Checks of operation declarations that the framework does not make. An invalid declaration is a bug in this
//! program, so it stops the server at startup.

use std::collections::HashSet;

use poem_openapi::{
    OpenApi,
    registry::{MetaOperation, MetaOperationParam, MetaParamIn, MetaSchemaRef},
};

use super::params::MARK;

/// Panics if any declaration in `apis` is invalid, with a list of everything that is wrong.
pub fn check<A: OpenApi>(_: &A) {
    let faults = faults::<A>();
    assert!(faults.is_empty(), "invalid operation declarations:\n{}", faults.join("\n"));
}

/// Returns a sentence for everything that is wrong with the declarations.
fn faults<A: OpenApi>() -> Vec<String> {
    let (mut faults, mut ids, mut places) = (Vec::new(), HashSet::new(), HashSet::new());
    for path in A::meta().into_iter().flat_map(|api| api.paths) {
        for operation in &path.operations {
            let place = format!("{} {}", operation.method, path.path);
            faults.extend(
                of_operation(&path.path, operation).into_iter().map(|fault| format!("{place}: {fault}")),
            );
            if let Some(id) = operation.operation_id.filter(|id| !ids.insert(*id)) {
                faults.push(format!("{place}: its operation ID {id} is already in use"));
            }
            let route = super::router::numbered(&path.path);
            if !places.insert((operation.method.clone(), route)) {
                faults.push(format!("{place}: is declared twice, and only one declaration would be served"));
            }
        }
    }
    faults
}

fn of_operation(path: &str, operation: &MetaOperation) -> Vec<&'static str> {
    let is_snake =
        |id: &str| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let parameters =
        |place: MetaParamIn| operation.params.iter().filter(move |parameter| parameter.in_type == place);
    let in_path = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let in_query: Vec<_> = parameters(MetaParamIn::Query).collect();
    let checks = [
        (operation.operation_id.is_some_and(is_snake), "has no operation ID in snake case"),
        (operation.summary.is_some(), "has no summary"),
        (!operation.tags.is_empty(), "has no tag"),
        (
            in_path.eq(parameters(MetaParamIn::Path).map(|parameter| parameter.name.as_str())),
            "its arguments are not in the order of its path parameters, and they are bound by position",
        ),
        (
            in_query.len() == 1 && in_query.iter().all(|parameter| is_marked(parameter)),
            "does not take `Params` exactly once, so unknown parameters would pass; take `Params<NoParams>`",
        ),
    ];
    checks.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault).collect()
}

fn is_marked(parameter: &MetaOperationParam) -> bool {
    matches!(&parameter.schema, MetaSchemaRef::Inline(schema) if schema.title.as_deref() == Some(MARK))
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

    struct Sound;

    #[OpenApi(tag = "Tag::Things")]
    #[expect(clippy::unused_async)]
    impl Sound {
        /// A part
        #[oai(path = "/a/:a_id/b/:b_id", method = "get", operation_id = "get_part")]
        async fn part(&self, a_id: Path<Uuid>, b_id: Path<Uuid>, _query: Params<NoParams>) {
            let _ = (a_id, b_id);
        }
    }

    struct Faulty;

    #[OpenApi]
    #[expect(clippy::unused_async)]
    impl Faulty {
        #[oai(path = "/a/:a_id/b/:b_id", method = "put", operation_id = "putPart")]
        async fn swapped(&self, b_id: Path<Uuid>, a_id: Path<Uuid>, limit: Query<u8>) {
            let _ = (a_id, b_id, limit);
        }

        /// Again
        #[oai(path = "/a/:x/b/:y", method = "get", operation_id = "get_part", tag = "Tag::Things")]
        async fn again(&self, x: Path<Uuid>, y: Path<Uuid>, _query: Params<NoParams>) {
            let _ = (x, y);
        }
    }

    #[test]
    fn what_the_framework_lets_pass_is_found() {
        check(&Sound);
        let faults = faults::<(Sound, Faulty)>().join("\n");
        for fault in [
            "PUT /a/{a_id}/b/{b_id}: has no operation ID",
            "PUT /a/{a_id}/b/{b_id}: has no summary",
            "PUT /a/{a_id}/b/{b_id}: has no tag",
            "PUT /a/{a_id}/b/{b_id}: its arguments are not in the order",
            "PUT /a/{a_id}/b/{b_id}: does not take `Params` exactly once",
            "GET /a/{x}/b/{y}: its operation ID get_part is already in use",
            "GET /a/{x}/b/{y}: is declared twice",
        ] {
            assert!(faults.contains(fault), "{fault} is not in\n{faults}");
        }
        assert_eq!(faults.lines().count(), 7, "{faults}");
    }
}
