//! State machines whose states are values without data: the transitions, and the error for an operation that the
//! state does not allow.

use crate::string_enum::StringEnum;

/// The error for an operation that the state does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTransition {
    /// The state.
    pub from: &'static str,
    /// The operations that can be requested in this state.
    pub allowed: Vec<&'static str>,
}

/// A state that operations change.
pub trait StateMachine: Copy + Eq {
    /// The operations.
    type Operation: StringEnum;

    /// Returns the name of the state for error messages.
    fn name(self) -> &'static str;

    /// Returns the state after an operation, or `None` if this state does not allow it.
    fn after(self, operation: Self::Operation) -> Option<Self>;

    /// Whether somebody can request an operation. Due steps perform the others.
    fn can_be_requested(_operation: Self::Operation) -> bool {
        true
    }

    /// Returns the operations that can be requested in this state.
    fn allowed_operations(self) -> Vec<Self::Operation> {
        let operations = Self::Operation::ALL.iter().copied();
        operations.filter(|operation| Self::can_be_requested(*operation) && self.allows(*operation)).collect()
    }

    /// Whether this state allows an operation.
    fn allows(self, operation: Self::Operation) -> bool {
        self.after(operation).is_some()
    }

    /// Returns the state after an operation. Fails if this state does not allow it.
    fn check(self, operation: Self::Operation) -> Result<Self, InvalidTransition> {
        self.after(operation).ok_or_else(|| InvalidTransition {
            from: self.name(),
            allowed: self.allowed_operations().into_iter().map(StringEnum::as_str).collect(),
        })
    }
}

/// Implements [`StateMachine`] for a string enum. Each line has a state, and the operations that it allows with the states after
/// them. Other operations are refused.
macro_rules! state_machine {
    (
        $(#[$meta:meta])* $state:ident by $operation:ident $(, not requested: $($due:ident),+)?;
        $($from:ident: $($done:ident => $to:ident),+;)+
    ) => {
        $(#[$meta])*
        impl $crate::state_machine::StateMachine for $state {
            type Operation = $operation;

            fn name(self) -> &'static str {
                $crate::string_enum::StringEnum::as_str(self)
            }

            $(fn can_be_requested(operation: $operation) -> bool {
                !matches!(operation, $($operation::$due)|+)
            })?

            fn after(self, operation: $operation) -> Option<$state> {
                match (self, operation) {
                    $($(($state::$from, $operation::$done) => Some($state::$to),)+)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use state_machine;

/// Returns a table of every operation in every state, for a committed snapshot.
#[cfg(test)]
pub fn table<S: StateMachine>(states: &[S], describe: impl Fn(S) -> String) -> String {
    use std::fmt::Write as _;
    let mut table = String::new();
    for state in states {
        let allowed: Vec<&str> = state.allowed_operations().into_iter().map(StringEnum::as_str).collect();
        writeln!(table, "{} (allowed: {})", describe(*state), allowed.join(", ")).unwrap();
        for operation in S::Operation::ALL {
            let after = match state.after(*operation) {
                None => "refused".to_owned(),
                Some(after) if after == *state => "no change".to_owned(),
                Some(after) => describe(after),
            };
            writeln!(table, "    {}: {after}", operation.as_str()).unwrap();
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        credit_purchases::CreditPurchaseStatus, grants::GrantState, jobs::JobState, keys::KeyStatus,
        offers::OfferStatus, opportunities::OpportunityStatus, purchases::PurchaseStatus,
        quality_runs::RunStatus, withdrawals::WithdrawalStatus,
    };

    /// Compares the result of every operation in every state with a committed snapshot.
    fn compare<S: StateMachine + StringEnum>(name: &str) {
        insta::assert_snapshot!(name, table(S::ALL, |state| state.as_str().to_owned()));
    }

    #[test]
    fn every_operation_in_every_state() {
        compare::<CreditPurchaseStatus>("credit_purchases");
        compare::<GrantState>("grants");
        compare::<JobState>("jobs");
        compare::<KeyStatus>("keys");
        compare::<OfferStatus>("offers");
        compare::<OpportunityStatus>("opportunity_lifecycle");
        compare::<PurchaseStatus>("purchases");
        compare::<RunStatus>("quality_runs");
        compare::<WithdrawalStatus>("withdrawals");
    }
}
