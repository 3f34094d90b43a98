//! Composing listings: the form, the listing as buyers see it, and attaching assets of the inventory.

pub mod assets;
mod attached;
mod candidates;
pub mod compose;
mod field_names;
mod form;
mod found;
pub mod preview;
mod read;
mod sample;
mod subject;
