//! How the routes of the operator API are declared.

use crate::{
    domain::{events::EventType, listings::Actor},
    rest::route::{Contract, RouteAttributes, Target, Tool},
};

/// ID of a team of the demo market, for examples of bodies.
pub const DEMO_TEAM: &str = "d16976a0-9c51-5248-afa1-7e0552589e1a";

/// ID of a buyer of the demo market, for examples of bodies.
pub const DEMO_BUYER: &str = "57d9aaca-90f7-528c-aff6-0b974cabd171";

/// The attributes of a list.
pub const fn list(queries: &'static [&'static str]) -> RouteAttributes {
    read(pages(Target::None, queries, 2))
}

/// The attributes of a list of what belongs to the record that the path names.
pub const fn list_of(target: Target, queries: &'static [&'static str]) -> RouteAttributes {
    read(pages(target, queries, 3))
}

const fn pages(target: Target, queries: &'static [&'static str], max_statements: u64) -> Contract {
    Contract::new(target).with_queries(queries).with_misspelled("limi=1", "limit").with_pages(
        "limit=1",
        "limit=100",
        max_statements,
    )
}

/// The attributes of a GET operation on a record of a collection of the demo market.
pub const fn get(collection: &'static str) -> RouteAttributes {
    read(Contract::new(Target::RecordOf(collection)))
}

/// The attributes of a GET operation.
pub const fn read(contract: Contract) -> RouteAttributes {
    RouteAttributes::read(Tool::Excluded("agents act for teams"), contract)
}

/// The attributes of an operation that creates a record.
pub const fn create(actor: Actor, events: &'static [EventType]) -> RouteAttributes {
    change_of(Target::None, actor, events)
}

/// The attributes of a change of a record of a collection of the demo market.
pub const fn change(collection: &'static str, actor: Actor, events: &'static [EventType]) -> RouteAttributes {
    change_of(Target::RecordOf(collection), actor, events)
}

/// Like [`change`], for a change that the state of the record may not permit.
pub const fn transition(
    collection: &'static str,
    actor: Actor,
    events: &'static [EventType],
) -> RouteAttributes {
    transition_of(Target::RecordOf(collection), actor, events)
}

/// Like [`change_of`], for a change that the state of the record may not permit.
pub const fn transition_of(target: Target, actor: Actor, events: &'static [EventType]) -> RouteAttributes {
    change_of(target, actor, events).as_transition()
}

/// The attributes of a change of the record that the path names.
pub const fn change_of(target: Target, actor: Actor, events: &'static [EventType]) -> RouteAttributes {
    RouteAttributes::change(Contract::new(target)).with_effect(actor, events)
}
