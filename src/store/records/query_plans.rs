//! Tests of the query plans of operators' lists: a page with one filter reads about as many rows as it returns, however many
//! there are.

use std::{cell::RefCell, fmt::Debug};

use rusqlite::ToSql;
use uuid::Uuid;

use super::{
    Reader, Record,
    assets::{AssetFilter, AssetRecord},
    audit::{AuditFilter, AuditRecord},
    credit_purchases::{CreditPurchaseFilter, CreditPurchaseRecord},
    estimations::{EstimationFilter, EstimationRecord},
    grants::{GrantFilter, GrantRecord},
    keys::{TeamKeyFilter, TeamKeyRecord},
    ledger::{AdjustmentRecord, ConversionRecord, CreditsEntryFilter, LedgerEntryFilter, LedgerEntryRecord},
    listings::{ListingFilter, ListingRecord},
    notifications::{NotificationFilter, NotificationRecord},
    offers::{OfferFilter, OfferRecord},
    opportunities::{OpportunityFilter, OpportunityRecord, ProjectOpportunityRecord},
    pages::PageRequest,
    project_bids::{ProjectBidFilter, ProjectBidRecord},
    purchases::{PurchaseFilter, PurchaseRecord},
    quality_runs::{RunFilter, RunRecord},
    tasksets::{TasksetFilter, TasksetRecord},
    teams::{TeamFilter, TeamRecord},
    webhook_deliveries::{DeliveryFilter, DeliveryRecord},
    webhooks::WebhookFilter,
    withdrawals::{WithdrawalFilter, WithdrawalRecord},
};
use crate::{
    domain::time::Timestamp,
    store::{Durability, Store, webhooks::Webhook},
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

/// Returns the plans of the first page of a list, of its count, and of a later page.
fn plans<R: Record>(reader: &Reader, filter: &R::Filter) -> Vec<Plan> {
    PLANS.take();
    for before in [None, Some(1_000)] {
        R::page(reader, filter, PageRequest { before, limit: 24 }).unwrap();
    }
    PLANS.take()
}

/// How the rows of a list are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// In the order of the page, which ends when it is full.
    InOrder,
    /// By an index, in the order of the page.
    ByIndexInOrder,
    /// By an index. The rows belong to one record, such as a team, and may be sorted.
    ByIndex,
}

/// Checks how a list with a filter finds its rows.
fn check<R: Record<Filter: Debug>>(reader: &Reader, filter: &R::Filter, access: Access) {
    for Plan { sql, steps } in plans::<R>(reader, filter) {
        let is_scan = |step: &String| {
            step.starts_with("SCAN") && !step.starts_with("SCAN (subquery-") || step.ends_with("(rowid<?)")
        };
        assert!(access == Access::InOrder || !steps.iter().any(is_scan), "{filter:?}\n{sql}\n{steps:#?}");
        let is_sort = |step: &String| step == "USE TEMP B-TREE FOR ORDER BY";
        assert!(access == Access::ByIndex || !steps.iter().any(is_sort), "{filter:?}\n{sql}\n{steps:#?}");
    }
}

/// Checks the list of a record without a filter, and with each field of its filter alone: the fields in brackets are IDs of
/// what the records belong to, and the others have each of these values. A field of the filter that is not listed does not
/// compile.
macro_rules! check_lists {
    ($reader:ident; $(
        $record:ty, $filter:ident $({ $fixed:ident: $value:expr })? [$($owner:ident),*] { $($field:ident: $values:expr),* }
    )+) => {$(
        let all = || $filter { $($owner: None,)* $($field: None,)* $($fixed: $value,)? };
        check::<$record>($reader, &all(), Access::InOrder);
        $(
            let mut filter = all();
            filter.$owner = Some(Uuid::nil());
            check::<$record>($reader, &filter, Access::ByIndex);
        )*
        $(for value in $values {
            let mut filter = all();
            filter.$field = Some(value);
            check::<$record>($reader, &filter, Access::ByIndexInOrder);
        })*
    )+};
}

/// Returns all values of an enum.
fn each<T: StringEnum>() -> Vec<T> {
    T::ALL.to_vec()
}

/// Returns values of a field that holds any text.
fn any_text() -> [String; 1] {
    ["x".to_owned()]
}

const BOTH: [bool; 2] = [false, true];

fn with_reader(test: impl FnOnce(&Reader)) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("x.sqlite"), 1, Durability::None).unwrap();
    store
        .read(|reader| {
            test(reader);
            Ok(())
        })
        .unwrap();
}

/// Lists of small tables are not among these: taxonomy, operator keys, and jobs, which are those in the queue.
#[test]
fn lists_with_a_filter_scan_no_table() {
    with_reader(|reader| {
        check_lists! { reader;
            AssetRecord, AssetFilter [team, listing] { kind: each(), stage: each() }
            AuditRecord, AuditFilter [key, team] { operation: any_text(), subject: any_text() }
            EstimationRecord, EstimationFilter [team] { status: each() }
            GrantRecord, GrantFilter { now: Timestamp(0) } [team] { state: each() }
            TeamKeyRecord, TeamKeyFilter [team] { name: any_text() }
            NotificationRecord, NotificationFilter [team] { kind: each(), is_unread: BOTH }
            OpportunityRecord, OpportunityFilter [team] { status: each() }
            ProjectOpportunityRecord, OpportunityFilter [team] { status: each() }
            ProjectBidRecord, ProjectBidFilter [team, buyer, opportunity] { status: each() }
            RunRecord, RunFilter [team, listing, asset] { status: each() }
            TasksetRecord, TasksetFilter [team] { name: any_text() }
            TeamRecord, TeamFilter [] { name: any_text(), role: each(), is_closed: BOTH }
            DeliveryRecord, DeliveryFilter [webhook] { status: each(), event_type: each() }
            Webhook, WebhookFilter [team] { status: each() }
        }
    });
}

#[test]
fn lists_of_sales_and_money_with_a_filter_scan_no_table() {
    with_reader(|reader| {
        // Few listings are featured, so a list of the others finds them at once.
        let is_featured: [bool; 0] = [];
        check_lists! { reader;
            ListingRecord, ListingFilter [team] {
                title: any_text(), review_status: each(), catalog_status: each(), stage: each(), is_exclusive: BOTH,
                is_featured: is_featured, is_certified: BOTH
            }
            OfferRecord, OfferFilter [buyer, vendor, listing] { status: each() }
            PurchaseRecord, PurchaseFilter [buyer, vendor, listing] { status: each(), kind: each() }
            CreditPurchaseRecord, CreditPurchaseFilter [team] {}
            LedgerEntryRecord, LedgerEntryFilter [team, purchase] { entry_type: each() }
            AdjustmentRecord, CreditsEntryFilter [team] {}
            ConversionRecord, CreditsEntryFilter [team] {}
            WithdrawalRecord, WithdrawalFilter [team] { status: each() }
        }
    });
}

/// An index of a status would read the records of all teams.
#[test]
fn lists_of_a_team_with_a_status_read_those_of_the_team() {
    with_reader(|reader| {
        let team = Some(Uuid::nil());
        let lists = [
            page::<OfferRecord>(reader, &OfferFilter { buyer: team, status: first(), ..default() }),
            page::<PurchaseRecord>(reader, &PurchaseFilter { buyer: team, status: first(), ..default() }),
            page::<PurchaseRecord>(reader, &PurchaseFilter { vendor: team, kind: first(), ..default() }),
            page::<NotificationRecord>(reader, &NotificationFilter { team, kind: first(), ..default() }),
            page::<NotificationRecord>(
                reader,
                &NotificationFilter { team, is_unread: Some(true), kind: None },
            ),
            page::<ListingRecord>(reader, &ListingFilter { team, stage: first(), ..default() }),
            page::<RunRecord>(reader, &RunFilter { team, status: first(), ..default() }),
            page::<WithdrawalRecord>(reader, &WithdrawalFilter { team, status: first() }),
            page::<EstimationRecord>(reader, &EstimationFilter { team, status: first() }),
            page::<ProjectBidRecord>(reader, &ProjectBidFilter { team, status: first(), ..default() }),
            page::<AssetRecord>(reader, &AssetFilter { team, stage: first(), ..default() }),
        ];
        for Plan { sql, steps } in lists {
            let is_of_team = |step: &String| step.contains("(team=?") || step.contains("(buyer=?");
            assert!(steps.iter().any(is_of_team), "{sql}\n{steps:#?}");
        }
    });
}

/// Otherwise the checks above would notice nothing.
#[test]
fn scan_is_a_step_of_the_plan() {
    with_reader(|reader| {
        let [count, page, later] =
            plans::<OfferRecord>(reader, &default()).try_into().expect("three statements");
        assert!(count.steps.iter().any(|step| step.starts_with("SCAN o")), "{count:#?}");
        assert!(page.steps.iter().any(|step| step == "SCAN o"), "{page:#?}");
        assert!(later.steps.iter().any(|step| step.ends_with("(rowid<?)")), "{later:#?}");
    });
}

/// Returns the plan of the first page of a list.
fn page<R: Record>(reader: &Reader, filter: &R::Filter) -> Plan {
    plans::<R>(reader, filter).swap_remove(1)
}

fn first<T: StringEnum>() -> Option<T> {
    T::ALL.first().copied()
}

fn default<T: Default>() -> T {
    T::default()
}
