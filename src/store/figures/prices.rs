//! What listings cost.

use super::{
    catalog_growth::{KINDS, LISTED_ASSETS},
    figure::{Axis, Figure, Unit, Value},
};

/// Bounds between bands of prices, in cents.
const BOUNDS: &[i64] = &[
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
];

/// Listings in the catalog, by their prices and the kinds of their assets.
pub static PRICES: Figure = Figure {
    name: "prices",
    title: "Prices",
    explanation: "Listings that are in the catalog now and were published in the range, by their price. A listing with assets \
                  of several kinds counts once for each kind, and once in all.",
    by: Axis::Bands { head: "Price", bounds: BOUNDS, cents: "l.price_cents" },
    series: Some(KINDS),
    values: &[Value::drawn("Listings", Unit::Count, "count(DISTINCT l.id)")],
    source: LISTED_ASSETS,
    at: "l.published_at",
};
