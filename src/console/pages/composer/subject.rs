//! The listing that a form edits, or a new one.

use crate::{
    domain::inventory::Asset,
    operations::{listing_edits::EditedListing, samples::SampleContent},
    store::listings::ListingFields,
};

/// The listing that a form edits, or a new one.
pub(super) struct Subject<'s> {
    /// The listing; `None` for a new one.
    pub(super) edited: Option<&'s EditedListing>,
    /// Its fields.
    pub(super) fields: &'s ListingFields,
    /// Why its texts cannot be changed; `None` if they can.
    pub(super) locked: Option<&'static str>,
    /// The asset that a new listing gets.
    pub(super) asset: Option<&'s Asset>,
    /// The content of the sample, for each asset that the form shows.
    pub(super) contents: &'s [SampleContent],
}
