//! JSON types that several route files share. They define both the JSON and its schema in the documents.

mod amounts;
pub mod assets;
pub mod events;
pub mod json_object;
pub mod limit_offset;
pub mod listing_pages;
pub mod listings;
pub mod opportunities;
pub mod scalars;
pub mod strings;
pub mod taxonomy;
mod time;
pub mod uploads;

pub use amounts::{Amount, Money, SignedAmount};
pub use time::{CalendarDay, RequestTime, UtcTime};
