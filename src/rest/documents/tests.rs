//! Tests of the operations that the documents name.

use poem::http::Method;
use serde_json::Value;

use super::openapi_document;
use crate::{
    config::ContactSettings,
    error::Code,
    rest::APIS,
    web::documented_operations::{DocumentedOperations, Outcome},
};

fn operations() -> DocumentedOperations {
    let documents: Vec<Value> =
        APIS.iter().map(|api| openapi_document(api, "..", &ContactSettings::default())).collect();
    DocumentedOperations::new(APIS.into_iter().map(|api| api.name).zip(&documents))
}

#[test]
fn request_belongs_to_the_operation_with_its_method_and_path() {
    let operations = operations();
    let id = |method: Method, path: &str| operations.find(&method, path).map(|found| found.id.as_str());
    assert_eq!(id(Method::GET, "/v2/wallet"), Some("get_wallet"));
    assert_eq!(id(Method::HEAD, "/v2/wallet"), Some("get_wallet"));
    assert_eq!(id(Method::POST, "/v2/wallet"), None);
    assert_eq!(id(Method::GET, "/v2/wallet/"), None);
    assert_eq!(id(Method::GET, "/v2/assets/"), None);
    assert_eq!(id(Method::POST, "/v2/codebases/batch"), Some("create_codebases"));
    assert_eq!(id(Method::POST, "/v2/codebases/1/qc/runs"), Some("start_codebase_qc"));
    assert_eq!(id(Method::PUT, "/sandbox/v1/worlds/a/repositories/b/c"), Some("put_world_repository"));
}

#[test]
fn every_operation_has_outcomes_and_is_found_by_its_path() {
    let operations = operations();
    assert!(operations.iter().count() > 200);
    for operation in operations.iter() {
        assert_eq!(operations.find(&operation.method, &operation.path), Some(operation));
        assert!(operations.with_id(&operation.id).any(|found| found == operation));
        let has_code =
            |outcome: &Outcome| outcome.code.is_some() == (outcome.status >= 400 && outcome.status != 422);
        assert!(operation.outcomes.iter().all(has_code), "{operation:?}");
        assert!(operation.outcomes.iter().any(|outcome| outcome.status < 300), "{operation:?}");
    }
}

#[test]
fn codes_depend_on_the_operation() {
    let operations = operations();
    let has = |id: &str, status: u16, code: Code| {
        let outcome = Outcome { status, code: Some(code) };
        operations.with_id(id).any(|operation| operation.has_outcome(outcome))
    };
    assert!(has("complete_upload", 409, Code::PartsMissing));
    assert!(!has("get_wallet", 409, Code::PartsMissing));
    assert!(has("browse_listings", 400, Code::InvalidCursor));
    assert!(!has("get_wallet", 400, Code::InvalidCursor));
    assert!(has("refund_purchase", 409, Code::RefundWindowClosed));
    assert!(has("create_world", 409, Code::TooManyWorlds));
}
