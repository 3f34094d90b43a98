//! The wallet ledger: double-entry and append-only. The postings of each entry sum to zero.

use super::{money::Cents, purchases::PurchaseKind};
use crate::string_enum::string_enum;

string_enum! {
    /// The reason of a ledger entry.
    EntryType {
        /// Purchase of a whole listing.
        Sale = "sale",
        /// Purchase of a sample.
        SampleSale = "sample_sale",
        /// Purchase at the price of an accepted bid.
        AcceptedBidSale = "accepted_bid_sale",
        /// The platform's share of a sale.
        PlatformFee = "platform_fee",
        /// Refund of a purchase.
        Refund = "refund",
        /// Conversion of available earnings into credits.
        CreditConversion = "credit_conversion",
        /// Payout of available earnings.
        Withdrawal = "withdrawal",
        /// Correction of a team's credits by the platform, for instance a grant or a deduction.
        Adjustment = "adjustment",
    }
}

/// A ledger account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// A team's credits, which it can spend in the marketplace.
    Credits,
    /// A team's earnings from sales.
    Earnings,
    /// The platform's money.
    Platform,
    /// Payments by buyers from outside the marketplace. Its balance is normally negative.
    Payments,
    /// Payouts to vendors.
    Payouts,
}

impl Account {
    /// Returns the account name that the database stores.
    pub const fn name(self) -> &'static str {
        match self {
            Account::Credits => "credits",
            Account::Earnings => "earnings",
            Account::Platform => "platform",
            Account::Payments => "payments",
            Account::Payouts => "payouts",
        }
    }

    /// Whether each team has its own account of this type.
    pub const fn is_per_team(self) -> bool {
        matches!(self, Account::Credits | Account::Earnings)
    }
}

/// The amount by which an entry changes an account.
pub type Posting = (Account, Cents);

/// Returns the postings of an entry without a purchase, or `None` if entries of this type require a purchase.
pub fn transfer_postings(kind: EntryType, amount: Cents) -> Option<[Posting; 2]> {
    let (from, to) = match kind {
        EntryType::Adjustment => (Account::Platform, Account::Credits),
        EntryType::CreditConversion => (Account::Earnings, Account::Credits),
        EntryType::Withdrawal => (Account::Earnings, Account::Payouts),
        _ => return None,
    };
    Some([(from, Cents(-amount.0)), (to, amount)])
}

/// Returns the postings of a paid purchase: the price goes to the vendor, the buyer's fee to the platform.
pub fn sale_postings(price: Cents, buyer_fee: Cents) -> [Posting; 3] {
    [
        (Account::Payments, Cents(-price.0 - buyer_fee.0)),
        (Account::Earnings, price),
        (Account::Platform, buyer_fee),
    ]
}

/// Returns the postings of the platform fee of a sale.
pub fn platform_fee_postings(fee: Cents) -> [Posting; 2] {
    [(Account::Earnings, Cents(-fee.0)), (Account::Platform, fee)]
}

/// Returns the postings that reverse a sale and its platform fee.
pub fn refund_postings(price: Cents, buyer_fee: Cents, fee: Cents) -> [Posting; 3] {
    [
        (Account::Payments, Cents(price.0 + buyer_fee.0)),
        (Account::Earnings, Cents(fee.0 - price.0)),
        (Account::Platform, Cents(-buyer_fee.0 - fee.0)),
    ]
}

/// Returns the type of the ledger entry that a paid purchase creates.
pub const fn sale_entry_type(kind: PurchaseKind) -> EntryType {
    match kind {
        PurchaseKind::Full => EntryType::Sale,
        PurchaseKind::Sample => EntryType::SampleSale,
        PurchaseKind::AcceptedBid => EntryType::AcceptedBidSale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_sums_to_zero() {
        let sum = |postings: &[Posting]| postings.iter().map(|(_, cents)| cents.0).sum::<i64>();
        assert_eq!(sum(&sale_postings(Cents(1000), Cents(50))), 0);
        assert_eq!(sum(&platform_fee_postings(Cents(100))), 0);
        assert_eq!(sum(&refund_postings(Cents(1000), Cents(50), Cents(100))), 0);
        for kind in [EntryType::Adjustment, EntryType::CreditConversion, EntryType::Withdrawal] {
            assert_eq!(sum(&transfer_postings(kind, Cents(70)).unwrap()), 0);
        }
        assert_eq!(transfer_postings(EntryType::Sale, Cents(1)), None);
    }
}
