//! Browsing: the orders of the catalog.

use super::vocabulary::vocabulary;

vocabulary! {
    /// An order of listings. Ties are broken by date, newer first, then the later inserted first.
    SortOrder {
        /// Featured ones first where nothing is filtered, then certified ones, then by date.
        Recommended = "recommended",
        /// The newest first.
        Recent = "recent",
        /// The cheapest first, those without a price last.
        PriceLow = "price_low",
        /// The dearest first, those without a price last.
        PriceHigh = "price_high",
    }
}
