//! Sales before they are made: the sold assets, and the price.

use crate::{
    config::Settings,
    domain::{
        money::Cents,
        purchases::{AssetScope, Charges, PayWith, PurchaseKind},
        row_ids::OfferRowId,
        teams::TeamRowId,
    },
    store::listings::ListingRow,
};

/// A sale that is about to be made.
#[derive(Clone, Debug)]
pub struct Sale<'a> {
    /// The listing.
    pub listing: &'a ListingRow,
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// What is bought.
    pub kind: PurchaseKind,
    /// Row ID of the accepted offer; `Some` only for purchases by accepted bid.
    pub offer: Option<OfferRowId>,
    /// The assets that it covers.
    pub scope: AssetScope,
    /// Price before fees.
    pub price: Cents,
    /// How the buyer pays.
    pub pay_with: PayWith,
}

impl Sale<'_> {
    /// Whether it is an exclusive sale once it is completed.
    pub const fn is_exclusive(&self) -> bool {
        self.listing.is_exclusive && self.kind.is_of_data()
    }
}

/// Returns what a purchase at this price costs now.
pub fn charges(settings: &Settings, price: Cents) -> Charges {
    let fees = &settings.fees;
    Charges::new(price, fees.buyer_percent, fees.platform_percent)
}
