//! Withdrawals of earnings as a pure state machine.

use super::state_machine::StateMachine;
use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// The status of a withdrawal.
    WithdrawalStatus {
        /// Requested by the team. The amount has left its earnings.
        Requested = "requested",
        /// Paid to the team by the platform.
        Paid = "paid",
        /// Could not be paid. The amount was posted back.
        Failed = "failed",
    }
}

string_enum! {
    /// A decision of the platform about a withdrawal that was requested.
    WithdrawalOperation {
        /// It was paid.
        Pay = "paid",
        /// It could not be paid.
        Fail = "failed",
    }
}

impl StateMachine for WithdrawalStatus {
    type Operation = WithdrawalOperation;

    fn name(self) -> &'static str {
        self.as_str()
    }

    fn after(self, operation: WithdrawalOperation) -> Option<WithdrawalStatus> {
        match (self, operation) {
            (WithdrawalStatus::Requested, WithdrawalOperation::Pay) => Some(WithdrawalStatus::Paid),
            (WithdrawalStatus::Requested, WithdrawalOperation::Fail) => Some(WithdrawalStatus::Failed),
            (WithdrawalStatus::Paid | WithdrawalStatus::Failed, _) => None,
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
        insta::assert_snapshot!(state_machine::table(WithdrawalStatus::ALL, |status| status
            .as_str()
            .to_owned()));
    }
}
