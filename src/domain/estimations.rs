//! Advisory quotes for repositories.

use super::vocabulary::vocabulary;

vocabulary! {
    /// Where an estimation stands, in the order in which they sort.
    EstimationStatus {
        /// Being worked out.
        Pending = "pending",
        /// A quote is there.
        Estimated = "estimated",
        /// Nothing was measured that could be priced.
        Unpriced = "unpriced",
        /// The source could not be read.
        Failed = "failed",
    }
}
