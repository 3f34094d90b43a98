//! The lifecycle of an opportunity, for listings or for a project, as a pure state machine.

use super::opportunities::OpportunityStatus;
use crate::{
    error::{Error, Result},
    string_enum::{StringEnum, string_enum},
};

string_enum! {
    /// An operation on an opportunity that exists.
    Operation {
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

impl OpportunityStatus {
    /// Returns the status after an operation, or `None` if it is not allowed.
    ///
    /// Vendors can read canceled opportunities, so only one that was published can be canceled. A draft that is
    /// given up is closed, which no vendor can see.
    pub const fn after(self, operation: Operation) -> Option<OpportunityStatus> {
        use {Operation as O, OpportunityStatus as S};
        Some(match (operation, self) {
            (O::Update, S::Draft) => S::Draft,
            (O::ExtendDeadline, S::Published) | (O::Publish, S::Draft) => S::Published,
            (O::Exclude, S::Draft | S::Published) => self,
            (O::Close, S::Draft | S::Published) => S::Closed,
            (O::Cancel, S::Published) => S::Cancelled,
            _ => return None,
        })
    }

    /// Returns the operations that are allowed in this status.
    pub fn allowed_operations(self) -> Vec<Operation> {
        Operation::ALL.iter().copied().filter(|operation| self.after(*operation).is_some()).collect()
    }

    /// Returns the status after an operation. Fails with [`Error::InvalidTransition`] if it is not allowed.
    pub fn check(self, operation: Operation) -> Result<OpportunityStatus> {
        self.after(operation).ok_or_else(|| Error::InvalidTransition {
            from: self.as_str(),
            allowed: self.allowed_operations().into_iter().map(StringEnum::as_str).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// Compares the result of every operation in every status with a committed snapshot.
    #[test]
    fn every_operation_in_every_status() {
        let mut table = String::new();
        for status in OpportunityStatus::ALL {
            writeln!(table, "{}", status.as_str()).unwrap();
            for operation in Operation::ALL {
                let result = match status.check(*operation) {
                    Ok(after) => after.as_str().to_owned(),
                    Err(Error::InvalidTransition { from, allowed }) => {
                        format!("refused (from {from}, allowed: {})", allowed.join(", "))
                    }
                    Err(other) => panic!("{other:?}"),
                };
                writeln!(table, "    {}: {result}", operation.as_str()).unwrap();
            }
        }
        insta::assert_snapshot!(table);
    }
}
