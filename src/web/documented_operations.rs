//! The operations that the documents describe: which one a request is for, and how it can be answered.

use std::collections::{BTreeMap, HashMap};

use poem::http::Method;
use serde_json::Value;

use crate::{
    error::Code,
    string_enum::StringEnum,
    web::{limits::Budget, request_counts::CountedOperation},
    worlds::journal::OperationName,
};

/// The name that replaces the API for operations that several APIs have.
const SHARED: &str = "catalog";

/// The API that worlds do not have.
const SANDBOX: &str = "sandbox";

/// The extension of an operation that names its error codes, by status.
pub const ERROR_CODES: &str = "x-error-codes";

/// The operations of several documents.
#[derive(Debug, Default)]
pub struct DocumentedOperations {
    operations: Vec<DocumentedOperation>,
    /// Indices of the operations by method and number of segments in the path.
    by_shape: HashMap<(Method, usize), Vec<usize>>,
}

/// An operation, as its document describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentedOperation {
    /// `operationId`. Operations of different APIs can have the same, unless the APIs share a prefix.
    pub id: String,
    /// The first API that has the operation.
    pub api: &'static str,
    /// Names of the other APIs that have the operation.
    pub other_apis: Vec<&'static str>,
    /// The method.
    pub method: Method,
    /// The path, with the names of its parameters, such as `/v2/assets/{asset_id}`.
    pub path: String,
    /// The possible outcomes, in the order of their statuses.
    pub outcomes: Vec<Outcome>,
    /// The budget that requests are charged to.
    pub budget: Budget,
    /// The example of the body by status, for success with a body.
    pub examples: BTreeMap<u16, Value>,
}

/// How a request can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Outcome {
    /// HTTP status.
    pub status: u16,
    /// The error code; `None` for success, and for 422, which lists problems instead.
    pub code: Option<Code>,
}

impl DocumentedOperations {
    /// Collects the operations of the documents of APIs with these names. An operation that several APIs share is listed once.
    pub fn new<'a>(documents: impl IntoIterator<Item = (&'static str, &'a Value)>) -> DocumentedOperations {
        let mut all = DocumentedOperations::default();
        for (api, document) in documents {
            let paths = document["paths"].as_object().into_iter().flatten();
            for (path, item) in paths {
                for (method, operation) in item.as_object().into_iter().flatten() {
                    if let Some(operation) = DocumentedOperation::new(api, path, method, operation) {
                        all.add(operation);
                    }
                }
            }
        }
        all
    }

    fn add(&mut self, operation: DocumentedOperation) {
        let shape = (operation.method.clone(), segments(&operation.path).count());
        let same_shape = self.by_shape.entry(shape).or_default();
        if let Some(index) = same_shape.iter().find(|index| self.operations[**index].path == operation.path) {
            self.operations[*index].other_apis.push(operation.api);
            return;
        }
        same_shape.push(self.operations.len());
        self.operations.push(operation);
    }

    /// Returns the operation of a request with this method and path. HEAD is treated like GET.
    pub fn find(&self, method: &Method, path: &str) -> Option<&DocumentedOperation> {
        let method = if method == Method::HEAD { Method::GET } else { method.clone() };
        let same_shape = self.by_shape.get(&(method, segments(path).count()))?.iter();
        let matching =
            same_shape.map(|index| &self.operations[*index]).filter(|operation| operation.matches(path));
        // As in the router, a segment that is the same precedes a parameter.
        matching.min_by_key(|operation| operation.parameters().count())
    }

    /// Returns the operations with this ID.
    pub fn with_id<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a DocumentedOperation> {
        self.operations.iter().filter(move |operation| operation.id == id)
    }

    /// Returns the operations by whose names requests are counted.
    pub fn counted(&self) -> impl Iterator<Item = CountedOperation<'_>> {
        self.operations.iter().map(|operation| CountedOperation {
            api: if operation.other_apis.is_empty() { operation.api } else { SHARED },
            operation: &operation.id,
            method: &operation.method,
            route: &operation.path,
        })
    }

    /// Returns all operations, in the order of the documents.
    pub fn iter(&self) -> impl Iterator<Item = &DocumentedOperation> + Clone {
        self.operations.iter()
    }

    /// Returns the operations that worlds have, in the order of the documents.
    pub fn of_worlds(&self) -> impl Iterator<Item = &DocumentedOperation> + Clone {
        self.iter().filter(|operation| operation.is_of_worlds())
    }
}

impl DocumentedOperation {
    /// Returns the name of the operation in worlds.
    pub fn name(&self) -> OperationName {
        OperationName { api: self.api, other_apis: self.other_apis.clone(), id: self.id.clone() }
    }

    /// Whether worlds have the operation.
    pub fn is_of_worlds(&self) -> bool {
        self.api != SANDBOX
    }

    fn new(api: &'static str, path: &str, method: &str, operation: &Value) -> Option<DocumentedOperation> {
        let responses = operation["responses"].as_object()?;
        let mut outcomes = Vec::new();
        for status in responses.keys() {
            let codes = operation[ERROR_CODES][status].as_array().into_iter().flatten();
            let codes = codes.filter_map(|code| Code::parse(code.as_str()?));
            let number = status.parse().ok()?;
            let before = outcomes.len();
            outcomes.extend(codes.map(|code| Outcome { status: number, code: Some(code) }));
            if outcomes.len() == before {
                outcomes.push(Outcome { status: number, code: None });
            }
        }
        let example = |(status, response): (&String, &Value)| {
            let example = response["content"]["application/json"].get("example")?;
            Some((status.parse().ok()?, example.clone()))
        };
        let successes = operation["responses"].as_object().into_iter().flatten();
        let successes = successes.filter(|(status, _)| status.starts_with('2'));
        // Keeps the order of the codes of a status.
        outcomes.sort_by_key(|outcome| outcome.status);
        Some(DocumentedOperation {
            id: operation["operationId"].as_str()?.to_owned(),
            api,
            other_apis: Vec::new(),
            method: method.to_ascii_uppercase().parse().ok()?,
            path: path.to_owned(),
            outcomes,
            budget: Budget::parse(operation["x-budget"].as_str()?)?,
            examples: successes.filter_map(example).collect(),
        })
    }

    /// Whether the path is that of the operation with some values of its parameters.
    fn matches(&self, path: &str) -> bool {
        segments(&self.path)
            .zip(segments(path))
            .all(|(own, given)| if is_parameter(own) { !given.is_empty() } else { own == given })
    }

    fn parameters(&self) -> impl Iterator<Item = &str> {
        segments(&self.path).filter(|segment| is_parameter(segment))
    }

    /// Whether the document names this outcome.
    pub fn has_outcome(&self, outcome: Outcome) -> bool {
        self.outcomes.contains(&outcome)
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}
