//! The index as its callers see it, against plain models and in hostile circumstances.

mod cursors;
mod folder;
mod large;
mod market;
mod model;
mod pages;
mod text;
