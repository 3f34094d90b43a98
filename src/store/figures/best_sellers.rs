//! The figure of the best-selling listings.

use super::figure::{Axis, Figure, Unit, Value};

/// Completed purchases, by their listings. The sums over all listings equal those of [`SALES`](super::sales::SALES).
pub static BEST_SELLERS: Figure = Figure {
    name: "best-sellers",
    title: "Best-selling listings",
    explanation: "Completed purchases that were paid in the range, without those that were refunded, by their listings and vendors. \
                  Listings of a vendor with the same title count together.",
    by: Axis::Names {
        head: "Listing",
        is_on_wire: false,
        sql: "l.title || char(31) || t.name",
        // Two vendors can have the same name.
        key: "l.team, l.title",
    },
    series: None,
    values: &[
        Value::drawn("Sum of prices (USD)", Unit::Cents, "sum(p.price_cents)"),
        Value::listed("Sales", Unit::Count, "count(*)"),
        Value::listed("Earnings of vendors (USD)", Unit::Cents, "sum(p.price_cents - p.platform_fee_cents)"),
        Value::listed(
            "Fees of the market (USD)",
            Unit::Cents,
            "sum(p.platform_fee_cents + p.buyer_fee_cents)",
        ),
    ],
    source: "purchases p JOIN listings l ON l.id = p.listing JOIN teams t ON t.id = l.team WHERE p.status = 'completed'",
    at: "p.paid_at",
};
