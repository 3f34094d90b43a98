//! JSON types that several route files share. They define both the JSON and its schema in the documents.

pub mod assets;
pub mod listing_pages;
pub mod listings;
pub mod opportunities;
pub mod scalars;
pub mod slices;
pub mod taxonomy;
pub mod texts;
mod time;

pub use time::{CalendarDay, UtcTime};
