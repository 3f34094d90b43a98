//! Routes: what each one requires and how it is described, declared by its handler.
//!
//! The attribute [`routes`] on a block of handlers writes the framework's declaration and the list of routes. An omission in
//! either of them does not compile. [`super::declarations`] makes the checks across blocks at startup.

mod attributes;
mod call;
mod contract;
mod list;
mod path;
mod tool;

pub use crate::web::auth::required_access::{Audience, RequiredAccess};
pub use attributes::{Deadline, DeclaredRoute, Effect, Link, Repeatability, RouteAttributes};
pub use call::{Call, ProvesAccess, RoutedRequest};
pub use contract::{Contract, Pages, Target};
pub use list::Routes;
pub use marketplace_macros::routes;
pub use path::Path;
pub use tool::{ChoiceValues, MultiTool, TeamTextIn, Tool, ToolText, Toolset};
