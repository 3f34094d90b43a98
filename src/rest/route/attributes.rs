//! The attributes of a route.

use std::ops::Deref;

use serde_json::Value;

use super::{contract::Contract, tool::Tool};
use crate::domain::{events::EventType, listings::Actor};
use crate::error::Code;
use crate::rest::{auth::Policy, limits::Budget, required_access::RequiredAccess};

/// A route: its access requirement and its attributes.
pub trait Route: Send + Sync + 'static {
    /// The proof of access that the handler gets.
    type Access: Policy;

    /// The attributes.
    const ATTRIBUTES: RouteAttributes;
}

/// A route in the lists that say which routes exist.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredRoute {
    attributes: &'static RouteAttributes,
    /// Access that the caller needs.
    pub required_access: RequiredAccess,
}

impl DeclaredRoute {
    /// Returns how agents call the operation.
    pub const fn tool(&self) -> &'static Tool {
        &self.attributes.tool
    }

    /// Returns the entry for a route.
    pub const fn of<R: Route>() -> DeclaredRoute {
        DeclaredRoute { attributes: &R::ATTRIBUTES, required_access: R::Access::REQUIRED }
    }
}

impl Deref for DeclaredRoute {
    type Target = RouteAttributes;

    fn deref(&self) -> &RouteAttributes {
        self.attributes
    }
}

/// How a request may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeatability {
    /// The operation changes nothing.
    Safe,
    /// Performing the operation again changes nothing more.
    Idempotent,
    /// The operation is performed once per `Idempotency-Key`.
    OncePerKey,
}

/// How long the response may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// At most `server.answer_seconds`.
    Answer,
    /// As long as data keeps moving, for instance while a file is uploaded.
    None,
}

/// What is the same for every request to a route.
#[derive(Debug)]
pub struct RouteAttributes {
    /// `operationId` in the documents.
    pub operation: &'static str,
    /// The rate limit budget that requests are charged to.
    pub budget: Budget,
    /// How long the response may take.
    pub deadline: Deadline,
    /// How a request may be repeated.
    pub repeatability: Repeatability,
    /// Example of the request body; none if the operation takes no body.
    pub body_example: Option<fn() -> Value>,
    /// Examples of query parameters that have another example than their name suggests, as `(name, JSON)`.
    pub parameter_examples: &'static [(&'static str, &'static str)],
    /// IDs in the response that other operations take, beyond those that follow from the paths.
    pub links: &'static [Link],
    /// How agents call the operation. Operations that change something have no tool.
    pub tool: Tool,
    /// What an operation of the operator API does; none for other operations and those that change nothing.
    pub effect: Option<Effect>,
    /// Codes with which the state of the market can prevent the operation, beyond those of all changes.
    pub conflicts: &'static [Code],
    /// What the contract tests must know.
    pub contract: Contract,
}

/// What an operation of the operator API does, for its documentation.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// Who acts, as histories show it: a team does what a team could do itself, the platform what an operator
    /// decides.
    pub actor: Actor,
    /// The events that the operation may append.
    pub events: &'static [EventType],
}

/// An ID in the response that another operation takes.
#[derive(Debug)]
pub struct Link {
    /// JSON pointer to the ID in the response.
    pub pointer: &'static str,
    /// `operationId` of the other operation.
    pub operation: &'static str,
    /// Name of the path parameter that takes the ID.
    pub parameter: &'static str,
}

impl RouteAttributes {
    /// Creates the attributes of an operation that reads.
    pub const fn get(
        operation: &'static str,
        budget: Budget,
        tool: Tool,
        contract: Contract,
    ) -> RouteAttributes {
        RouteAttributes {
            operation,
            budget,
            deadline: Deadline::Answer,
            repeatability: Repeatability::Safe,
            body_example: None,
            parameter_examples: &[],
            links: &[],
            tool,
            effect: None,
            conflicts: &[],
            contract,
        }
    }

    /// Creates the attributes of an operation that is performed once per `Idempotency-Key`, with an example
    /// of its body unless it takes none.
    pub const fn post(
        operation: &'static str,
        budget: Budget,
        body_example: Option<fn() -> Value>,
        contract: Contract,
    ) -> RouteAttributes {
        RouteAttributes {
            repeatability: Repeatability::OncePerKey,
            ..RouteAttributes::change(operation, budget, body_example, contract)
        }
    }

    /// Creates the attributes of a change that can be repeated, with an example of its body.
    pub const fn patch(
        operation: &'static str,
        budget: Budget,
        body_example: fn() -> Value,
        contract: Contract,
    ) -> RouteAttributes {
        RouteAttributes::change(operation, budget, Some(body_example), contract)
    }

    /// Creates the attributes of a change without a body that can be repeated.
    pub const fn put(operation: &'static str, budget: Budget, contract: Contract) -> RouteAttributes {
        RouteAttributes::change(operation, budget, None, contract)
    }

    /// Creates the attributes of a deletion.
    pub const fn delete(operation: &'static str, budget: Budget, contract: Contract) -> RouteAttributes {
        RouteAttributes::change(operation, budget, None, contract)
    }

    const fn change(
        operation: &'static str,
        budget: Budget,
        body_example: Option<fn() -> Value>,
        contract: Contract,
    ) -> RouteAttributes {
        RouteAttributes {
            operation,
            budget,
            deadline: Deadline::Answer,
            repeatability: Repeatability::Idempotent,
            body_example,
            parameter_examples: &[],
            links: &[],
            tool: Tool::Excluded("it changes something"),
            effect: None,
            conflicts: &[],
            contract,
        }
    }

    /// Sets examples of query parameters, as `(name, JSON)`.
    #[must_use]
    pub const fn with_parameter_examples(
        self,
        parameter_examples: &'static [(&'static str, &'static str)],
    ) -> RouteAttributes {
        RouteAttributes { parameter_examples, ..self }
    }

    /// Sets what an operation of the operator API does.
    #[must_use]
    pub const fn with_effect(self, actor: Actor, events: &'static [EventType]) -> RouteAttributes {
        RouteAttributes { effect: Some(Effect { actor, events }), ..self }
    }

    /// Sets codes with which the state of the market can prevent the operation, beyond those of all changes.
    #[must_use]
    pub const fn with_conflicts(self, conflicts: &'static [Code]) -> RouteAttributes {
        RouteAttributes { conflicts, ..self }
    }

    /// Sets IDs in the response that other operations take, beyond those that follow from the paths.
    #[must_use]
    pub const fn with_links(self, links: &'static [Link]) -> RouteAttributes {
        RouteAttributes { links, ..self }
    }
}

impl Link {
    /// Creates a link from the ID at `pointer` to the path parameter of another operation.
    pub const fn new(pointer: &'static str, operation: &'static str, parameter: &'static str) -> Link {
        Link { pointer, operation, parameter }
    }
}
