//! Routes: what each one requires and how it is described, declared next to its handler.
//!
//! A handler takes a [`Call`] of its [`Route`], so a route without attributes does not compile. A constructor
//! of [`RouteAttributes`] exists for each kind of operation and requires whatever that kind must state.
//! [`super::declarations`] checks at startup that the attributes belong to the handler and are listed.

mod attributes;
mod call;
mod contract;
mod declare;
mod path;
mod tool;

pub use super::required_access::{Audience, RequiredAccess};
pub use attributes::{Deadline, DeclaredRoute, Effect, Link, Repeatability, Route, RouteAttributes};
pub use call::{Call, NoQuery};
pub use contract::{Contract, Pages, Target};
pub(crate) use declare::routes;
pub use path::Path;
pub use tool::{ChoiceValues, MultiTool, TeamTextIn, Tool, ToolText, Toolset};
