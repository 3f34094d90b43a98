//! Changes of an asset's fields: the values and locks that all kinds of assets have in common.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{access::Vendor, assets};
use crate::{
    domain::{
        assets::{Channel, Kind},
        field_locks,
        inventory::{Asset, AssetChange, Change, CodebaseHistory},
        money::Cents,
    },
    error::{Error, LocSegment, Problem, Result},
    market::Writer,
    store,
    string_enum::StringEnum,
};

/// Maximum size of the vendor-defined columns of an asset, in bytes of JSON.
const MAX_COLUMNS_BYTES: usize = 65_536;

/// Maximum length of a column name in characters, and maximum nesting of a column value. Many JSON parsers
/// fail at depth 128.
const MAX_COLUMN_NAME: usize = 1_000;
const MAX_COLUMN_DEPTH: usize = 32;

/// Applies a change sent with an API key, and locks the fields that it writes. Returns all problems. If there
/// are any, the asset is partly changed and must not be stored.
pub fn apply(
    writer: &Writer,
    asset: &mut Asset,
    change: AssetChange,
    path: &[LocSegment],
) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let written = change.changed_fields();
    for (field, source) in field_locks::locked_by_data(&asset.locks, written.iter().map(|(field, _)| *field))
    {
        let msg = format!(
            "`{field}` was read from the linked data ({}) and cannot be edited. Detach the data first.",
            source.as_str()
        );
        problems.push(Problem::body(&[field], "field_locked", msg));
    }
    field_locks::update_api_locks(&mut asset.locks, written);
    problems.extend(set_fields(writer, asset, change)?);
    problems.extend(validate_history(writer, &asset.history));
    Ok(problems.into_iter().map(|problem| problem.nested_in(path)).collect())
}

/// Applies a change sent with an API key. Fails with all problems if there are any.
pub fn apply_valid(writer: &Writer, asset: &mut Asset, change: AssetChange) -> Result<()> {
    let problems = apply(writer, asset, change, &[])?;
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

/// Updates one of the team's assets.
pub fn update(
    writer: &mut Writer,
    vendor: &Vendor,
    id: Uuid,
    kind: Kind,
    changes: AssetChange,
) -> Result<Asset> {
    let mut asset = assets::find(writer.rows, vendor, id, Some(kind))?;
    apply_valid(writer, &mut asset, changes)?;
    store::assets::update(writer.rows, &asset)?;
    Ok(asset)
}

/// Applies a change. Returns the problems of its values and references.
fn set_fields(writer: &Writer, asset: &mut Asset, change: AssetChange) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    if let Some(title) = change.title {
        asset.title = title;
    }
    change.description.apply(&mut asset.description);
    if let Some(tags) = change.domain_tags {
        for (index, tag) in tags.iter().enumerate() {
            if !store::taxonomy::domain_exists(writer.rows, tag)? {
                let msg = format!("Unknown domain {tag:?}. `GET /v2/domains` lists the domains.");
                let mut problem = Problem::body(&["domain_tags"], "unknown_slug", msg);
                problem.loc.push(LocSegment::Index(index));
                problems.push(problem);
            }
        }
        asset.domain_tags = tags;
    }
    change.other_domain.apply(&mut asset.other_domain);
    // The request schema accepts whole cents only.
    change.price_usd.map(|dollars| Cents::from_dollars(dollars).unwrap_or_default()).apply(&mut asset.price);
    change.notes.apply(&mut asset.notes);
    if let Some(columns) = change.extra_columns {
        problems.extend(validate_columns(&columns));
        asset.extra_columns = columns;
    }
    let group = match change.group_id {
        Change::Unchanged => None,
        Change::Clear => Some(store::groups::find_default(writer.rows, asset.team)?),
        Change::Set(id) => match super::groups::find_referenced(writer.rows, asset.team, id)? {
            Ok(group) => Some(group),
            Err(problem) => {
                problems.push(problem);
                None
            }
        },
    };
    if let Some(group) = group {
        asset.group = (group.row_id, group.id);
    }
    if let (Some(task), Some(task_type)) = (&mut asset.task, change.task_type) {
        task.task_type = task_type;
    }
    let history = &mut asset.history;
    change.exclusivity.apply(&mut history.exclusivity);
    change.lines_of_code.apply(&mut history.lines_of_code);
    change.commits.apply(&mut history.commits);
    change.contributors.apply(&mut history.contributors);
    change.merged_prs.apply(&mut history.merged_prs);
    change.history_start.apply(&mut history.start);
    change.history_end.apply(&mut history.end);
    change.ci_on_prs.apply(&mut history.ci_on_prs);
    Ok(problems)
}

/// Validates vendor-defined columns. Lists return them in full, so their size is limited.
fn validate_columns(columns: &BTreeMap<String, serde_json::Value>) -> Option<Problem> {
    let is_small = serde_json::to_vec(columns).is_ok_and(|text| text.len() <= MAX_COLUMNS_BYTES);
    let msg = if !is_small {
        format!("`extra_columns` must be at most {MAX_COLUMNS_BYTES} bytes of JSON.")
    } else if columns.keys().any(|name| name.chars().count() > MAX_COLUMN_NAME) {
        format!("Column names in `extra_columns` must have at most {MAX_COLUMN_NAME} characters.")
    } else if columns.values().any(|value| !is_nested_at_most(value, MAX_COLUMN_DEPTH)) {
        format!("Values in `extra_columns` must be nested at most {MAX_COLUMN_DEPTH} levels deep.")
    } else {
        return None;
    };
    Some(Problem::body(&["extra_columns"], "too_long", msg))
}

/// Whether a value is nested at most `depth` levels deep.
fn is_nested_at_most(value: &serde_json::Value, depth: usize) -> bool {
    match value {
        serde_json::Value::Array(items) => {
            depth > 0 && items.iter().all(|item| is_nested_at_most(item, depth - 1))
        }
        serde_json::Value::Object(fields) => {
            depth > 0 && fields.values().all(|item| is_nested_at_most(item, depth - 1))
        }
        _ => true,
    }
}

/// Validates the dates of a history: none is in the future, and the end is not before the start.
fn validate_history(writer: &Writer, history: &CodebaseHistory) -> Vec<Problem> {
    let today = writer.now.day();
    let days = [("history_start", history.start), ("history_end", history.end)];
    let mut problems: Vec<Problem> = days
        .into_iter()
        .filter(|(_, day)| day.is_some_and(|day| day > today))
        .map(|(field, _)| {
            Problem::body(
                &[field],
                "date_future",
                format!("`{field}` must not be later than today, {today}."),
            )
        })
        .collect();
    if let (Some(start), Some(end)) = (history.start, history.end)
        && end < start
    {
        let msg = format!("`history_end` ({end}) must not be before `history_start` ({start}).");
        problems.push(Problem::body(&["history_end"], "date_order", msg));
    }
    problems
}

/// Sets a blank description to the one read from linked data, and locks it. The vendor's own description is
/// kept.
pub fn set_description_from_data(asset: &mut Asset, channel: Channel, description: Option<String>) {
    let is_blank = asset.description.as_ref().is_none_or(|text| text.trim().is_empty());
    if let Some(description) = description.filter(|_| is_blank) {
        asset.description = Some(description);
        field_locks::lock_extracted(&mut asset.locks, channel, ["description"]);
    }
}
