//! Offers: bids of buyers on listings. What each operation does in each status, and the amounts that are allowed.

use super::{money::Cents, state_machine::StateMachine};
use crate::string_enum::{StringEnum, string_enum};

/// Maximum amount of an offer: 100 million dollars.
pub const MAX_AMOUNT: Cents = Cents(10_000_000_000);

string_enum! {
    /// The status of a bid on a listing.
    OfferStatus {
        /// Waiting for the vendor's decision. Only submitted bids are active.
        Submitted = "submitted",
        /// Accepted by the vendor.
        Accepted = "accepted",
        /// Declined by the vendor.
        Declined = "declined",
        /// Withdrawn by the buyer.
        Withdrawn = "withdrawn",
        /// Expired without a decision.
        Expired = "expired",
    }
}

string_enum! {
    /// An operation on an offer that exists.
    OfferOperation {
        /// Changes the amount, or how the buyer pays.
        Change = "change",
        /// Withdraws the offer, for the buyer.
        Withdraw = "withdraw",
        /// Accepts the offer, for the vendor.
        Accept = "accept",
        /// Declines the offer, for the vendor.
        Decline = "decline",
        /// Ends an offer that was not decided in time.
        Expire = "expire",
    }
}

/// Every decision is final.
impl StateMachine for OfferStatus {
    type Operation = OfferOperation;

    fn name(self) -> &'static str {
        self.as_str()
    }

    fn can_be_requested(operation: OfferOperation) -> bool {
        operation != OfferOperation::Expire
    }

    fn after(self, operation: OfferOperation) -> Option<OfferStatus> {
        use {OfferOperation as O, OfferStatus as S};
        match (self, operation) {
            (S::Submitted, O::Change) => Some(S::Submitted),
            (S::Submitted, O::Withdraw) => Some(S::Withdrawn),
            (S::Submitted, O::Accept) => Some(S::Accepted),
            (S::Submitted, O::Decline) => Some(S::Declined),
            (S::Submitted, O::Expire) => Some(S::Expired),
            (S::Accepted | S::Declined | S::Withdrawn | S::Expired, _) => None,
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
        insta::assert_snapshot!(state_machine::table(OfferStatus::ALL, |status| status.as_str().to_owned()));
    }

    #[test]
    fn only_submitted_offers_can_be_changed_or_decided() {
        for status in OfferStatus::ALL {
            let expected = if *status == OfferStatus::Submitted { OfferOperation::ALL } else { &[] };
            let allowed: Vec<_> =
                OfferOperation::ALL.iter().copied().filter(|operation| status.allows(*operation)).collect();
            assert_eq!(allowed, expected, "{}", status.as_str());
        }
    }
}
