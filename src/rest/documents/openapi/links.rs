//! Links between operations: which responses contain the IDs that other operations take.
//!
//! Most links follow from the paths: an operation that lists or creates resources is linked to all operations
//! below its path that take exactly one more ID. If the resources also have a path of their own, it is linked to all
//! operations below that. The others are attributes of the routes.

use std::iter;

use serde_json::{Map, Value, json};

use crate::rest::{api::is_below, documents::openapi::error_responses::JSON, route::DeclaredRoute};

/// The parts of an operation that links depend on.
struct Operation {
    id: String,
    path: String,
    method: String,
    summary: String,
    /// Reference to the schema of the resource in the success response, or of the resources if it is a list.
    resource: Option<String>,
}

impl Operation {
    /// Returns the names of the path parameters.
    fn parameters(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns the path parameter directly after `path`, if it is the only one after it.
    fn next_parameter(&self, path: &str) -> Option<&str> {
        let below = self.path.strip_prefix(path)?.strip_prefix("/{")?;
        let (parameter, rest) = below.split_once('}')?;
        (!rest.contains('{')).then_some(parameter)
    }

    /// Returns the path of the resources that this operation gets by their ID alone.
    fn collection(&self) -> Option<&str> {
        let (collection, parameter) = self.path.rsplit_once('/')?;
        (self.method == "get" && parameter.starts_with('{') && !collection.contains('{'))
            .then_some(collection)
    }
}

/// Adds links to the success responses of all operations that have any.
pub fn add_links(document: &mut Value, routes: &[DeclaredRoute]) {
    let all_operations = operations(document);
    for from in &all_operations {
        let Some(schema) = response_schema(document, &from.path, &from.method) else { continue };
        let elsewhere =
            all_operations.iter().filter(|to| from.resource.is_some() && to.resource == from.resource);
        let elsewhere = elsewhere.filter_map(Operation::collection).find(|path| !is_below(&from.path, path));
        let by_path = all_operations.iter().filter_map(|to| {
            let mut paths = iter::once(from.path.as_str()).chain(elsewhere);
            let parameter = paths.find_map(|path| to.next_parameter(path))?;
            Some((to, parameter, id_pointer(document, &schema, parameter)?))
        });
        let extra =
            routes.iter().find(|route| route.operation == from.id).map_or(&[][..], |route| route.links);
        let extra = extra.iter().filter_map(|link| {
            let to = all_operations.iter().find(|to| to.id == link.operation)?;
            Some((to, link.parameter, link.pointer.to_owned()))
        });
        let links: Map<String, Value> = by_path
            .chain(extra)
            .map(|(to, parameter, pointer)| link(from, to, parameter, &pointer))
            .collect();
        if !links.is_empty() {
            let responses = document["paths"][&from.path][&from.method]["responses"].as_object_mut();
            for (_, response) in responses.into_iter().flatten().filter(|(status, _)| status.starts_with('2'))
            {
                response["links"] = json!(links);
            }
        }
    }
}

fn operations(document: &Value) -> Vec<Operation> {
    let text = |operation: &Value, key: &str| operation[key].as_str().unwrap_or_default().to_owned();
    let paths = document["paths"].as_object().into_iter().flatten();
    let all_operations = paths.flat_map(|(path, item)| {
        item.as_object().into_iter().flatten().map(move |(method, operation)| Operation {
            id: text(operation, "operationId"),
            path: path.clone(),
            method: method.clone(),
            summary: text(operation, "summary"),
            resource: response_schema(document, path, method).and_then(|schema| resource(document, &schema)),
        })
    });
    all_operations.collect()
}

/// Creates a link that fills `parameter` from the response body, and the other path parameters from the
/// request path.
fn link(from: &Operation, to: &Operation, parameter: &str, pointer: &str) -> (String, Value) {
    let mut parameters = Map::new();
    for name in to.parameters() {
        let is_shared = name != parameter && from.parameters().any(|shared| shared == name);
        let source =
            if is_shared { format!("$request.path.{name}") } else { format!("$response.body#{pointer}") };
        parameters.insert(name.to_owned(), json!(source));
    }
    let link = json!({
        "operationId": to.id,
        "parameters": parameters,
        "description": format!("{}, using the ID in this response.", to.summary),
    });
    (to.id.clone(), link)
}

/// Returns the schema of an operation's success response.
fn response_schema(document: &Value, path: &str, method: &str) -> Option<Value> {
    let responses = document["paths"][path][method]["responses"].as_object()?;
    let (_, response) = responses.iter().find(|(status, _)| status.starts_with('2'))?;
    response["content"][JSON].get("schema").cloned()
}

/// Returns the JSON pointer to the resource's ID in a response: its own, or that of the first element in a
/// list. The ID is the field `id`, or else that with the name of the parameter. A parameter that is not an ID is the field
/// with its name, or else `name`.
fn id_pointer(document: &Value, schema: &Value, parameter: &str) -> Option<String> {
    let names = if parameter.ends_with("id") { ["id", parameter] } else { [parameter, "name"] };
    let name = |fields: &Map<String, Value>| names.into_iter().find(|name| fields.contains_key(*name));
    let fields = properties(document, schema);
    if let Some(id) = name(&fields) {
        return Some(format!("/{id}"));
    }
    fields.iter().find_map(|(list, field)| {
        Some(format!("/{list}/0/{}", name(&properties(document, &field["items"]))?))
    })
}

/// Returns the reference to the schema of the resources in a response: that of the elements in a list of operators, or
/// else that of the response.
fn resource(document: &Value, schema: &Value) -> Option<String> {
    let items = properties(document, schema).remove("items");
    items.as_ref().map_or(schema, |items| &items["items"])["$ref"].as_str().map(str::to_owned)
}

/// Returns the properties of a schema and of its `allOf` parts.
fn properties(document: &Value, schema: &Value) -> Map<String, Value> {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => schema,
    };
    let mut fields = schema["properties"].as_object().cloned().unwrap_or_default();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fields.extend(properties(document, part));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::{
        api::{self, APIS},
        documents::openapi_document,
    };

    #[test]
    fn every_id_parameter_is_reachable_by_a_link() {
        for api in APIS {
            let document =
                openapi_document(api, "http://market.test", &crate::config::ContactSettings::default());
            let all_operations = operations(&document);
            let mut reached: Vec<&str> = Vec::new();
            for from in &all_operations {
                let responses = &document["paths"][&from.path][&from.method]["responses"];
                let responses = responses.as_object().into_iter().flatten();
                for (name, link) in
                    responses.filter_map(|(_, response)| response["links"].as_object()).flatten()
                {
                    let to = all_operations
                        .iter()
                        .find(|to| to.id == *name)
                        .expect("a link leads to an operation");
                    assert_eq!(link["operationId"], json!(to.id));
                    let parameters = link["parameters"].as_object().unwrap();
                    assert!(
                        to.parameters().all(|name| parameters.contains_key(name)),
                        "{} to {name}",
                        from.id
                    );
                    assert_eq!(parameters.len(), to.parameters().count());
                    reached.push(&to.id);
                }
            }
            let unreachable: Vec<&str> = all_operations
                .iter()
                .filter(|operation| operation.parameters().next().is_some())
                // No response contains the token of an upload grant: the grant's creator passes it on.
                .filter(|operation| operation.parameters().all(|name| name != "token"))
                // The caller chooses the owner and the name of a repository.
                .filter(|operation| operation.id != "put_world_repository")
                .map(|operation| operation.id.as_str())
                .filter(|id| !reached.contains(id))
                .collect();
            assert!(unreachable.is_empty(), "no link leads to {unreachable:?}");
        }
    }

    #[test]
    fn link_parameters_point_to_ids() {
        let document =
            openapi_document(&api::VENDOR, "http://market.test", &crate::config::ContactSettings::default());
        let link_parameters = |path: &str, method: &str, status: &str, to: &str| {
            document["paths"][path][method]["responses"][status]["links"][to]["parameters"].clone()
        };
        assert_eq!(
            link_parameters("/v2/codebases", "post", "201", "delete_codebase"),
            json!({"asset_id": "$response.body#/id"})
        );
        assert_eq!(
            link_parameters("/v2/codebases", "get", "200", "attach_codebase_data"),
            json!({"asset_id": "$response.body#/items/0/id"})
        );
        assert_eq!(
            link_parameters("/v2/listings/{listing_id}/assets", "get", "200", "detach_listing_asset"),
            json!({"listing_id": "$request.path.listing_id", "asset_id": "$response.body#/assets/0/id"})
        );
        assert_eq!(
            link_parameters("/v2/assets/{asset_id}", "get", "200", "place_asset"),
            json!({"asset_id": "$request.path.asset_id", "group_id": "$response.body#/group_id"})
        );
    }
}
