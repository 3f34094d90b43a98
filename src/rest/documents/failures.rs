//! What all operations have in common: the failures that any of them can have, and the headers of answers.
//!
//! Examples are made by the code that answers failures, so that they are what is answered.

use poem_openapi::{registry::Registry, types::Type};
use serde_json::{Map, Value, json};

use crate::{
    error::{Code, Error, Problem},
    operations,
    rest::problem::{self, ErrorBody, ValidationBody},
};

/// The content type of bodies, as documents name it.
pub const JSON: &str = "application/json";

/// The request that failed, in examples.
const REQUEST_ID: &str = "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11";

/// A failure in the documents: its name there, its status and what it means.
struct Failure {
    name: &'static str,
    status: &'static str,
    meaning: &'static str,
    example: fn() -> Error,
}

/// Which operations have a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    Keyed,
    WithBody,
    Granted,
}

const FAILURES: [(Of, Failure); 11] = [
    (
        Of::All,
        Failure {
            name: "BadRequest",
            status: "400",
            meaning: "The request cannot be read, or its cursor belongs to another one.",
            example: || Error::InvalidCursor,
        },
    ),
    (
        Of::Keyed,
        Failure {
            name: "Unauthorized",
            status: "401",
            meaning: "No API key was sent, or one that does not count.",
            example: || {
                Error::Unauthorized("This API key has expired. Use another key of your team.".to_owned())
            },
        },
    ),
    (
        Of::Keyed,
        Failure {
            name: "Forbidden",
            status: "403",
            meaning: "The key's team may not do this: no marketplace role, no mutual NDA, or the browse gate is shut.",
            example: || Error::BrowseLocked { published: 1, required: 3 },
        },
    ),
    (
        Of::All,
        Failure {
            name: "NotFound",
            status: "404",
            meaning: "There is no such thing that the team can see.",
            example: || Error::not_found("listing"),
        },
    ),
    (
        Of::All,
        Failure {
            name: "Conflict",
            status: "409",
            meaning: "The state of things does not allow this.",
            example: || Error::InvalidTransition { from: "draft", allowed: vec!["submit", "archive"] },
        },
    ),
    (
        Of::Granted,
        Failure {
            name: "Gone",
            status: "410",
            meaning: "The grant was used, was taken back, or its time is over.",
            example: || Error::Gone(Code::GrantConsumed, operations::grants::CONSUMED.to_owned()),
        },
    ),
    (
        Of::WithBody,
        Failure {
            name: "PayloadTooLarge",
            status: "413",
            meaning: "The body is too large.",
            example: || Error::PayloadTooLarge { most_bytes: 16_777_216 },
        },
    ),
    (
        Of::All,
        Failure {
            name: "ValidationFailed",
            status: "422",
            meaning: "Values break their rules; the body names every one of them.",
            example: || Error::invalid(Problem::query("limit", "less_than_equal", "`limit` is at most 100.")),
        },
    ),
    (
        Of::All,
        Failure {
            name: "RateLimited",
            status: "429",
            meaning: "The team or the address has spent its budget; wait as long as `Retry-After` says.",
            example: || {
                let budget = "`catalog` budget of 1200 requests a minute".to_owned();
                Error::RateLimited { budget, retry_seconds: 1 }
            },
        },
    ),
    (
        Of::All,
        Failure {
            name: "InternalError",
            status: "500",
            meaning: "The server failed; nothing was changed.",
            example: || Error::internal(""),
        },
    ),
    (
        Of::All,
        Failure {
            name: "AtCapacity",
            status: "503",
            meaning: "The server is full and nothing was begun, or, where `details.begun` is true, the answer took too long and \
                      its work goes on. Wait as long as `Retry-After` says.",
            example: || Error::AtCapacity { retry_seconds: 1 },
        },
    ),
];

/// Headers of answers: name, what it says and its schema.
fn headers() -> [(&'static str, &'static str, Value); 6] {
    [
        (
            "X-Request-Id",
            "The request's id: the caller's own, where it sent a fitting one.",
            json!({"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"}),
        ),
        ("ETag", "The answer's entity tag, for `If-None-Match`.", json!({"type": "string"})),
        (
            "RateLimit-Policy",
            "The budgets that the request counts against, where some are set: requests (`q`) in so many seconds (`w`).",
            json!({"type": "string", "example": "\"address\";q=3000;w=60, \"catalog\";q=1200;w=60"}),
        ),
        (
            "RateLimit",
            "What is left of each of these budgets: requests (`r`), and seconds until it is whole again (`t`).",
            json!({"type": "string", "example": "\"address\";r=2995;t=1, \"catalog\";r=1199;t=1"}),
        ),
        ("Retry-After", "Seconds to wait.", json!({"type": "integer", "minimum": 0})),
        ("WWW-Authenticate", "The scheme that is asked for.", json!({"type": "string", "enum": ["Bearer"]})),
    ]
}

fn header_references(names: &[&str]) -> Value {
    let header = |name: &&str| ((*name).to_owned(), json!({"$ref": format!("#/components/headers/{name}")}));
    Value::Object(names.iter().map(header).collect())
}

/// Adds the headers of every answer to an operation, and the failures that it can have.
pub fn add(operation: &mut Map<String, Value>) {
    let of_operation = |of: Of| match of {
        Of::All => true,
        Of::Keyed => operation.contains_key("security"),
        Of::WithBody => operation.contains_key("requestBody"),
        Of::Granted => is_granted(operation),
    };
    let failures: Vec<&Failure> =
        FAILURES.iter().filter(|(of, _)| of_operation(*of)).map(|(_, failure)| failure).collect();
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
        return;
    };
    for (status, response) in responses.iter_mut() {
        let mut names = vec!["X-Request-Id", "RateLimit-Policy", "RateLimit"];
        if status == "200" {
            names.push("ETag");
        }
        response["headers"] = header_references(&names);
    }
    for Failure { name, status, .. } in failures {
        responses.insert((*status).to_owned(), json!({"$ref": format!("#/components/responses/{name}")}));
    }
}

/// Whether an operation is one of those that a grant allows.
fn is_granted(operation: &Map<String, Value>) -> bool {
    let id = operation.get("operationId").and_then(Value::as_str);
    id.is_some_and(|id| ["plan_upload", "get_upload_parts", "complete_upload"].contains(&id))
}

/// Defines what [`add`] refers to.
pub fn define(document: &mut Value) {
    let has_body = super::operations(document).any(|operation| operation.contains_key("requestBody"));
    let has_grants = super::operations(document).any(|operation| is_granted(operation));
    let components = &mut document["components"];
    let mut registry = Registry::new();
    ErrorBody::register(&mut registry);
    ValidationBody::register(&mut registry);
    for (name, schema) in &registry.schemas {
        components["schemas"][name] = json!(schema);
    }
    components["schemas"]["ValidationProblem"]["properties"]["loc"]["items"] =
        json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]});
    for (name, description, schema) in headers() {
        components["headers"][name] = json!({"description": description, "schema": schema});
    }
    let is_met = |of: Of| match of {
        Of::WithBody => has_body,
        Of::Granted => has_grants,
        Of::All | Of::Keyed => true,
    };
    for (_, failure) in FAILURES.iter().filter(|(of, _)| is_met(*of)) {
        components["responses"][failure.name] = failure.response();
    }
}

impl Failure {
    fn response(&self) -> Value {
        let error = (self.example)();
        let schema = if let Error::Invalid(_) = error { "ValidationBody" } else { "ErrorBody" };
        let mut names = vec!["X-Request-Id", "RateLimit-Policy", "RateLimit"];
        match self.status {
            "401" => names.push("WWW-Authenticate"),
            "429" | "503" => names.push("Retry-After"),
            _ => {}
        }
        let example: Value =
            serde_json::from_slice(&problem::body(&error, REQUEST_ID)).expect("a body is JSON");
        json!({
            "description": self.meaning,
            "headers": header_references(&names),
            "content": {JSON: {
                "schema": {"$ref": format!("#/components/schemas/{schema}")},
                "example": example,
            }},
        })
    }
}
