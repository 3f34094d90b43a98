//! Purchases of credits as a pure state machine.

use super::{money::Cents, state_machine::StateMachine};
use crate::string_enum::{StringEnum, string_enum};

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

impl StateMachine for CreditPurchaseStatus {
    type Operation = CreditPurchaseOperation;

    fn name(self) -> &'static str {
        self.as_str()
    }

    fn after(self, operation: CreditPurchaseOperation) -> Option<CreditPurchaseStatus> {
        match (self, operation) {
            (CreditPurchaseStatus::Pending, CreditPurchaseOperation::Complete) => {
                Some(CreditPurchaseStatus::Completed)
            }
            (CreditPurchaseStatus::Pending, CreditPurchaseOperation::Reject) => {
                Some(CreditPurchaseStatus::Rejected)
            }
            (CreditPurchaseStatus::Pending, CreditPurchaseOperation::Cancel) => {
                Some(CreditPurchaseStatus::Cancelled)
            }
            (
                CreditPurchaseStatus::Completed
                | CreditPurchaseStatus::Rejected
                | CreditPurchaseStatus::Cancelled,
                _,
            ) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_machine;

    /// Compares the result of every operation in every status with a committed snapshot.
    #[test]
    fn every_operation_in_every_status() {
        insta::assert_snapshot!(state_machine::table(CreditPurchaseStatus::ALL, |status| status
            .as_str()
            .to_owned()));
    }
}
