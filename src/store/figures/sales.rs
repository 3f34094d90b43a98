//! What was sold, and what vendors earned with it.

use super::figure::{Axis, Figure, Series, Totals, Unit, Value};

/// Completed purchases, by the time of their payment and their kinds.
pub static SALES: Figure = Figure {
    name: "sales",
    title: "Sales and earnings",
    explanation: "Completed purchases by the time at which they were paid, without those that were refunded. What vendors earn \
                  is the price without the fee that the market deducts; buyers may pay another fee in addition.",
    by: Axis::Time,
    series: Some(Series {
        head: "Kind of purchase",
        sql: "kind",
        totals: Totals::Columns("p.kind, p.price_cents, p.platform_fee_cents, p.buyer_fee_cents"),
    }),
    values: &[
        Value::listed("Sales", Unit::Count, "count(*)"),
        Value::drawn("Sum of prices (USD)", Unit::Cents, "sum(price_cents)"),
        Value::drawn("Earnings of vendors (USD)", Unit::Cents, "sum(price_cents - platform_fee_cents)"),
        Value::listed("Fees of the market (USD)", Unit::Cents, "sum(platform_fee_cents + buyer_fee_cents)"),
    ],
    source: "purchases p WHERE p.status = 'completed'",
    at: "p.paid_at",
};
