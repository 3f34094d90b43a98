//! Tests of the query plans of the lists of teams: no list reads the records of other teams.

use rusqlite::types::Value as SqlValue;
use serde_json::{Value, json};

use super::{
    Filters, FromRow, TeamRecords,
    bulk_changes::BULK_CHANGES,
    credit_purchases::CREDIT_PURCHASES,
    estimations::ESTIMATIONS,
    grants::TEAM_GRANTS,
    keys::KEYS,
    notifications::NOTIFICATIONS,
    offers::{OFFERS, RECEIVED_OFFERS},
    opportunities::OPPORTUNITIES,
    project_bids::PROJECT_BIDS,
    purchases::PURCHASES,
    quality_runs::QUALITY_RUNS,
    sales::SALES,
    wallet_entries::{CREDIT_ENTRIES, EARNINGS_ENTRIES},
    webhook_deliveries::WEBHOOK_DELIVERIES,
    webhooks::WEBHOOKS,
    withdrawals::WITHDRAWALS,
};
use crate::{
    domain::{teams::TeamRowId, time::Timestamp},
    store::records::{
        pages::{Start, TeamPageRequest},
        query_plans::{Access, check_recorded, with_reader},
    },
};

/// Any row. The tests read none.
struct AnyRow;

impl FromRow for AnyRow {
    fn from_row(row: &rusqlite::Row) -> rusqlite::Result<AnyRow> {
        row.get::<_, SqlValue>(0).map(|_| AnyRow)
    }
}

const LISTS: [&TeamRecords; 18] = [
    &BULK_CHANGES,
    &PURCHASES,
    &SALES,
    &OFFERS,
    &RECEIVED_OFFERS,
    &OPPORTUNITIES,
    &PROJECT_BIDS,
    &QUALITY_RUNS,
    &ESTIMATIONS,
    &CREDIT_ENTRIES,
    &EARNINGS_ENTRIES,
    &CREDIT_PURCHASES,
    &WITHDRAWALS,
    &NOTIFICATIONS,
    &WEBHOOKS,
    &WEBHOOK_DELIVERIES,
    &KEYS,
    &TEAM_GRANTS,
];

/// Parts of the steps that find the records of one team, or of what the filter names.
const OF_TEAM: [&str; 6] = ["(team=?", " AND team=?", "(buyer=?", "(owner=?", "(listing=?", "(webhook=?"];

/// Returns a value for each filter.
fn value(name: &str) -> Value {
    match name {
        "unread" => json!(true),
        "status" => json!("open"),
        "result" => json!("failed"),
        "since" | "end" => json!(1_000),
        "listing" | "webhook" => json!("00000000-0000-0000-0000-000000000000"),
        _ => json!("x"),
    }
}

#[test]
fn lists_read_the_records_of_the_team() {
    with_reader(|reader| {
        for list in LISTS {
            let names = list.records.filters.iter().map(|(name, _)| *name);
            for filter in names.map(Some).chain([None]) {
                for start in [Start::Newest, Start::Below(1_000), Start::Above(1_000)] {
                    let filters = filter
                        .map_or_else(Filters::default, |name| Filters::default().with(name, value(name)));
                    check_recorded(Access::ByIndex, &OF_TEAM, || {
                        let request = TeamPageRequest { start, limit: 24, counts: true };
                        list.page::<AnyRow>(reader, TeamRowId(7), Timestamp(0), &filters, request).unwrap();
                    });
                }
            }
        }
    });
}

#[test]
fn unknown_filter_is_an_error() {
    with_reader(|reader| {
        let filters = Filters::default().with("title", "x");
        let request = TeamPageRequest { start: Start::Newest, limit: 24, counts: false };
        let page = PURCHASES.page::<AnyRow>(reader, TeamRowId(7), Timestamp(0), &filters, request);
        assert!(page.is_err());
    });
}
