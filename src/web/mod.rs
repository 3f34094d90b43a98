//! Common parts of the APIs, the web app, and the agent server: principals from credentials, budgets and shares, errors,
//! request IDs, and the host of worlds. It knows no resource.

pub(crate) mod accept;
pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod bundle_urls;
pub(crate) mod cors;
pub(crate) mod documented_operations;
pub(crate) mod enum_value;
pub(crate) mod error_layer;
pub(crate) mod hsts;
pub(crate) mod https_redirect;
pub(crate) mod in_process;
pub(crate) mod key_headers;
pub(crate) mod limits;
pub(crate) mod link_base;
pub(crate) mod listening;
pub(crate) mod monitoring;
pub(crate) mod multipart;
pub(crate) mod part_uploads;
pub(crate) mod path_params;
pub(crate) mod positions;
pub(crate) mod problem;
pub(crate) mod reported_uses;
pub(crate) mod request_counts;
pub(crate) mod request_id;
pub(crate) mod request_kinds;
pub(crate) mod responses;
pub(crate) mod sealing;
pub(crate) mod served_market;
pub(crate) mod shared_addresses;
pub(crate) mod shares;
pub(crate) mod trusted_sources;
pub(crate) mod world_host;

// What tests outside of the crate use.
pub use auth::required_access::{Audience, RequiredAccess};
pub use cors::CorsPolicy;
pub use documented_operations::{DocumentedOperation, Outcome};
pub use in_process::Caller;
pub use limits::Budget;
pub use listening::serve;

/// The icon of all pages.
pub const ICON_SVG: &str = include_str!("icon.svg");
