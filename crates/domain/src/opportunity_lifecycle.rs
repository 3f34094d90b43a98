//! The lifecycle of an opportunity, for listings or for a project, as a pure state machine.

use super::{opportunities::OpportunityStatus, state_machine::StateMachine};
use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// An operation on an opportunity that exists.
    OpportunityOperation {
        /// Replaces any field.
        Update = "update",
        /// Sets a later deadline.
        ExtendDeadline = "extend_deadline",
        /// Excludes teams.
        Exclude = "exclude",
        /// Publishes the opportunity.
        Publish = "publish",
        /// Closes the opportunity to responses.
        Close = "close",
        /// Cancels the opportunity.
        Cancel = "cancel",
    }
}

/// Vendors can read canceled opportunities, so only one that was published can be canceled. A draft that is
/// given up is closed, which no vendor can see.
impl StateMachine for OpportunityStatus {
    type Operation = OpportunityOperation;

    fn name(self) -> &'static str {
        self.as_str()
    }

    fn after(self, operation: OpportunityOperation) -> Option<OpportunityStatus> {
        use {OpportunityOperation as O, OpportunityStatus as S};
        Some(match (operation, self) {
            (O::Update, S::Draft) => S::Draft,
            (O::ExtendDeadline, S::Published) | (O::Publish, S::Draft) => S::Published,
            (O::Exclude, S::Draft | S::Published) => self,
            (O::Close, S::Draft | S::Published) => S::Closed,
            (O::Cancel, S::Published) => S::Cancelled,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_machine;

    /// Compares the result of every operation in every status with a committed snapshot.
    #[test]
    fn every_operation_in_every_status() {
        insta::assert_snapshot!(state_machine::table(OpportunityStatus::ALL, |status| status
            .as_str()
            .to_owned()));
    }
}
