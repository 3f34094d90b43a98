//! Changes of an asset's fields: the values and locks that all kinds of assets have in common.

use std::{
    collections::{BTreeMap, HashSet},
    iter,
};

use marketplace_text::is_blank;
use uuid::Uuid;

use super::{access::Vendor, asset_events, assets, references::References};
use crate::{
    domain::{
        assets::{Channel, Exclusivity, Kind},
        changes::Change,
        codebase_fields::CodebaseFields,
        events::EventData,
        field_locks,
        inventory::{Asset, AssetChange, ChangeOrigin},
        money::Cents,
        problems::Problems,
        stages::Stage,
        time::Day,
    },
    error::{LocSegment, Problem, Result, excerpt, quoted},
    market::{CheckContext, Writer},
    request_problems::ProblemsExt,
    store,
    string_enum::StringEnum,
};

/// Maximum size of the vendor-defined columns of an asset, in bytes of JSON.
const MAX_COLUMNS_BYTES: usize = 65_536;

/// Maximum length of a column name in characters, and maximum nesting of a column value. Many JSON parsers
/// fail at depth 128.
const MAX_COLUMN_NAME: usize = 1_000;
const MAX_COLUMN_DEPTH: usize = 32;

/// Applies a change, locks the fields that it writes if it was sent with an API key, and adds what is wrong with the
/// change to `problems`. `path` leads to it in the body. If there are problems, the asset is partly changed
/// and must not be stored.
pub fn apply(
    context: &CheckContext,
    references: &References,
    asset: &mut Asset,
    change: AssetChange,
    path: &[LocSegment],
    problems: &mut Problems,
) {
    let mut found = Problems::default();
    let written = change.changed_fields();
    // A field with an invalid value is written, too.
    let is_written =
        |field: &str| written.iter().any(|(name, _)| *name == field) || problems.has_field(path, field);
    let by_data = field_locks::locked_by_data(&asset.locks).filter(|(field, _)| is_written(field));
    for (field, source) in by_data {
        let msg = format!(
            "`{field}` was read from the linked data ({}) and cannot be edited. Detach the data first.",
            source.as_str()
        );
        found.push(Problem::body(&[field], "field_locked", msg));
    }
    match change.origin {
        ChangeOrigin::Api => field_locks::update_api_locks(&mut asset.locks, written),
        ChangeOrigin::Inventory => {
            for field in field_locks::locked_by_api(&asset.locks).filter(|field| is_written(field)) {
                let msg = format!("`{field}` was set through the API, and can only be changed there.");
                found.push(Problem::body(&[field], "field_locked", msg));
            }
            found.extend(change.find_problems().into_vec());
        }
    }
    set_fields(references, asset, change, &mut found);
    let has_valid_days = !["history_start", "history_end"].iter().any(|day| problems.has_field(path, day));
    validate_history(context.now.day(), &asset.codebase, has_valid_days, &mut found);
    problems.extend_nested(found, path);
}

/// One of the team's assets with a valid change applied, not stored yet.
#[derive(Debug)]
pub struct ChangedAsset {
    /// The asset after the change.
    pub asset: Asset,
    /// Its title before.
    pub title_before: String,
    /// Its stage before.
    pub stage_before: Stage,
}

/// Applies a change to one of the team's assets. Fails with all problems. `problems` has those with the body
/// so far.
pub fn check_update(
    context: &CheckContext,
    vendor: &Vendor,
    (id, kind): (Uuid, Kind),
    change: AssetChange,
    mut problems: Problems,
) -> Result<ChangedAsset> {
    let found = problems.if_available(assets::find(context.rows, vendor, id, Some(kind)))?;
    let references = References::read(context, vendor, iter::once(&change))?;
    let group = (references.default_group.row_id, references.default_group.id);
    // Without the asset, the references of an invalid body are still checked.
    let mut asset = found.unwrap_or_else(|| assets::new_asset(context, vendor, kind, group));
    let (title_before, stage_before) = (asset.title.clone(), asset.stage());
    check_exclusivity(context, &asset, &change, &mut problems)?;
    apply(context, &references, &mut asset, change, &[], &mut problems);
    problems.into_result()?;
    Ok(ChangedAsset { asset, title_before, stage_before })
}

/// Adds a problem if a change makes a codebase available that was sold exclusively.
fn check_exclusivity(
    context: &CheckContext,
    asset: &Asset,
    change: &AssetChange,
    problems: &mut Problems,
) -> Result<()> {
    let is_harmless =
        matches!(change.codebase.exclusivity, Change::Unchanged | Change::Set(Exclusivity::Unavailable));
    if !is_harmless && store::exclusive_sales::is_sold(context.rows, asset.row_id)? {
        let msg = "The codebase was sold exclusively, so `exclusivity` stays unavailable.";
        problems.push(Problem::body(&["exclusivity"], "field_locked", msg));
    }
    Ok(())
}

/// Applies a change to a new asset. Adds its problems to `problems`.
pub fn check_new(
    context: &CheckContext,
    vendor: &Vendor,
    kind: Kind,
    change: AssetChange,
    problems: &mut Problems,
) -> Result<Asset> {
    let references = References::read(context, vendor, iter::once(&change))?;
    let group = (references.default_group.row_id, references.default_group.id);
    let mut asset = assets::new_asset(context, vendor, kind, group);
    apply(context, &references, &mut asset, change, &[], problems);
    Ok(asset)
}

/// Stores a changed asset.
pub fn update(writer: &mut Writer, changed: ChangedAsset) -> Result<Asset> {
    store::assets::update(writer.rows, &changed.asset)?;
    asset_events::changed(writer, changed.stage_before, &changed.asset, EventData::AssetUpdated)?;
    Ok(changed.asset)
}

/// Applies a change, and reports the problems of its values and references.
fn set_fields(references: &References, asset: &mut Asset, change: AssetChange, problems: &mut Problems) {
    if let Some(title) = change.title {
        asset.title = title;
    }
    change.description.apply(&mut asset.description);
    if let Some(tags) = change.domain_tags {
        asset.domain_tags = resolve_tags(&references.domains, tags, problems);
    }
    change.other_domain.apply(&mut asset.other_domain);
    // The request schema accepts whole cents only.
    change.price_usd.map(|dollars| Cents::from_dollars(dollars).unwrap_or_default()).apply(&mut asset.price);
    change.notes.apply(&mut asset.notes);
    if let Some(columns) = change.extra_columns {
        validate_columns(&columns, problems);
        asset.extra_columns = columns;
    }
    let group = match change.group_id {
        Change::Unchanged => None,
        Change::Clear => Some(&references.default_group),
        Change::Set(id) => references.groups.find(id).map_err(|problem| problems.push(problem)).ok(),
    };
    if let Some(group) = group {
        asset.group = (group.row_id, group.id);
    }
    if let (Some(task), Some(task_type)) = (&mut asset.task, change.task_type) {
        task.task_type = task_type;
    }
    asset.codebase.apply(change.codebase);
}

/// Returns the domain tags of a request, each once, and reports those that the taxonomy does not have.
fn resolve_tags(
    domains: &HashSet<String>,
    tags: Vec<Option<String>>,
    problems: &mut Problems,
) -> Vec<String> {
    let mut distinct = Vec::new();
    for (index, tag) in tags.into_iter().enumerate() {
        let Some(tag) = tag else { continue };
        if !domains.contains(&tag) {
            let msg = format!("Unknown domain {}. `GET /v2/domains` lists the domains.", quoted(&tag));
            problems.push(Problem::body(&["domain_tags", &index.to_string()], "unknown_slug", msg));
        }
        if !distinct.contains(&tag) {
            distinct.push(tag);
        }
    }
    distinct
}

/// Validates vendor-defined columns. Lists return them in full, so their size is limited.
pub fn validate_columns(columns: &BTreeMap<String, serde_json::Value>, problems: &mut Problems) {
    let mut report = |path: &[&str], msg| problems.push(Problem::body(path, "too_long", msg));
    if serde_json::to_vec(columns).is_ok_and(|text| text.len() > MAX_COLUMNS_BYTES) {
        report(
            &["extra_columns"],
            format!("`extra_columns` must be at most {MAX_COLUMNS_BYTES} bytes of JSON."),
        );
    }
    for (name, value) in columns {
        if name.chars().nth(MAX_COLUMN_NAME).is_some() {
            let column = quoted(&excerpt(name));
            let msg =
                format!("The name of the column {column} must have at most {MAX_COLUMN_NAME} characters.");
            report(&["extra_columns", name], msg);
        }
        if !is_nested_at_most(value, MAX_COLUMN_DEPTH) {
            let column = quoted(&excerpt(name));
            let msg = format!(
                "The value of the column {column} must be nested at most {MAX_COLUMN_DEPTH} levels deep."
            );
            report(&["extra_columns", name], msg);
        }
    }
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

/// Validates the dates of a history: none is in the future, and the end is not before the start. The order of
/// dates is compared only if both are valid.
fn validate_history(today: Day, codebase: &CodebaseFields, has_valid_days: bool, problems: &mut Problems) {
    let (start, end) = (codebase.history_start, codebase.history_end);
    for (field, day) in [("history_start", start), ("history_end", end)] {
        if day.is_some_and(|day| day > today) {
            let msg = format!("`{field}` must not be later than today, {today}.");
            problems.push(Problem::body(&[field], "date_future", msg));
        }
    }
    if let (Some(start), Some(end)) = (start, end)
        && has_valid_days
        && end < start
    {
        let msg = format!("`history_end` ({end}) must not be before `history_start` ({start}).");
        problems.push(Problem::body(&["history_end"], "date_order", msg));
    }
}

/// Sets a blank description to the one read from linked data, and locks it. The vendor's own description is
/// kept.
pub fn set_description_from_data(asset: &mut Asset, channel: Channel, description: Option<String>) {
    let is_absent = asset.description.as_deref().is_none_or(is_blank);
    if let Some(description) = description.filter(|_| is_absent) {
        asset.description = Some(description);
        field_locks::lock_extracted(&mut asset.locks, channel, ["description"]);
    }
}
