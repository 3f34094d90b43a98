//! JSON shapes that more than one route file uses. What they look like in the documents is what they look like in answers.

pub mod listings;
pub mod taxonomy;
mod time;

pub use time::UtcTime;
