//! Tests of the index through its public API, against simple models and under adverse conditions.

mod cursors;
mod damage;
mod directory;
mod durability;
mod formats;
mod large;
mod market;
mod model;
mod pages;
mod recent;
mod text;
