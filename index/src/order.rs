//! The sorts: a document's key in each, and positions to continue from.
//!
//! A key is four numbers of which larger ones come earlier. The last is the listing number, so that no two listings of
//! an index have the same key, and a position is simply the key of the listing it stands behind.

use crate::number::{Number, State};

/// How the listings of an answer are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Certified listings first, then the newest. A market search without text and filters leads with the featured
    /// listings in their curated order.
    #[default]
    Recommended,
    /// The newest first.
    Recent,
    /// The cheapest first, those without a price last.
    PriceLow,
    /// The dearest first, those without a price last.
    PriceHigh,
}

/// The sorts with the featured lead told apart: one stored order for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Featured,
    Recommended,
    Recent,
    PriceLow,
    PriceHigh,
}

/// Where a document stands in an order: larger comes earlier.
pub(crate) type Key = [u64; 4];

/// A place in an order, right behind a listing. It stays valid while listings come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub(crate) Key);

impl Order {
    pub(crate) const ALL: [Order; 5] =
        [Order::Featured, Order::Recommended, Order::Recent, Order::PriceLow, Order::PriceHigh];

    /// The order of a search; `bare` when it is a market search that has neither text nor filters.
    pub(crate) const fn of(sort: Sort, bare: bool) -> Order {
        match sort {
            Sort::Recommended if bare => Order::Featured,
            Sort::Recommended => Order::Recommended,
            Sort::Recent => Order::Recent,
            Sort::PriceLow => Order::PriceLow,
            Sort::PriceHigh => Order::PriceHigh,
        }
    }

    /// The key of a document, given its numbers. `dated` says which date counts.
    #[inline]
    pub(crate) fn key(self, dated: Number, number: impl Fn(Number) -> u64) -> Key {
        let certified = || u64::from(State::is_certified(number(Number::State)));
        // An absent place or price is 0 in the columns, and stays the smallest here.
        let rising = |value: u64| if value == 0 { 0 } else { u64::MAX - (value - 1) };
        let (first, second) = match self {
            Order::Featured => (rising(number(Number::Featured)), certified()),
            Order::Recommended => (0, certified()),
            Order::Recent => (0, 0),
            Order::PriceLow => (rising(number(Number::Price)), 0),
            Order::PriceHigh => (number(Number::Price), 0),
        };
        [first, second, number(dated), number(Number::Listing)]
    }
}
