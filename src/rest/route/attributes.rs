//! The attributes of a route.

use std::ops::Deref;

use serde_json::Value;

use super::{contract::Contract, tool::Tool};
use crate::{
    domain::{events::EventType, listings::Actor},
    error::Code,
    web::{auth::required_access::RequiredAccess, limits::Budget},
};

/// A route: its operation with the access that it requires, and its attributes.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredRoute {
    /// `operationId` in the documents.
    pub operation: &'static str,
    /// Access that the caller needs.
    pub required_access: RequiredAccess,
    /// How a request may be repeated.
    pub repeatability: Repeatability,
    /// Example of the request body; none if the operation takes no JSON.
    pub body_example: Option<fn() -> Value>,
    attributes: &'static RouteAttributes,
}

impl DeclaredRoute {
    /// Creates a route. Panics if the attributes are those of another kind of operation, which stops the compiler, since the
    /// attribute [`super::routes`] creates constants.
    pub const fn new(
        operation: &'static str,
        required_access: RequiredAccess,
        repeatability: Repeatability,
        body_example: Option<fn() -> Value>,
        attributes: &'static RouteAttributes,
    ) -> DeclaredRoute {
        assert!(
            attributes.tool.is_some() == matches!(repeatability, Repeatability::Safe),
            "a GET operation has the attributes of `read`, and all others have those of `change`"
        );
        DeclaredRoute { operation, required_access, repeatability, body_example, attributes }
    }

    /// Whether the operation changes something.
    pub const fn is_change(&self) -> bool {
        !matches!(self.repeatability, Repeatability::Safe) && !self.attributes.changes_nothing
    }

    /// Returns how agents call the operation; none if it changes something.
    pub const fn tool(&self) -> Option<&'static Tool> {
        self.attributes.tool.as_ref()
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

/// What a route states about itself: the same for every request.
#[derive(Debug)]
pub struct RouteAttributes {
    /// The rate limit budget that requests are charged to.
    pub budget: Budget,
    /// How long the response may take.
    pub deadline: Deadline,
    /// Examples of query parameters that have another example than their name suggests, as `(name, JSON)`.
    pub parameter_examples: &'static [(&'static str, &'static str)],
    /// IDs in the response that other operations take, beyond those that follow from the paths.
    pub links: &'static [Link],
    /// How agents call the operation; none if it changes something.
    pub tool: Option<Tool>,
    /// What an operation of the operator API does; none for other operations and those that change nothing.
    pub effect: Option<Effect>,
    /// Whether an operation that is no GET operation changes nothing, so that teams can perform it during maintenance.
    pub changes_nothing: bool,
    /// Whether the operation is a transition, which the state of the record may not permit.
    pub is_transition: bool,
    /// Codes with which the state of the market can prevent the operation, beyond those of all changes and transitions.
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
    pub const fn read(tool: Tool, contract: Contract) -> RouteAttributes {
        RouteAttributes { tool: Some(tool), ..RouteAttributes::change(contract) }
    }

    /// Creates the attributes of an operation that changes something.
    pub const fn change(contract: Contract) -> RouteAttributes {
        RouteAttributes {
            budget: Budget::Other,
            deadline: Deadline::Answer,
            parameter_examples: &[],
            links: &[],
            tool: None,
            effect: None,
            changes_nothing: false,
            is_transition: false,
            conflicts: &[],
            contract,
        }
    }

    /// Sets the budget that requests are charged to, unless it is [`Budget::Other`].
    #[must_use]
    pub const fn with_budget(self, budget: Budget) -> RouteAttributes {
        RouteAttributes { budget, ..self }
    }

    /// States that the response may take as long as data keeps moving.
    #[must_use]
    pub const fn without_deadline(self) -> RouteAttributes {
        RouteAttributes { deadline: Deadline::None, ..self }
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

    /// States that the operation is a transition, which the state of the record may not permit.
    #[must_use]
    pub const fn as_transition(self) -> RouteAttributes {
        RouteAttributes { is_transition: true, ..self }
    }

    /// Sets codes with which the state of the market can prevent the operation, beyond those of all changes and transitions.
    #[must_use]
    pub const fn with_conflicts(self, conflicts: &'static [Code]) -> RouteAttributes {
        RouteAttributes { conflicts, ..self }
    }

    /// States that the operation changes nothing, although it is no GET operation.
    #[must_use]
    pub const fn without_change(self) -> RouteAttributes {
        RouteAttributes { changes_nothing: true, ..self }
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
