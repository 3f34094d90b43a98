//! Withdrawals of earnings as a pure state machine.

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
    WithdrawalMove {
        /// It was paid.
        Pay = "paid",
        /// It could not be paid.
        Fail = "failed",
    }
}

impl WithdrawalStatus {
    /// Returns the status after a move, or `None` if this status does not allow it.
    pub const fn after(self, decision: WithdrawalMove) -> Option<WithdrawalStatus> {
        match (self, decision) {
            (WithdrawalStatus::Requested, WithdrawalMove::Pay) => Some(WithdrawalStatus::Paid),
            (WithdrawalStatus::Requested, WithdrawalMove::Fail) => Some(WithdrawalStatus::Failed),
            (WithdrawalStatus::Paid | WithdrawalStatus::Failed, _) => None,
        }
    }

    /// Returns the moves that this status allows.
    pub fn allowed_moves(self) -> Vec<WithdrawalMove> {
        WithdrawalMove::ALL.iter().copied().filter(|decision| self.after(*decision).is_some()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_in_every_status() {
        let mut table = String::new();
        for status in WithdrawalStatus::ALL {
            for decision in WithdrawalMove::ALL {
                let after = status.after(*decision).map_or("refused", StringEnum::as_str);
                table += &format!("{} + {} = {after}\n", status.as_str(), decision.as_str());
            }
        }
        insta::assert_snapshot!(table, @r"
        requested + paid = paid
        requested + failed = failed
        paid + paid = refused
        paid + failed = refused
        failed + paid = refused
        failed + failed = refused
        ");
    }
}
