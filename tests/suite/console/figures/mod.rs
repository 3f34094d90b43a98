//! Figures of the market: they agree with the lists of the operator API and with the aggregates of agents, and files have the
//! numbers of the tables.

mod pages;
mod sums;

use std::collections::BTreeMap;

use marketplace::domain::{figures::Step, time::Timestamp};

use super::OPERATOR;
use crate::harness::{browser::Browser, csv};

const FIGURES: [&str; 9] = [
    "catalog-growth",
    "sales",
    "best-sellers",
    "prices",
    "check-results",
    "review-times",
    "languages",
    "job-times",
    "active-teams",
];

/// A range: the query, the first moment, the first moment after the end, and the steps.
struct Range {
    query: &'static str,
    since: &'static str,
    end: &'static str,
    step: Step,
}

const RANGES: [Range; 6] = [
    Range { query: "range=30-days", since: "2026-01-31T", end: "9", step: Step::Day },
    Range { query: "range=90-days", since: "2025-12-02T", end: "9", step: Step::Week },
    Range { query: "", since: "2025-04-01T", end: "9", step: Step::Month },
    Range { query: "range=all", since: "", end: "9", step: Step::Month },
    Range { query: "from=2025-07&to=2025-12", since: "2025-07-01T", end: "2026-01-01T", step: Step::Month },
    Range { query: "from=2025-09&to=2025-09", since: "2025-09-01T", end: "2025-10-01T", step: Step::Day },
];

impl Range {
    fn has(&self, at: &str) -> bool {
        at >= self.since && at < self.end
    }

    fn step_of(&self, at: &str) -> String {
        self.step.name_of(Timestamp::parse(at).unwrap())
    }
}

/// Numbers by group and by series, as in a file.
type Numbers = BTreeMap<Vec<String>, Vec<String>>;

/// Returns the rows of the file of a figure, without its heads.
async fn file(browser: &Browser<'_>, figure: &str, query: &str) -> Vec<Vec<String>> {
    let page = browser.get(&format!("/console/operator/figures/{figure}?{query}&format=csv")).await;
    page.expect(200, ",");
    assert_eq!(page.response.header("content-type"), "text/csv; charset=utf-8");
    csv::rows(&page.text).split_off(1)
}

/// Returns the numbers of a figure. The first `keys` columns are the group and the series.
async fn numbers(browser: &Browser<'_>, figure: &str, query: &str, keys: usize) -> Numbers {
    let rows = file(browser, figure, query).await;
    let count = rows.len();
    let numbers: Numbers = rows
        .into_iter()
        .map(|mut row| {
            let values = row.split_off(keys);
            (row, values)
        })
        .collect();
    assert_eq!(numbers.len(), count, "{figure} has a group twice");
    numbers
}
