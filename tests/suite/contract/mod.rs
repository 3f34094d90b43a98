//! What holds for the whole program, whatever the resource.

mod layering;
mod schema;
