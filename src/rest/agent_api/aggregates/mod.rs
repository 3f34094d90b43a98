//! Counts, sums, and medians over lists, by up to two properties: one operation, which each list of a table has.

mod filters;
mod list;
mod lists;
mod operation;
mod output;
mod tool;

pub use operation::AggregatesApi;
