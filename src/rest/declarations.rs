//! Checks of declarations that neither the framework nor the attribute of handlers makes, since it sees one block of them. An
//! invalid declaration is a bug in this program, so it stops the server at startup.

use std::collections::{BTreeSet, HashSet};

use super::{
    api::{self, Api, RouteGroup},
    route::{Audience, Tool},
};
use crate::web::path_params;

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
        .flat_map(|prefix| duplicate_errors(&api::groups(&with_prefix(prefix))))
        .collect();
    declaration_errors.extend(apis.iter().flat_map(|api| api_errors(api, apis)));
    assert!(
        declaration_errors.is_empty(),
        "invalid operation declarations:\n{}",
        declaration_errors.join("\n")
    );
}

/// Returns a sentence for every declaration that another one repeats.
fn duplicate_errors(groups: &[&RouteGroup]) -> Vec<String> {
    let (mut errors, mut operation_ids, mut paths) = (Vec::new(), HashSet::new(), HashSet::new());
    for path in groups.iter().flat_map(|group| (group.declarations)()).flat_map(|api| api.paths) {
        for operation in &path.operations {
            let name = format!("{} {}", operation.method, path.path);
            if let Some(id) = operation.operation_id.filter(|id| !operation_ids.insert(*id)) {
                errors.push(format!("{name}: its operation ID {id} is already in use"));
            }
            if !paths.insert((operation.method.clone(), path_params::framework_path(&path.path))) {
                errors.push(format!("{name}: is declared twice, and only one declaration would be served"));
            }
        }
    }
    errors
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
        let has_tool = matches!(route.tool(), Some(Tool::Own { .. } | Tool::Choice { .. }));
        if has_tool && route.required_access.audience() == Audience::Operators {
            errors.push(format!("{name}: {operation} has a tool, but agents act for teams"));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        domain::principals::PrincipalKind,
        operations::access::Vendor,
        rest::route::{Call, Contract, Path, RouteAttributes, Target, routes},
        web::cors::CorsPolicy,
    };

    const READ: RouteAttributes =
        RouteAttributes::read(Tool::Excluded("this is a test"), Contract::new(Target::None));

    #[routes(prefix = "/a", tag = Catalog)]
    #[expect(clippy::unused_async)]
    impl ValidApi {
        /// A part
        #[get("/{a_id}/b/{b_id}", READ)]
        async fn get_part(call: Call<Vendor>, a_id: Path<Uuid>, b_id: Path<Uuid>) {
            let _ = (call, a_id, b_id);
        }
    }

    #[routes(prefix = "/a", tag = Catalog)]
    #[expect(clippy::unused_async)]
    impl RepeatingApi {
        /// The same operation ID
        #[get("/parts", READ)]
        async fn get_part(call: Call<Vendor>) {
            let _ = call;
        }

        /// The same path
        #[get("/{x_id}/b/{y_id}", READ)]
        async fn get_again(call: Call<Vendor>, x_id: Path<Uuid>, y_id: Path<Uuid>) {
            let _ = (call, x_id, y_id);
        }
    }

    static THINGS: RouteGroup = RouteGroup::of::<ValidApi>();

    #[test]
    fn duplicates_are_reported() {
        assert_eq!(duplicate_errors(&[&THINGS]), [""; 0]);
        assert_eq!(
            duplicate_errors(&[&THINGS, &RouteGroup::of::<RepeatingApi>()]),
            [
                "GET /a/parts: its operation ID get_part is already in use",
                "GET /a/{x_id}/b/{y_id}: is declared twice, and only one declaration would be served",
            ]
        );
    }

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
