//! Organizations and what they may do in the market.

use super::vocabulary::vocabulary;

vocabulary! {
    /// What a team may do in the market.
    Role {
        /// Offers data.
        Vendor = "vendor",
        /// Looks for data.
        Buyer = "buyer",
    }
}
