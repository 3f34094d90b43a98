//! Pages of operators for the records of a resource: a list with filters and a file, a page for each record, and a page
//! for each change that its state allows.
//!
//! A resource is declared once, by [`Resource`]: where its records are, what is shown of them, and what can be done to them.

mod info;
mod inputs;
mod list;
mod record;
mod record_fields;
mod resource;
mod rows;
mod steps;

pub use self::{
    inputs::{choice, id, ids, number, optional_id, required_number, typed, words},
    record::RecordPage,
    resource::{
        DeriveColumns, Key, Links, Previewed, RecordTitle, RenderFn, Resource, Revealed, Step, path_of,
        refused, yes_or_no,
    },
    rows::{list_row, rows},
    steps::RecordStep,
};
pub use super::described::{FieldFormat, Input, RecordField};
