//! Tests of the query plans of the lists of teams: no list reads the records of other teams.

use rusqlite::types::Value as SqlValue;
use serde_json::{Value, json};

use super::{
    Filters, FromRow, TeamRecord, TeamRecords,
    credit_purchases::TeamCreditPurchase,
    estimations::TeamEstimation,
    offers::{ReceivedOffer, TeamOffer},
    opportunities::TeamOpportunity,
    project_bids::TeamProjectBid,
    purchases::TeamPurchase,
    quality_runs::TeamRun,
    sales::TeamSale,
    wallet_entries::{CreditEntry, EarningsEntry},
    webhook_deliveries::TeamDelivery,
    withdrawals::TeamWithdrawal,
};
use crate::{
    domain::{teams::TeamRowId, time::Timestamp},
    store::{
        bulk_changes::BulkChange,
        notifications::Notification,
        records::{
            grants::GrantRecord,
            keys::TeamKeyRecord,
            pages::{Start, TeamPageRequest},
            query_plans::{Access, check_recorded, with_reader},
        },
        webhooks::Webhook,
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
    BulkChange::LIST,
    TeamPurchase::LIST,
    TeamSale::LIST,
    TeamOffer::LIST,
    ReceivedOffer::LIST,
    TeamOpportunity::LIST,
    TeamProjectBid::LIST,
    TeamRun::LIST,
    TeamEstimation::LIST,
    CreditEntry::LIST,
    EarningsEntry::LIST,
    TeamCreditPurchase::LIST,
    TeamWithdrawal::LIST,
    Notification::LIST,
    Webhook::LIST,
    TeamDelivery::LIST,
    TeamKeyRecord::LIST,
    GrantRecord::LIST,
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
        let page = TeamPurchase::LIST.page::<AnyRow>(reader, TeamRowId(7), Timestamp(0), &filters, request);
        assert!(page.is_err());
    });
}
