//! Purchases of credits as a pure state machine.

use super::{money::Cents, state_machine::state_machine};
use crate::string_enum::string_enum;

/// Maximum amount of a purchase of credits that a team requests: a million US dollars.
pub const MAX_REQUESTED_AMOUNT: Cents = Cents(100_000_000);

/// Maximum number of pending purchases of credits of a team.
pub const MAX_PENDING: u64 = 10;

string_enum! {
    /// The status of a credit purchase.
    CreditPurchaseStatus {
        /// Requested by the team. No credits were added.
        Pending = "pending",
        /// The credits were paid and added.
        Completed = "completed",
        /// The platform rejected the request.
        Rejected = "rejected",
        /// The team canceled the request.
        Cancelled = "cancelled",
    }
}

string_enum! {
    /// An operation on a credit purchase that was requested.
    CreditPurchaseOperation {
        /// The platform got the payment, and adds the credits.
        Complete = "complete",
        /// The platform rejects the request.
        Reject = "reject",
        /// The team cancels the request.
        Cancel = "cancel",
    }
}

state_machine! {
    CreditPurchaseStatus by CreditPurchaseOperation;
    Pending: Complete => Completed, Reject => Rejected, Cancel => Cancelled;
}
