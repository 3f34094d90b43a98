//! Arguments of handlers: query parameters, headers, and JSON bodies, parsed by the schemas that document them.

pub mod filter_entries;
pub mod header_argument;
pub mod if_match;
pub mod listing_filters;
pub mod params;
pub mod request_body;
pub mod resolved_schemas;
pub mod schema_marks;
pub mod unknown_names;
