//! The wallet's ledger: double entry, append-only, always summing to zero.

use super::{deals::PurchaseKind, money::Cents, vocabulary::vocabulary};

vocabulary! {
    /// Why money moved.
    EntryType {
        /// A full purchase.
        Sale = "sale",
        /// A purchased sample.
        SampleSale = "sample_sale",
        /// A purchase by an accepted bid.
        AcceptedBidSale = "accepted_bid_sale",
        /// The platform's part of a sale.
        PlatformFee = "platform_fee",
        /// A purchase paid back.
        Refund = "refund",
        /// Available earnings turned into credits.
        CreditConversion = "credit_conversion",
        /// Available earnings paid out.
        Withdrawal = "withdrawal",
        /// Credits given or taken by the platform.
        Adjustment = "adjustment",
    }
}

/// Where money is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// A team's credits, to spend in the market.
    Credits,
    /// A team's earnings.
    Earnings,
    /// The platform's own money.
    Platform,
    /// What buyers paid in from outside; below zero by nature.
    Payments,
    /// What was paid out to vendors.
    Payouts,
}

impl Account {
    /// The account's name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Account::Credits => "credits",
            Account::Earnings => "earnings",
            Account::Platform => "platform",
            Account::Payments => "payments",
            Account::Payouts => "payouts",
        }
    }

    /// Whether each team has its own.
    pub const fn is_a_teams(self) -> bool {
        matches!(self, Account::Credits | Account::Earnings)
    }
}

/// What an entry does to an account.
pub type Posting = (Account, Cents);

/// The postings of a movement that no purchase explains, or nothing where `kind` belongs to a purchase.
pub fn movement(kind: EntryType, amount: Cents) -> Option<[Posting; 2]> {
    let (from, to) = match kind {
        EntryType::Adjustment => (Account::Platform, Account::Credits),
        EntryType::CreditConversion => (Account::Earnings, Account::Credits),
        EntryType::Withdrawal => (Account::Earnings, Account::Payouts),
        _ => return None,
    };
    Some([(from, Cents(-amount.0)), (to, amount)])
}

/// The postings of a paid purchase: the price goes to the vendor and the buyer's fee to the platform.
pub fn sale(price: Cents, buyer_fee: Cents) -> [Posting; 3] {
    [
        (Account::Payments, Cents(-price.0 - buyer_fee.0)),
        (Account::Earnings, price),
        (Account::Platform, buyer_fee),
    ]
}

/// The postings of the platform's part of a sale.
pub fn platform_fee(fee: Cents) -> [Posting; 2] {
    [(Account::Earnings, Cents(-fee.0)), (Account::Platform, fee)]
}

/// The postings that undo a sale and its platform fee.
pub fn refund(price: Cents, buyer_fee: Cents, fee: Cents) -> [Posting; 3] {
    [
        (Account::Payments, Cents(price.0 + buyer_fee.0)),
        (Account::Earnings, Cents(fee.0 - price.0)),
        (Account::Platform, Cents(-buyer_fee.0 - fee.0)),
    ]
}

/// The type of the entry that a paid purchase makes.
pub const fn sale_type(kind: PurchaseKind) -> EntryType {
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
        assert_eq!(sum(&sale(Cents(1000), Cents(50))), 0);
        assert_eq!(sum(&platform_fee(Cents(100))), 0);
        assert_eq!(sum(&refund(Cents(1000), Cents(50), Cents(100))), 0);
        for kind in [EntryType::Adjustment, EntryType::CreditConversion, EntryType::Withdrawal] {
            assert_eq!(sum(&movement(kind, Cents(70)).unwrap()), 0);
        }
        assert_eq!(movement(EntryType::Sale, Cents(1)), None);
    }
}
