//! Purchases of credits.

use crate::string_enum::string_enum;

string_enum! {
    /// The status of a credit purchase.
    CreditPurchaseStatus {
        /// The credits were paid and added. Credit purchases complete at once.
        Completed = "completed",
    }
}
