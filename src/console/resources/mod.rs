//! Pages of operators for the records of a resource: a list with filters and a file, a page for each record, and a page
//! for each change that its state allows.
//!
//! A resource is declared once, by [`Resource`]: where its records are, what is shown of them, and what can be done to them.

mod inputs;
mod list;
mod record;
mod resource;
mod rows;
mod shown;
mod steps;

pub use self::{
    inputs::{Input, choice, day, id, ids, number, optional_id, required_number, tick, typed},
    list::RecordList,
    record::RecordPage,
    resource::{Below, Resource, Revealed, Step, path_of, yes_or_no},
    rows::rows,
    shown::{Shown, Shows},
    steps::{RecordStep, may_act},
};
