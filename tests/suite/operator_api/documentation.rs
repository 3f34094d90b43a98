//! The effects of operations in the document.

use marketplace::{rest::OPERATOR, string_enum::StringEnum};
use serde_json::json;

use crate::harness::documents::operator_document;

#[test]
fn document_names_who_acts_and_which_events_follow() {
    let mut changes = 0;
    for route in OPERATOR.routes() {
        let operation = operator_document().operation(route.operation).unwrap();
        let (actor, events) = (operation.extension("x-actor"), operation.extension("x-events"));
        match route.effect {
            Some(effect) => {
                let names: Vec<&str> = effect.events.iter().map(|kind| kind.as_str()).collect();
                assert_eq!(
                    (actor, events),
                    (&json!(effect.actor.as_str()), &json!(names)),
                    "{}",
                    route.operation
                );
                changes += 1;
            }
            None => assert!(actor.is_null() && events.is_null(), "{}", route.operation),
        }
    }
    assert!(changes > 50, "{changes} operations change something");
}
