//! Components that pages are made of. Each is a function to markup, and each piece of the design is here once.

pub mod about;
pub mod asset_prices;
pub mod assets;
pub mod badges;
pub mod balances;
pub mod bars;
pub mod cards;
pub mod charts;
pub mod differences;
pub mod evidence;
pub mod fees;
pub mod fields;
pub mod findings;
pub mod icons;
pub mod job_kinds;
pub mod kinds;
pub mod listing_cells;
pub mod listing_states;
pub mod listing_view;
pub mod markdown;
pub mod samples;
pub mod secrets;
pub mod tables;
pub mod tabs;
pub mod timeline;

pub(crate) use super::text;
