//! Rules for the values of columns in imported rows, which are untrusted. They go beyond the schema. Rows that pass can be read
//! without an error: texts of closed sets and JSON are valid, and no number is so large that sums overflow.

use std::{collections::BTreeMap, ops::RangeInclusive};

use rusqlite::{Connection, types::Value};
use serde::de::DeserializeOwned;

use super::{
    croissant::ListingFacts,
    quality_runs::RunAsset,
    reviews::Snapshot,
    table_schema::{self, Column, ColumnKind, Table},
    tasks::Activity,
};
use crate::{
    domain::{
        announcements::AnnouncementLevel,
        assets::{ArtifactStatus, Channel, Environment, Exclusivity, Kind, Robotics, TaskType},
        bulk_changes::{BulkAction, BulkChangeStatus, Skipped},
        bundles::{EntryContent, EntrySource},
        codebase_fields::CodebaseFields,
        credit_purchases::CreditPurchaseStatus,
        due_steps::StepKind,
        estimations::EstimationStatus,
        events::EventType,
        field_locks::FieldLocks,
        jobs::{JobKind, JobState, Queue},
        keys::TeamKeyScope,
        ledger::{AccountKind, EntryType},
        listings::{Actor, CatalogStatus, DeliveryMethod, Event, IngestStatus, LifecycleStage, ReviewStatus},
        notifications::NotificationType,
        offers::OfferStatus,
        opportunities::{
            Attachment, BidEvent, BidStatus, OpportunityKind, OpportunityMetadata, OpportunityStatus,
            VisibilityMode,
        },
        principals::{KeyScope, PrincipalKind},
        purchases::{AssetScope, PayWith, PurchaseKind, PurchaseStatus},
        quality_checks::{CheckKind, CheckStatus},
        quality_runs::{RunStatus, RunTrigger},
        replaced_values::ReplacedValues,
        reviews::ReviewDecision,
        samples::{SampledAsset, Selection},
        task_quality::{QaResult, TaskQuality},
        tasks::{BuildStatus, Column as TaskColumn, QaAgent, RefreshStatus, VersionStage, VersionState},
        time::Day,
        trace_imports::{RejectedLine, TraceImportStatus},
        webhooks::{AttemptError, DeliveryStatus, WebhookDisabledReason},
        withdrawals::WithdrawalStatus,
    },
    error::Result,
    string_enum::StringEnum,
};

/// Times from year 0 to the end of year 9999, in microseconds since 1970.
const TIMES: RangeInclusive<i64> = -62_167_219_200_000_000..=253_402_300_799_999_999;

/// Amounts in cents: thousand times the largest that a request can state.
const AMOUNTS: RangeInclusive<i64> = -1_000_000_000_000_000..=1_000_000_000_000_000;

/// Row IDs, sizes, and counts, with room for more.
pub(super) const COUNTS: RangeInclusive<i64> = 0..=1 << 53;

/// Maximum of the sum of the absolute values of a column.
const MAX_SUM: i64 = 4_000_000_000_000_000_000;

/// What the values of a column can be. Null is left to the schema.
#[derive(Debug)]
pub(super) enum Rule {
    Number(RangeInclusive<i64>),
    /// A text that this function accepts, and what it must be.
    Text(fn(&str) -> bool, &'static str),
    /// This number of bytes.
    Bytes(&'static [usize]),
    JsonBytes,
    Any,
}

impl Rule {
    pub(super) fn of(table: &str, Column { name, kind }: &Column) -> Rule {
        match kind {
            ColumnKind::Integer => Rule::Number(numbers(table, name)),
            ColumnKind::Text => text(table, name),
            ColumnKind::Blob => bytes(table, name),
            ColumnKind::Real => Rule::Any,
        }
    }

    /// Returns what a value must be, unless it is that.
    pub(super) fn violation(&self, value: &Value) -> Option<String> {
        match (self, value) {
            (Rule::Number(range), Value::Integer(number)) if !range.contains(number) => {
                Some(format!("The value must be from {} to {}.", range.start(), range.end()))
            }
            (Rule::Text(accepts, what), Value::Text(text)) if !accepts(text) => {
                Some(format!("The value must be {what}."))
            }
            (Rule::Bytes(lengths), Value::Blob(bytes)) if !lengths.contains(&bytes.len()) => {
                let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
                Some(format!("The value must have {} bytes.", lengths.join(" or ")))
            }
            (Rule::JsonBytes, Value::Blob(bytes))
                if serde_json::from_slice::<BTreeMap<String, serde_json::Value>>(bytes).is_err() =>
            {
                Some("The value must be a JSON object.".to_owned())
            }
            _ => None,
        }
    }
}

fn numbers(table: &str, column: &str) -> RangeInclusive<i64> {
    match (table, column) {
        (_, "run_after" | "leased_until" | "deadline" | "available_from" | "evaluation_date") => TIMES,
        (_, column) if column.ends_with("_at") => TIMES,
        ("wallets" | "platform_balances", column) if column.ends_with("cents") => -MAX_SUM..=MAX_SUM,
        (_, column) if column.ends_with("cents") => AMOUNTS,
        ("clock_offset", "micros") => -TIMES.end()..=*TIMES.end(),
        ("webhook_attempts", "status") => 0..=0xffff,
        // Numbers of 32 bits.
        (
            _,
            "attempts"
            | "build"
            | "crc32"
            | "delivery_days"
            | "expected_timeline_days"
            | "failures"
            | "featured"
            | "interrupted_starts"
            | "max_depth"
            | "num_tasks"
            | "number"
            | "position"
            | "run_number"
            | "stage"
            | "version",
        ) => 0..=i64::from(u32::MAX),
        // The cleanup that follows by itself has the subject -1.
        ("jobs" | "ended_jobs", "subject") => -1..=*COUNTS.end(),
        _ => COUNTS,
    }
}

fn bytes(table: &str, column: &str) -> Rule {
    match (table, column) {
        (
            _,
            "uuid"
            | "assignee"
            | "internally_reviewed_by"
            | "agreement_document"
            | "created_by"
            | "accepted_by"
            | "requested_by"
            | "session"
            | "upload",
        )
        | ("fixture_ids", "id") => Rule::Bytes(&[16]),
        ("secrets", "value") | ("webhooks", "previous_secret" | "id_secret") => Rule::Bytes(&[32]),
        // That of a deleted webhook is empty.
        ("webhooks", "secret") => Rule::Bytes(&[0, 32]),
        ("listing_renderings", _) => Rule::JsonBytes,
        _ => Rule::Any,
    }
}

fn text(table: &str, column: &str) -> Rule {
    let closed =
        closed_set(table, column).map(|accepts| Rule::Text(accepts, "one of the values of this column"));
    let day = (table == "assets" && matches!(column, "history_start" | "history_end"))
        .then_some(Rule::Text(|text| Day::parse(text).is_some(), "a date, as in 2026-03-01"));
    let json =
        || json(table, column).map(|accepts| Rule::Text(accepts, "JSON as exports have it in this column"));
    closed.or(day).or_else(json).unwrap_or(Rule::Any)
}

type Accepts = fn(&str) -> bool;

fn is_of<T: StringEnum>(text: &str) -> bool {
    T::parse(text).is_some()
}

fn is_json<T: DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_ok()
}

fn closed_set(table: &str, column: &str) -> Option<Accepts> {
    Some(match (table, column) {
        ("announcement", "level") => is_of::<AnnouncementLevel>,
        ("asset_types", "slug") | ("assets" | "estimations" | "inventory" | "inventory_counts", "kind") => {
            is_of::<Kind>
        }
        ("assets" | "upload_grants", "exclusivity") => is_of::<Exclusivity>,
        ("assets", "task_type") => is_of::<TaskType>,
        ("bulk_changes", "status") => is_of::<BulkChangeStatus>,
        ("bundle_entries", "content") => is_of::<EntryContent>,
        ("bundle_entries", "source") => is_of::<EntrySource>,
        ("credit_purchases", "status") => is_of::<CreditPurchaseStatus>,
        ("data_objects" | "estimations", "channel") => is_of::<Channel>,
        ("data_objects", "archive_status" | "analysis_status") => is_of::<ArtifactStatus>,
        ("due_steps", "kind") => is_of::<StepKind>,
        ("estimations", "status") => is_of::<EstimationStatus>,
        ("events", "type") | ("webhook_deliveries", "event_type") => is_of::<EventType>,
        ("hub_ingests", "status") => is_of::<IngestStatus>,
        ("jobs" | "ended_jobs", "kind") => is_of::<JobKind>,
        ("ended_jobs", "state") => is_of::<JobState>,
        ("jobs" | "job_claims", "queue") => is_of::<Queue>,
        ("keys", "kind") | ("idempotency_keys", "principal_kind") => is_of::<PrincipalKind>,
        ("keys", "scope") => is_of::<KeyScope>,
        ("keys", "team_scope") => is_of::<TeamKeyScope>,
        ("ledger_entries", "entry_type") => is_of::<EntryType>,
        ("ledger_postings", "account") => is_of::<AccountKind>,
        ("listing_history", "event") => is_of::<Event>,
        ("listing_history", "actor") => is_of::<Actor>,
        ("listing_history", "from_stage" | "to_stage") => is_of::<LifecycleStage>,
        ("listings", "delivery_method") => is_of::<DeliveryMethod>,
        ("listings", "review_status") => is_of::<ReviewStatus>,
        ("listings", "catalog_status") => is_of::<CatalogStatus>,
        ("notifications", "type") => is_of::<NotificationType>,
        ("offers", "status") => is_of::<OfferStatus>,
        ("offers" | "purchases", "pay_with") => is_of::<PayWith>,
        ("opportunities", "kind") => is_of::<OpportunityKind>,
        ("opportunities", "status") => is_of::<OpportunityStatus>,
        ("opportunities", "visibility_mode") => is_of::<VisibilityMode>,
        ("project_bids", "status") => is_of::<BidStatus>,
        ("purchases", "kind") => is_of::<PurchaseKind>,
        ("purchases", "status") => is_of::<PurchaseStatus>,
        ("reviews", "decision") => is_of::<ReviewDecision>,
        ("quality_checks", "kind") => is_of::<CheckKind>,
        ("quality_checks", "status") => is_of::<CheckStatus>,
        ("quality_runs", "status") => is_of::<RunStatus>,
        ("quality_runs", "triggered_by") => is_of::<RunTrigger>,
        ("task_builds", "status") => is_of::<BuildStatus>,
        ("task_quality_refreshes", "status") => is_of::<RefreshStatus>,
        ("task_versions", "current_state") => is_of::<VersionState>,
        ("task_versions", "lifecycle_stage") => is_of::<VersionStage>,
        ("trace_imports", "status") => is_of::<TraceImportStatus>,
        ("webhook_attempts", "error") => is_of::<AttemptError>,
        ("webhook_deliveries", "status") => is_of::<DeliveryStatus>,
        ("webhooks", "disabled_reason") => is_of::<WebhookDisabledReason>,
        ("withdrawals", "status") => is_of::<WithdrawalStatus>,
        _ => return None,
    })
}

fn json(table: &str, column: &str) -> Option<Accepts> {
    type Object = BTreeMap<String, serde_json::Value>;
    Some(match (table, column) {
        ("asset_types", "listing_kinds")
        | ("assets", "content_tags" | "domain_tags" | "file_extensions")
        | ("languages", "aliases")
        | ("listings", "domain_tags" | "tag_slugs")
        | ("tasks", "tags")
        | ("upload_grants", "part_etags") => is_json::<Vec<String>>,
        ("assets", "extra_columns")
        | ("bundle_entries", "description")
        | ("events", "data")
        | ("task_versions", "agent_config" | "brief" | "environment")
        | ("tasks", "column_values")
        | ("webhook_deliveries", "body") => is_json::<Object>,
        ("assets", "environment") => is_json::<Environment>,
        ("assets", "languages") => is_json::<BTreeMap<String, u64>>,
        ("data_structures", "file_sizes") => is_json::<Vec<u64>>,
        ("assets", "locked_fields") => is_json::<FieldLocks>,
        ("assets", "robotics") => is_json::<Robotics>,
        ("bulk_changes", "action") => is_json::<BulkAction>,
        ("bulk_changes", "skipped") => is_json::<Skipped>,
        ("bundle_entries", "selection") => is_json::<Selection>,
        ("bundles", "listing_facts") => is_json::<ListingFacts>,
        ("data_objects", "about")
        | ("data_structures", "dataset" | "roots")
        | ("estimations", "measured") => is_json::<serde_json::Value>,
        ("data_objects", "replaced_values") => is_json::<ReplacedValues>,
        ("listings", "sample") => is_json::<Vec<SampledAsset>>,
        ("opportunities", "accepted_asset_types") => is_json::<Vec<Kind>>,
        ("opportunities", "metadata") => is_json::<OpportunityMetadata>,
        ("project_bids", "attachments") => is_json::<Vec<Attachment>>,
        ("project_bids", "delivery_tasksets") => is_json::<Vec<i64>>,
        ("project_bids", "platform_events" | "vendor_events") => is_json::<Vec<BidEvent>>,
        ("purchases", "scope") => is_json::<AssetScope>,
        ("quality_runs", "assets") => is_json::<Vec<RunAsset>>,
        ("reviews", "snapshot") => is_json::<Snapshot>,
        ("task_readings", "quality") => is_json::<TaskQuality>,
        ("task_traces", "qa") => is_json::<BTreeMap<QaAgent, QaResult>>,
        ("tasks", "activity_log") => is_json::<Vec<Activity>>,
        ("tasksets", "columns") => is_json::<Vec<TaskColumn>>,
        ("trace_imports", "problems") => is_json::<Vec<RejectedLine>>,
        ("webhooks", "event_types") => is_json::<Vec<EventType>>,
        _ => return None,
    })
}

/// A row that a database of the latest version cannot have.
#[derive(Debug)]
pub(super) struct Violation {
    pub table: String,
    /// Place of the row in an export, counted from 1; `None` if the table as a whole is wrong.
    pub row: Option<usize>,
    pub column: Option<String>,
    pub message: String,
}

/// Tables that have one row.
const SINGLETONS: [&str; 3] = ["pruned_sort_changes", "sort_key_version", "trimmed_events"];

/// Returns the first row of a database of the latest version that violates a rule, or the first table.
pub(super) fn find_violation(connection: &Connection) -> Result<Option<Violation>> {
    for table in table_schema::list(connection)? {
        if let Some(violation) = find_in_rows(connection, &table)? {
            return Ok(Some(violation));
        }
        let of_table = |column: Option<&Column>, message| {
            let column = column.map(|column| column.name.clone());
            Ok(Some(Violation { table: table.name.clone(), row: None, column, message }))
        };
        for column in table.columns.iter().filter(|column| column.kind == ColumnKind::Integer) {
            let (name, quoted) = (&column.name, table_schema::quoted(&column.name));
            let sql = format!("SELECT total(abs({quoted})) FROM {}", table_schema::quoted(&table.name));
            let sum: f64 = connection.query_row(&sql, [], |row| row.get(0))?;
            // Numbers that vendors state about a codebase can be large, but no statement adds them up.
            let is_added_up =
                numbers(&table.name, name) != TIMES && !CodebaseFields::NAMES.contains(&name.as_str());
            if is_added_up && sum > MAX_SUM as f64 {
                return of_table(Some(column), format!("The values add up to more than {MAX_SUM}."));
            }
        }
        if SINGLETONS.contains(&table.name.as_str()) {
            let sql = format!("SELECT count(*) FROM {}", table_schema::quoted(&table.name));
            let rows: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
            if rows != 1 {
                return of_table(None, format!("The table must have one row, and has {rows}."));
            }
        }
    }
    find_missing_rows(connection)
}

fn find_in_rows(connection: &Connection, table: &Table) -> Result<Option<Violation>> {
    let rules: Vec<Rule> = table.columns.iter().map(|column| Rule::of(&table.name, column)).collect();
    let mut statement = connection.prepare(&table.select())?;
    let mut rows = statement.query([])?;
    let mut number = 0;
    while let Some(row) = rows.next()? {
        number += 1;
        for (index, rule) in rules.iter().enumerate() {
            if let Some(message) = rule.violation(&row.get(index)?) {
                let column = Some(table.columns[index].name.clone());
                return Ok(Some(Violation { table: table.name.clone(), row: Some(number), column, message }));
            }
        }
    }
    Ok(None)
}

/// Returns the first row that another row needs although it does not refer to it.
fn find_missing_rows(connection: &Connection) -> Result<Option<Violation>> {
    // Table, and the number of the first row of another one that needs a row of it.
    const NEEDED: [(&str, &str, &str); 4] = [
        (
            "groups",
            "SELECT t.id FROM teams t WHERE 1 <> (SELECT count(*) FROM groups WHERE team = t.id AND is_default)",
            "one default group of team",
        ),
        ("team_usage", "SELECT id FROM teams WHERE id NOT IN (SELECT team FROM team_usage)", "a row of team"),
        (
            "operator_usage",
            "SELECT id FROM keys WHERE kind = 'operator' AND id NOT IN (SELECT operator_key FROM operator_usage)",
            "a row of operator key",
        ),
        (
            "platform_balances",
            "SELECT 3 - count(*) FROM platform_balances HAVING count(*) <> 3",
            "a row of each account; missing:",
        ),
    ];
    for (table, sql, what) in NEEDED {
        let missing: Option<i64> =
            connection.prepare(sql)?.query_map([], |row| row.get(0))?.next().transpose()?;
        if let Some(missing) = missing {
            let message = format!("The table must have {what} {missing}.");
            return Ok(Some(Violation { table: table.to_owned(), row: None, column: None, message }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, kind: ColumnKind) -> Column {
        Column { name: name.to_owned(), kind }
    }

    #[test]
    fn values_that_cannot_be_read_are_violations() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (table, name, kind, value, is_allowed) in [
            ("teams", "created_at", ColumnKind::Integer, Value::Integer(*TIMES.end()), true),
            ("teams", "created_at", ColumnKind::Integer, Value::Integer(i64::MAX), false),
            ("offers", "amount_cents", ColumnKind::Integer, Value::Integer(i64::MIN), false),
            ("ledger_postings", "cents", ColumnKind::Integer, Value::Integer(-5), true),
            ("jobs", "subject", ColumnKind::Integer, Value::Integer(-1), true),
            ("teams", "id", ColumnKind::Integer, Value::Integer(-1), false),
            ("task_versions", "version", ColumnKind::Integer, Value::Integer(1 << 32), false),
            ("webhook_attempts", "error", ColumnKind::Text, text("odd"), false),
            ("webhook_attempts", "error", ColumnKind::Text, text("unreachable"), true),
            ("inventory_counts", "kind", ColumnKind::Text, text(""), false),
            ("assets", "domain_tags", ColumnKind::Text, text("{}"), false),
            ("assets", "domain_tags", ColumnKind::Text, text("[\"a\"]"), true),
            ("teams", "name", ColumnKind::Text, text(""), true),
            ("secrets", "value", ColumnKind::Blob, Value::Blob(vec![0; 31]), false),
            ("listing_renderings", "item", ColumnKind::Blob, Value::Blob(b"{\"a\":1}".into()), true),
            ("listing_renderings", "item", ColumnKind::Blob, Value::Blob(b"{\"a\":".into()), false),
            ("teams", "closed_at", ColumnKind::Integer, Value::Null, true),
        ] {
            let violation = Rule::of(table, &column(name, kind)).violation(&value);
            assert_eq!(violation.is_none(), is_allowed, "{table}.{name} {value:?}: {violation:?}");
        }
    }
}
