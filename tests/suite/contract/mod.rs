//! What holds for the whole program, whatever the resource.

mod buyer_rows;
mod documents;
mod kill;
mod kill_jobs;
mod layering;
mod limits;
mod operations;
mod queries;
pub mod rows;
mod schema;
mod several;
mod surface;
pub mod vendor_rows;
mod writes;
