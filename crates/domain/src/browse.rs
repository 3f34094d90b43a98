//! Sort orders of the catalog.

use crate::string_enum::string_enum;

string_enum! {
    /// A sort order of listings. Ties are ordered by date, newest first, and then by insertion, latest first.
    SortOrder {
        /// Featured listings first if no filter is set, then certified listings, then by date, newest first.
        Recommended = "recommended",
        /// Newest first.
        Recent = "recent",
        /// Lowest price first; listings without a price last.
        PriceLow = "price_low",
        /// Highest price first; listings without a price last.
        PriceHigh = "price_high",
    }
}
