//! What the form of a listing is about.

use crate::{
    operations::{listing_edits::EditedListing, samples::SampleContent},
    store::listings::ListingFields,
};

/// What the form is about.
pub(super) struct Subject<'s> {
    /// The listing; `None` for a new one.
    pub(super) edited: Option<&'s EditedListing>,
    /// Its fields.
    pub(super) fields: &'s ListingFields,
    /// Why its texts cannot be changed; `None` if they can.
    pub(super) locked: Option<&'static str>,
    /// What the sample has, or would have, of each of its assets that the form shows.
    pub(super) contents: &'s [SampleContent],
}
