//! Adds the operations that transfer worlds as files. They are not declared routes, since these have JSON bodies.

use serde_json::{Map, Value, json};

use crate::{
    error::Code,
    rest::{
        documents::openapi::{error_codes, error_responses},
        files::world_transfers::{CONTENT_TYPE, EXPORT_ROUTE, IMPORT_ROUTE, REPLAY_ROUTE},
    },
    string_enum::StringEnum,
    web::{auth::required_access::RequiredAccess, limits::Budget},
};

/// The operation whose tag, parameter, and security the transfers have, with its path.
const MODEL: (&str, &str) = ("/sandbox/v1/worlds/{world}", "get");

/// Adds the operations to the document of the sandbox API.
pub fn add_operations(document: &mut Value) {
    let file = json!({CONTENT_TYPE: {"schema": {"type": "string", "format": "binary"}}});
    let export = json!({
        "operationId": "export_world",
        "summary": "Export a world",
        "description": "Returns the world as a file: its records with their IDs, its files, its keys, its secrets, and \
                        its clock. The file can be imported into any world.",
        "responses": {"200": {"description": "The file.", "content": file}},
    });
    let replay = json!({
        "operationId": "get_world_replay",
        "summary": "Get the replay of a world",
        "description": "Returns a file with the start of the world and the requests that it got, for `marketplace \
                        replay`.",
        "responses": {"200": {"description": "The file.", "content": file}},
    });
    let import = json!({
        "operationId": "import_world",
        "summary": "Import a world",
        "description": "Replaces everything in the world by what an exported file has. Every GET then responds as in \
                        the world that was exported.",
        "requestBody": {"required": true, "content": file},
        "responses": {"200": {"description": "The world.", "content": {
            error_responses::JSON: {"schema": {"$ref": "#/components/schemas/World"}},
        }}},
    });
    let model = document["paths"][MODEL.0][MODEL.1].clone();
    for (path, method, mut operation) in
        [(EXPORT_ROUTE, "get", export), (IMPORT_ROUTE, "post", import), (REPLAY_ROUTE, "get", replay)]
    {
        for field in ["tags", "parameters", "security"] {
            operation[field] = model[field].clone();
        }
        if let Some(operation) = operation.as_object_mut() {
            complete(operation);
        }
        document["paths"][path][method] = operation;
    }
}

/// Adds what all operations have.
fn complete(operation: &mut Map<String, Value>) {
    operation.insert("x-budget".to_owned(), json!(Budget::Other.as_str()));
    error_responses::add_responses(operation);
    error_codes::add_codes(operation, RequiredAccess::ActingOperator, &[Code::Conflict]);
}
