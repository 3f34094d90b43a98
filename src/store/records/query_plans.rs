//! Tests of the query plans of operators' lists: a page with one filter reads about as many rows as it returns, however many
//! there are.

use std::cell::RefCell;

use rusqlite::ToSql;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    Filters, Reader, Records,
    assets::ASSETS,
    audit::AUDIT,
    credit_purchases::CREDIT_PURCHASES,
    estimations::ESTIMATIONS,
    grants::GRANTS,
    keys::TEAM_KEYS,
    ledger::{ADJUSTMENTS, CONVERSIONS, LEDGER_ENTRIES},
    listings::LISTINGS,
    notifications::NOTIFICATIONS,
    offers::OFFERS,
    opportunities::{OPPORTUNITIES, PROJECT_OPPORTUNITIES},
    pages::PageRequest,
    project_bids::PROJECT_BIDS,
    purchases::PURCHASES,
    quality_runs::QUALITY_RUNS,
    tasksets::TASKSETS,
    teams::TEAMS,
    webhook_deliveries::WEBHOOK_DELIVERIES,
    webhooks::WEBHOOKS,
    withdrawals::WITHDRAWALS,
};
use crate::{
    domain::{
        assets::Kind,
        credit_purchases::CreditPurchaseStatus,
        estimations::EstimationStatus,
        events::EventType,
        grants::GrantState,
        ledger::EntryType,
        listings::{CatalogStatus, LifecycleStage, ReviewStatus},
        notifications::NotificationType,
        offers::OfferStatus,
        opportunities::{BidStatus, OpportunityStatus},
        purchases::{PurchaseKind, PurchaseStatus},
        quality_runs::RunStatus,
        stages::Stage,
        teams::Role,
        time::Timestamp,
        webhooks::{DeliveryStatus, WebhookStatus},
        withdrawals::WithdrawalStatus,
    },
    store::Store,
    string_enum::StringEnum,
};

/// A statement of a list.
#[derive(Debug)]
struct Plan {
    sql: String,
    steps: Vec<String>,
}

thread_local! {
    static PLANS: RefCell<Vec<Plan>> = const { RefCell::new(Vec::new()) };
}

/// Records the query plan of a statement that a list executes in this thread.
pub(super) fn record(reader: &Reader, sql: &str, parameters: &[&dyn ToSql]) {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    // Subqueries of columns read a few rows for each one on the page, such as the assets of a purchase.
    let mut of_columns: Vec<i64> = Vec::new();
    let mut steps = Vec::new();
    let read = |row: &rusqlite::Row| Ok((row.get("id")?, row.get("parent")?, row.get("detail")?));
    let rows: Vec<(i64, i64, String)> = reader.query_all(&explain, parameters, read).unwrap();
    for (id, parent, step) in rows {
        if step.starts_with("CORRELATED") || of_columns.contains(&parent) {
            of_columns.push(id);
        } else {
            steps.push(step);
        }
    }
    PLANS.with_borrow_mut(|plans| plans.push(Plan { sql: sql.to_owned(), steps }));
}

/// Any row. The tests read none.
#[derive(Deserialize)]
struct AnyRow {}

/// Returns the plans of the first page of a list, of its count, and of a later page.
fn plans(reader: &Reader, records: &'static Records, filters: &Filters) -> Vec<Plan> {
    PLANS.take();
    for before in [None, Some(1_000)] {
        records.page::<AnyRow>(reader, Timestamp(0), filters, PageRequest { before, limit: 24 }).unwrap();
    }
    PLANS.take()
}

/// How the rows of a list are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// In the order of the page, which ends when it is full.
    InOrder,
    /// By an index, in the order of the page.
    ByIndexInOrder,
    /// By an index. The rows belong to one record, such as a team, and may be sorted.
    ByIndex,
}

/// Checks how a list with a filter finds its rows.
fn check(reader: &Reader, records: &'static Records, filters: &Filters, access: Access) {
    check_plans(&plans(reader, records, filters), access);
}

/// Checks how the statements that `work` executes in this thread find their rows. Each of them must have a step that contains
/// one of these texts.
pub(super) fn check_recorded(access: Access, has_step: &[&str], work: impl FnOnce()) {
    PLANS.take();
    work();
    let plans = PLANS.take();
    for Plan { sql, steps } in &plans {
        let is_found = steps.iter().any(|step| has_step.iter().any(|text| step.contains(text)));
        assert!(is_found, "{sql}\n{steps:#?}");
    }
    check_plans(&plans, access);
}

fn check_plans(plans: &[Plan], access: Access) {
    for Plan { sql, steps } in plans {
        let is_scan = |step: &String| {
            step.starts_with("SCAN") && !step.starts_with("SCAN (subquery-") || step.ends_with("(rowid<?)")
        };
        assert!(access == Access::InOrder || !steps.iter().any(is_scan), "{sql}\n{steps:#?}");
        let is_sort = |step: &String| step == "USE TEMP B-TREE FOR ORDER BY";
        assert!(access == Access::ByIndex || !steps.iter().any(is_sort), "{sql}\n{steps:#?}");
    }
}

/// Returns the filters of a list that is not filtered.
fn all(records: &Records) -> Filters {
    records.filters.iter().fold(Filters::default(), |filters, (name, _)| filters.with(name, Value::Null))
}

/// Filters without an index of their own: each team has a few webhooks, and the list of failing deliveries is opened for one webhook.
const OF_FEW: &[&str] = &["failing"];

/// A list: the filters that are IDs of what the records belong to, and the others with their values.
type List = (&'static Records, &'static [&'static str], Vec<(&'static str, Vec<Value>)>);

/// Checks lists without a filter, and with each of their filters alone.
fn check_lists(lists: &[List]) {
    with_reader(|reader| {
        for (records, owners, values) in lists {
            let mut names: Vec<&str> =
                values.iter().map(|(name, _)| *name).chain(owners.iter().copied()).collect();
            let mut filters: Vec<&str> = records.filters.iter().map(|(name, _)| *name).collect();
            names.sort_unstable();
            filters.sort_unstable();
            assert_eq!(names, filters, "{}", records.name);
            check(reader, records, &all(records), Access::InOrder);
            for owner in *owners {
                check(reader, records, &all(records).with(owner, nil()), Access::ByIndex);
            }
            for (name, value) in
                values.iter().flat_map(|(name, values)| values.iter().map(move |value| (name, value)))
            {
                let is_day = name.ends_with("_from") || name.ends_with("_until");
                let access =
                    if OF_FEW.contains(name) || is_day { Access::InOrder } else { Access::ByIndexInOrder };
                check(reader, records, &all(records).with(name, value.clone()), access);
            }
        }
    });
}

/// Returns an ID that nothing has.
fn nil() -> Value {
    Uuid::nil().to_string().into()
}

/// Returns all values of an enum.
fn each<T: StringEnum>() -> Vec<Value> {
    T::ALL.iter().map(|value| value.as_str().into()).collect()
}

/// Returns values of a filter of days. Such a list is read in its own order, which is nearly the order of the times.
fn any_day() -> Vec<Value> {
    vec!["2026-01-31".into()]
}

/// Returns values of a field that holds any text.
fn any_text() -> Vec<Value> {
    vec!["x".into()]
}

fn both() -> Vec<Value> {
    vec![false.into(), true.into()]
}

pub(super) fn with_reader(test: impl FnOnce(&Reader)) {
    let (_directory, store) = Store::temporary();
    store
        .read(|reader| {
            test(reader);
            Ok(())
        })
        .unwrap();
}

/// Without the lists of small tables: taxonomy, operator keys, and jobs in the queue.
#[test]
fn lists_with_a_filter_scan_no_table() {
    check_lists(&[
        (&ASSETS, &["team_id", "listing_id"], vec![("kind", each::<Kind>()), ("stage", each::<Stage>())]),
        (
            &AUDIT,
            &["operator_key_id", "team_id"],
            vec![
                ("operation", any_text()),
                ("subject_id", any_text()),
                ("occurred_from", any_day()),
                ("occurred_until", any_day()),
            ],
        ),
        (&ESTIMATIONS, &["team_id"], vec![("status", each::<EstimationStatus>())]),
        (&GRANTS, &["team_id"], vec![("status", each::<GrantState>())]),
        (&TEAM_KEYS, &["team_id"], vec![("name", any_text())]),
        (&NOTIFICATIONS, &["team_id"], vec![("type", each::<NotificationType>()), ("unread", both())]),
        (&OPPORTUNITIES, &["team_id"], vec![("status", each::<OpportunityStatus>())]),
        (&PROJECT_OPPORTUNITIES, &["team_id"], vec![("status", each::<OpportunityStatus>())]),
        (&PROJECT_BIDS, &["team_id", "buyer_id", "opportunity_id"], vec![("status", each::<BidStatus>())]),
        (&QUALITY_RUNS, &["team_id", "listing_id", "asset_id"], vec![("status", each::<RunStatus>())]),
        (&TASKSETS, &["team_id"], vec![("name", any_text())]),
        (&TEAMS, &[], vec![("name", any_text()), ("role", each::<Role>()), ("closed", both())]),
        (
            &WEBHOOK_DELIVERIES,
            &["webhook_id"],
            vec![
                ("status", each::<DeliveryStatus>()),
                ("event_type", each::<EventType>()),
                ("failing", both()),
            ],
        ),
        (&WEBHOOKS, &["team_id"], vec![("status", each::<WebhookStatus>()), ("failing", both())]),
    ]);
}

#[test]
fn lists_of_sales_and_money_with_a_filter_scan_no_table() {
    check_lists(&[
        (
            &LISTINGS,
            &["team_id"],
            vec![
                ("title", any_text()),
                ("review_status", each::<ReviewStatus>()),
                ("catalog_status", each::<CatalogStatus>()),
                ("stage", each::<LifecycleStage>()),
                ("exclusive", both()),
                // Few listings are featured, so a list of the other ones finds its rows at once.
                ("featured", Vec::new()),
                ("certified", both()),
            ],
        ),
        (&OFFERS, &["team_id", "vendor_team_id", "listing_id"], vec![("status", each::<OfferStatus>())]),
        (
            &PURCHASES,
            &["team_id", "vendor_team_id", "listing_id"],
            vec![
                ("status", each::<PurchaseStatus>()),
                ("kind", each::<PurchaseKind>()),
                ("paid_from", any_day()),
                ("paid_until", any_day()),
            ],
        ),
        (&CREDIT_PURCHASES, &["team_id"], vec![("status", each::<CreditPurchaseStatus>())]),
        (
            &LEDGER_ENTRIES,
            &["team_id", "purchase_id"],
            vec![
                ("entry_type", each::<EntryType>()),
                ("created_from", any_day()),
                ("created_until", any_day()),
            ],
        ),
        (&ADJUSTMENTS, &["team_id"], Vec::new()),
        (&CONVERSIONS, &["team_id"], Vec::new()),
        (&WITHDRAWALS, &["team_id"], vec![("status", each::<WithdrawalStatus>())]),
    ]);
}

/// An index of a status would read the records of all teams.
#[test]
fn lists_of_a_team_with_a_status_read_those_of_the_team() {
    with_reader(|reader| {
        for (records, team, name, value) in [
            (&OFFERS, "team_id", "status", first::<OfferStatus>()),
            (&PURCHASES, "team_id", "status", first::<PurchaseStatus>()),
            (&PURCHASES, "vendor_team_id", "kind", first::<PurchaseKind>()),
            (&NOTIFICATIONS, "team_id", "type", first::<NotificationType>()),
            (&NOTIFICATIONS, "team_id", "unread", true.into()),
            (&LISTINGS, "team_id", "stage", first::<LifecycleStage>()),
            (&QUALITY_RUNS, "team_id", "status", first::<RunStatus>()),
            (&CREDIT_PURCHASES, "team_id", "status", first::<CreditPurchaseStatus>()),
            (&WITHDRAWALS, "team_id", "status", first::<WithdrawalStatus>()),
            (&ESTIMATIONS, "team_id", "status", first::<EstimationStatus>()),
            (&PROJECT_BIDS, "team_id", "status", first::<BidStatus>()),
            (&ASSETS, "team_id", "stage", first::<Stage>()),
        ] {
            let filters = all(records).with(team, nil()).with(name, value);
            let Plan { sql, steps } = plans(reader, records, &filters).swap_remove(1);
            let is_of_team = |step: &String| step.contains("(team=?") || step.contains("(buyer=?");
            assert!(steps.iter().any(is_of_team), "{sql}\n{steps:#?}");
        }
    });
}

#[test]
fn failing_deliveries_of_a_webhook_have_an_index() {
    with_reader(|reader| {
        let filters = all(&WEBHOOK_DELIVERIES).with("webhook_id", nil()).with("failing", true);
        for Plan { sql, steps } in plans(reader, &WEBHOOK_DELIVERIES, &filters) {
            let is_used = steps.iter().any(|step| step.contains("webhook_deliveries_failing (webhook=?"));
            assert!(is_used, "{sql}\n{steps:#?}");
        }
        check(reader, &WEBHOOK_DELIVERIES, &filters, Access::ByIndexInOrder);
    });
}

/// Otherwise the checks above would notice nothing.
#[test]
fn scan_is_a_step_of_the_plan() {
    with_reader(|reader| {
        let [count, page, later] =
            plans(reader, &OFFERS, &all(&OFFERS)).try_into().expect("three statements");
        assert!(count.steps.iter().any(|step| step.starts_with("SCAN o")), "{count:#?}");
        assert!(page.steps.iter().any(|step| step == "SCAN o"), "{page:#?}");
        assert!(later.steps.iter().any(|step| step.ends_with("(rowid<?)")), "{later:#?}");
    });
}

/// Returns the first value of an enum.
fn first<T: StringEnum>() -> Value {
    each::<T>().swap_remove(0)
}
