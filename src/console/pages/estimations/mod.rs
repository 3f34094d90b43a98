//! Estimations: what repositories might be worth, before anything is sold.

pub mod add;
pub mod detail;
pub mod list;
pub mod new;
pub mod quotes;

use crate::{
    console::{
        parts::charts::{self, Bar, Chart},
        prelude::*,
    },
    domain::estimations::{Bin, Estimation, EstimationStatus},
};

/// Returns the look and the words of a status.
const fn status_words(status: EstimationStatus) -> (Tone, &'static str) {
    match status {
        EstimationStatus::Pending => (Tone::Waiting, "Being measured"),
        EstimationStatus::Estimated => (Tone::Good, "Quote ready"),
        EstimationStatus::Unpriced => (Tone::Neutral, "No price"),
        EstimationStatus::Failed => (Tone::Bad, "Not readable"),
    }
}

/// Returns a quote in words, such as `$12,000.00 to $18,000.50`.
fn quote(estimation: &Estimation) -> String {
    estimation.quote.map_or_else(
        || text::MISSING.to_owned(),
        |(low, high)| format!("{} to {}", text::money(low), text::money(high)),
    )
}

/// Shows how many quotes begin in each range.
fn distribution(bins: &[Bin]) -> Markup {
    let bar = |bin: &Bin| {
        let (low, high) = (text::short_money(bin.low), text::short_money(bin.high));
        Bar {
            label: format!("{low} to {high}"),
            short: charts::amount_tick(bin.low.0),
            value: Some(i64::try_from(bin.count).unwrap_or(i64::MAX)),
        }
    };
    let count = |count: i64| text::grouped(count.unsigned_abs());
    let chart = Chart {
        title: "Quotes by their lower end",
        note: "Number of repositories. The lower end of the quotes, USD, stands below the bars.",
        heads: ["Lower end of the quote, USD", "Repositories"],
        text: count,
        tick: count,
        unit: 1,
    };
    chart.show(&bins.iter().map(bar).collect::<Vec<_>>())
}
