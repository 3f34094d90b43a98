//! The wallet's ledger: double entry, append-only, always summing to zero.

use super::vocabulary::vocabulary;

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
