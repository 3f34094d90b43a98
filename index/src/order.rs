//! Sort orders: a document's sort key in each, and positions from which to continue.
//!
//! A sort key is four numbers; larger keys come first. The last number is the row ID of the listing, so no
//! two listings in an index have the same key, and the position after a listing is simply its key.

use crate::measure::Measure;
use crate::numeric::{self, NumericColumn, StateBits};

/// Sort order of search results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Certified listings first, then the newest. A market search without text and filters starts with the
    /// featured listings, in their curated order.
    #[default]
    Recommended,
    /// Newest first.
    Recent,
    /// Cheapest first; listings without a price last.
    PriceLow,
    /// Most expensive first; listings without a price last.
    PriceHigh,
}

/// The sort orders, with a separate one for featured listings first. Each is stored in every segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Featured,
    Recommended,
    Recent,
    PriceLow,
    PriceHigh,
}

/// Sort key of a document in an order; larger keys come first.
pub(crate) type SortKey = [u64; 4];

/// A position in an order, directly after a listing. It stays valid while listings are added and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub(crate) key: SortKey,
    pub(crate) as_of: u64,
}

impl Position {
    /// Returns the number of the last change in the snapshot that returned the first page. If later pages
    /// order listings by their values as of that change, each listing is on one page. It is 0 if a cursor of
    /// an earlier version, which did not contain it, was decoded.
    pub const fn as_of(&self) -> u64 {
        self.as_of
    }
}

/// The values of a listing that orders compare, and that can change while the listing is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortValues {
    /// Whether the listing is certified.
    pub certified: bool,
    /// Rank among the featured listings, from 1; absent if the listing is not featured.
    pub featured: Option<u32>,
    /// Buy-now price in cents.
    pub price: Option<u64>,
}

impl Order {
    pub(crate) const ALL: [Order; 5] =
        [Order::Featured, Order::Recommended, Order::Recent, Order::PriceLow, Order::PriceHigh];

    /// Returns the order of a search; `is_unfiltered` means a market search without text and filters.
    pub(crate) const fn for_search(sort: Sort, is_unfiltered: bool) -> Order {
        match sort {
            Sort::Recommended if is_unfiltered => Order::Featured,
            Sort::Recommended => Order::Recommended,
            Sort::Recent => Order::Recent,
            Sort::PriceLow => Order::PriceLow,
            Sort::PriceHigh => Order::PriceHigh,
        }
    }

    /// Returns the sort key of a document from its numeric values. `date_column` is the column with the date
    /// to sort by.
    #[inline]
    pub(crate) fn sort_key(
        self,
        date_column: NumericColumn,
        value: impl Fn(NumericColumn) -> u64,
    ) -> SortKey {
        let certified = || u64::from(StateBits::is_certified(value(NumericColumn::State)));
        let price = || value(NumericColumn::Measure(Measure::Price));
        // An absent rank or price is 0 in the columns, and stays the smallest value here.
        let ascending = |value: u64| if value == 0 { 0 } else { u64::MAX - (value - 1) };
        let (first, second) = match self {
            Order::Featured => (ascending(value(NumericColumn::Featured)), certified()),
            Order::Recommended => (0, certified()),
            Order::Recent => (0, 0),
            Order::PriceLow => (ascending(price()), 0),
            Order::PriceHigh => (price(), 0),
        };
        [first, second, value(date_column), value(NumericColumn::Listing)]
    }

    /// Like [`Order::sort_key`], but with other values than those in the columns.
    pub(crate) fn sort_key_with(
        self,
        values: &SortValues,
        date_column: NumericColumn,
        value: impl Fn(NumericColumn) -> u64,
    ) -> SortKey {
        let certified = if values.certified { StateBits::CERTIFIED } else { 0 };
        self.sort_key(date_column, |column| match column {
            NumericColumn::State => value(column) & !StateBits::CERTIFIED | certified,
            NumericColumn::Featured => numeric::encode_option(values.featured.map(u64::from)),
            NumericColumn::Measure(Measure::Price) => numeric::encode_measure(Measure::Price, values.price),
            _ => value(column),
        })
    }
}
