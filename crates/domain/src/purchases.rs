//! Purchases of listings: their state machine, and their costs.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{money::Cents, state_machine::state_machine};
use crate::string_enum::string_enum;

/// Maximum number of assets that a purchase selects.
pub const MAX_SELECTED_ASSETS: usize = 200;

string_enum! {
    /// The status of a purchase.
    PurchaseStatus {
        /// Payment in progress.
        Pending = "pending",
        /// Paid.
        Completed = "completed",
        /// Canceled before payment.
        Cancelled = "cancelled",
        /// Refunded after payment.
        Refunded = "refunded",
    }
}

string_enum! {
    /// The statuses of purchases that were paid, as in [`PurchaseStatus`].
    PaidStatus {
        /// Paid.
        Completed = "completed",
        /// Refunded after payment.
        Refunded = "refunded",
    }
}

string_enum! {
    /// An operation on a purchase that exists.
    PurchaseOperation {
        /// Completes a purchase that is paid.
        Complete = "complete",
        /// Cancels a purchase before payment.
        Cancel = "cancel",
        /// Refunds a paid purchase.
        Refund = "refund",
    }
}

state_machine! {
    PurchaseStatus by PurchaseOperation;
    Pending: Complete => Completed, Cancel => Cancelled;
    Completed: Refund => Refunded;
}

impl PurchaseStatus {
    /// Whether a purchase in this status is in effect: it is paid or can still be paid.
    pub const fn is_in_effect(self) -> bool {
        matches!(self, PurchaseStatus::Pending | PurchaseStatus::Completed)
    }
}

string_enum! {
    /// How a buyer pays.
    PayWith {
        /// With its credits, immediately.
        Credits = "credits",
        /// By an invoice from outside the marketplace.
        Invoice = "invoice",
    }
}

string_enum! {
    /// What a purchase buys.
    PurchaseKind {
        /// The whole listing at its buy-now price.
        Full = "full",
        /// The sample of the listing.
        Sample = "sample",
        /// The whole listing at the price of an accepted bid.
        AcceptedBid = "accepted_bid",
    }
}

impl PurchaseKind {
    /// Whether the purchase covers data of the listing, and not only its sample. Of each of these two kinds, a team has at
    /// most one purchase of a listing that is in effect.
    pub const fn is_of_data(self) -> bool {
        matches!(self, PurchaseKind::Full | PurchaseKind::AcceptedBid)
    }
}

string_enum! {
    /// The assets that a purchase covers.
    ScopeMode {
        /// All assets of the listing.
        All = "all",
        /// A sample of the assets.
        Sample = "sample",
        /// Selected assets.
        Selection = "selection",
    }
}

/// The assets that a purchase covers. Stored as JSON with these names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AssetScope {
    /// Which assets.
    pub mode: ScopeMode,
    /// IDs of the selected assets; empty unless `mode` is [`ScopeMode::Selection`].
    pub asset_ids: Vec<Uuid>,
}

/// What a purchase costs, as of its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charges {
    /// Price before fees.
    pub price: Cents,
    /// Fee that the buyer pays in addition to the price.
    pub buyer_fee: Cents,
    /// Fee that the platform deducts from the vendor's proceeds.
    pub platform_fee: Cents,
}

impl Charges {
    /// Adds the fees, in percent of the price, each rounded by [`Cents::percent`].
    pub fn new(price: Cents, buyer_percent: f64, platform_percent: f64) -> Charges {
        let (buyer_fee, platform_fee) = (price.percent(buyer_percent), price.percent(platform_percent));
        Charges { price, buyer_fee, platform_fee }
    }

    /// Returns what the buyer pays.
    pub const fn total(self) -> Cents {
        Cents(self.price.0 + self.buyer_fee.0)
    }

    /// Returns what the vendor gets.
    pub const fn proceeds(self) -> Cents {
        Cents(self.price.0 - self.platform_fee.0)
    }
}

/// Returns the price of a selection: the sum of the asking prices of its assets, at most the price of the
/// listing.
pub fn selection_price(asking_prices: impl IntoIterator<Item = Cents>, listing_price: Cents) -> Cents {
    let sum = asking_prices.into_iter().fold(0_i64, |sum, price| sum.saturating_add(price.0));
    Cents(sum).min(listing_price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::string_enum::StringEnum;

    #[test]
    fn purchase_stands_until_it_is_canceled_or_refunded() {
        let standing: Vec<_> =
            PurchaseStatus::ALL.iter().copied().filter(|status| status.is_in_effect()).collect();
        assert_eq!(standing, [PurchaseStatus::Pending, PurchaseStatus::Completed]);
    }

    #[test]
    fn buyer_pays_the_fee_on_top_and_the_vendor_from_the_price() {
        let charges = Charges::new(Cents(1010), 5.0, 10.0);
        assert_eq!((charges.total(), charges.proceeds()), (Cents(1061), Cents(909)));
        assert_eq!(Charges::new(Cents(0), 5.0, 10.0).total(), Cents(0));
    }

    #[test]
    fn selection_costs_at_most_the_whole_listing() {
        let price = |prices: &[i64]| selection_price(prices.iter().map(|cents| Cents(*cents)), Cents(500));
        assert_eq!((price(&[100, 250]), price(&[100, 450]), price(&[0])), (Cents(350), Cents(500), Cents(0)));
        assert_eq!(price(&[i64::MAX, i64::MAX]), Cents(500));
    }
}
