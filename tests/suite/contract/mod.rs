//! What holds for the whole program, whatever the resource.

mod documents;
mod layering;
mod schema;
