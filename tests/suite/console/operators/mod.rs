//! Pages of operators. Each declared resource is tested by its declaration.

mod coverage;
mod lists;
mod questions;
mod records;
mod search;
mod start;
mod steps;
mod visibility;

use marketplace::console::{self, ResourceInfo};

/// Returns all resources that are declared.
fn resources() -> Vec<ResourceInfo> {
    console::pages().iter().filter_map(|row| row.resource).map(|describe| describe()).collect()
}
