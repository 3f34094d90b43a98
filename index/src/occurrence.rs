//! The occurrences of one term in a document.

/// A term of a field, with its positions in a document.
pub(crate) struct Occurrence<'a> {
    /// The field, as a number that does not depend on the segment.
    pub(crate) field: u32,
    /// The bytes of the term.
    pub(crate) term: &'a [u8],
    /// Positions; empty for fields without them.
    pub(crate) positions: &'a [u32],
}
