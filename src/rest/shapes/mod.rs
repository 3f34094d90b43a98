//! JSON shapes that more than one route file uses. What they look like in the documents is what they look like in answers.

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
