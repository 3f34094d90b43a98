//! How the routes of the operator API are declared.

use serde_json::Value;

use crate::{
    domain::{events::EventType, listings::Actor},
    rest::{
        limits::Budget,
        route::{Contract, RouteAttributes, Target, Tool},
    },
};

/// ID of a team of the demo market, for examples of bodies.
pub const DEMO_TEAM: &str = "d16976a0-9c51-5248-afa1-7e0552589e1a";

/// ID of a buyer of the demo market, for examples of bodies.
pub const DEMO_BUYER: &str = "57d9aaca-90f7-528c-aff6-0b974cabd171";

pub(super) use crate::rest::route::routes;

/// The attributes of a list.
pub const fn list(operation: &'static str, queries: &'static [&'static str]) -> RouteAttributes {
    let contract = Contract::new(Target::None)
        .with_queries(queries)
        .with_misspelled("limi=1", "limit")
        .with_pages("limit=1", "limit=100", 2);
    read(operation, contract)
}

/// The attributes of a list of what belongs to the record that the path names.
pub const fn list_of(
    operation: &'static str,
    target: Target,
    queries: &'static [&'static str],
) -> RouteAttributes {
    let contract = Contract::new(target).with_queries(queries).with_misspelled("limi=1", "limit").with_pages(
        "limit=1",
        "limit=100",
        3,
    );
    read(operation, contract)
}

/// The attributes of a POST operation on the record that the path names, with an example of the body if it has one.
pub const fn post_to(
    operation: &'static str,
    target: Target,
    example: Option<fn() -> Value>,
    actor: Actor,
    events: &'static [EventType],
) -> RouteAttributes {
    RouteAttributes::post(operation, Budget::Other, example, Contract::new(target)).with_effect(actor, events)
}

/// The attributes of a GET operation on a record of a collection of the demo market.
pub const fn get(operation: &'static str, collection: &'static str) -> RouteAttributes {
    read(operation, Contract::new(Target::RecordOf(collection)))
}

/// The attributes of a GET operation.
pub const fn read(operation: &'static str, contract: Contract) -> RouteAttributes {
    RouteAttributes::get(operation, Budget::Other, Tool::Excluded("agents act for teams"), contract)
}

/// The attributes of an operation that creates a record, with an example of its body.
pub const fn create(
    operation: &'static str,
    example: fn() -> Value,
    actor: Actor,
    events: &'static [EventType],
) -> RouteAttributes {
    RouteAttributes::post(operation, Budget::Other, Some(example), Contract::new(Target::None))
        .with_effect(actor, events)
}

/// The attributes of a POST operation without a body on a record of a collection of the demo market.
pub const fn post(
    operation: &'static str,
    collection: &'static str,
    actor: Actor,
    events: &'static [EventType],
) -> RouteAttributes {
    post_to(operation, Target::RecordOf(collection), None, actor, events)
}

/// The attributes of a POST operation with a body on a record of a collection of the demo market.
pub const fn post_body(
    operation: &'static str,
    collection: &'static str,
    example: fn() -> Value,
    actor: Actor,
    events: &'static [EventType],
) -> RouteAttributes {
    post_to(operation, Target::RecordOf(collection), Some(example), actor, events)
}

/// The attributes of a change of the fields of a record of a collection of the demo market.
pub const fn patch(
    operation: &'static str,
    collection: &'static str,
    example: fn() -> Value,
    actor: Actor,
    events: &'static [EventType],
) -> RouteAttributes {
    RouteAttributes::patch(operation, Budget::Other, example, Contract::new(Target::RecordOf(collection)))
        .with_effect(actor, events)
}

/// The attributes of a deletion of a record of a collection of the demo market.
pub const fn delete(
    operation: &'static str,
    collection: &'static str,
    actor: Actor,
    events: &'static [EventType],
) -> RouteAttributes {
    RouteAttributes::delete(operation, Budget::Other, Contract::new(Target::RecordOf(collection)))
        .with_effect(actor, events)
}
