//! The report of a scan for people.

use serde_json::{Value, json};

use crate::{
    artifacts::quality_checks::places::Role,
    cli::{escapes::escaped, lists, progress::human_bytes},
    domain::{
        codebase_fields::CodebaseFields,
        quality_checks::CheckStatus,
        written::{counted, grouped, whole_percent},
    },
    operations::scans::{Check, Figures, Report, SourceKind},
    string_enum::StringEnum,
};

/// Number of entries of a list that are printed. `--json` has more.
const MAX_LINES: usize = 20;

/// Number of languages, and of columns of a table, that are printed.
const MAX_NAMES: usize = 8;

/// Returns the lines of a report.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(figures) = &report.figures else { return limits(report) };
    lines.extend(lists::record_lines(&summary(report, figures)));
    lines.extend(tables(figures));
    lines.extend(section("CHECKS", report.checks.iter().flat_map(check_lines)));
    if !report.missing.is_empty() {
        let missing: Vec<&str> = report.missing.iter().map(|field| field.as_str()).collect();
        lines.push(String::new());
        lines.push(format!("To be complete, the asset also needs: {}.", missing.join(", ")));
    }
    let left_out = report.left_out.iter().map(|entry| json!({"file": entry.path, "why": entry.reason}));
    let left_out: Vec<Value> = left_out.take(MAX_LINES).collect();
    if !left_out.is_empty() {
        lines.push(String::new());
        lines.extend(lists::table_lines("file why", &left_out));
    }
    let further = report.left_out.len().saturating_sub(MAX_LINES) as u64 + report.further_left_out;
    if further > 0 {
        lines.push(format!("and {} left out", counted(further, "more file", "more files")));
    }
    let limits = limits(report);
    if !limits.is_empty() {
        lines.push(String::new());
        lines.extend(limits);
    }
    lines
}

/// Returns the lines with the limits that prevented something from being read.
fn limits(report: &Report) -> Vec<String> {
    let limits = report.reached_limits().map(|(name, value)| format!("  {name} = {}", grouped(value)));
    let limits: Vec<String> = limits.collect();
    if limits.is_empty() {
        return limits;
    }
    [vec!["Limits of the settings:".to_owned()], limits].concat()
}

/// Returns the names and values at the beginning of the report.
fn summary(report: &Report, figures: &Figures) -> Vec<(String, Value)> {
    let kind = report.kind.map(|kind| kind.as_str().replace('_', " ")).unwrap_or_default();
    let source = match report.source_kind {
        Some(SourceKind::Repository) => "a repository",
        Some(SourceKind::Archive) => "a zip",
        _ => "files, packed to a zip",
    };
    let mut summary = vec![
        ("source".to_owned(), json!(report.source)),
        ("read as".to_owned(), json!(format!("{kind}, from {source}"))),
    ];
    let mut add = |name: &str, value: Value| {
        if !value.is_null() {
            summary.push((name.replace('_', " "), value));
        }
    };
    add("commit", json!(report.commit_sha));
    let (files, bytes) = (counted(figures.files, "file", "files"), human_bytes(figures.bytes));
    add("size", json!(format!("{files}, {bytes}")));
    let languages = shares(figures);
    add("languages", if languages.is_empty() { Value::Null } else { json!(languages) });
    for name in CodebaseFields::measurable() {
        add(name, figures.fields.get(name).cloned().unwrap_or_default());
    }
    if !figures.extensions.is_empty() {
        let extensions = figures.extensions.iter().map(|(name, count)| format!("{name} ({count})"));
        add("extensions", json!(first_names(extensions.collect())));
    }
    add("rows", json!(figures.rows));
    if let Some(robotics) = &figures.robotics {
        add("recordings", json!(robotics.format));
        add("episodes", json!(robotics.episodes));
    }
    add("description", json!(report.description));
    summary
}

/// Returns the languages with their shares, the largest first.
fn shares(figures: &Figures) -> String {
    let total: u64 = figures.languages.values().sum();
    let mut languages: Vec<(&String, &u64)> = figures.languages.iter().collect();
    languages.sort_by_key(|(_, bytes)| std::cmp::Reverse(**bytes));
    let share = |bytes: u64| whole_percent(bytes as f64 / total.max(1) as f64);
    first_names(languages.iter().map(|(slug, bytes)| format!("{slug} {}", share(**bytes))).collect())
}

/// Joins the first names, and says how many more there are.
fn first_names(names: Vec<String>) -> String {
    let further = names.len().saturating_sub(MAX_NAMES);
    let shown = names.into_iter().take(MAX_NAMES).collect::<Vec<_>>().join(", ");
    if further > 0 { format!("{shown}, and {further} more") } else { shown }
}

fn tables(figures: &Figures) -> Vec<String> {
    if figures.tables.is_empty() {
        return Vec::new();
    }
    let rows = figures.tables.iter().take(MAX_LINES).map(|table| {
        let columns = table.columns.iter().map(|column| format!("{} ({})", column.name, column.kind));
        json!({
            "table": table.path,
            "format": table.format,
            "files": table.files,
            "rows": table.rows,
            "columns": first_names(columns.collect()),
        })
    });
    let mut lines = vec![String::new()];
    lines.extend(lists::table_lines("table format files rows columns", &rows.collect::<Vec<_>>()));
    let further = figures.tables.len().saturating_sub(MAX_LINES) as u64 + figures.further_tables;
    if further > 0 {
        lines.push(format!("and {}", counted(further, "more table", "more tables")));
    }
    lines
}

fn section(title: &str, content: impl Iterator<Item = String>) -> Vec<String> {
    [String::new(), title.to_owned()].into_iter().chain(content).collect()
}

/// Returns the lines of a check: its status and message, and the places of one that did not pass.
fn check_lines(check: &Check) -> Vec<String> {
    let status = match (check.status, check.is_mandatory, check.is_informational) {
        (CheckStatus::Passed, ..) => "passed",
        (CheckStatus::Error, ..) => "error",
        (_, true, _) => "FAILED",
        (_, _, true) => "noted",
        _ => "failed",
    };
    let mandatory = if check.is_mandatory { " (mandatory)" } else { "" };
    let mut lines = vec![
        format!("  {status:<6}  {}{mandatory}", check.label),
        format!("          {}", escaped(&check.message)),
    ];
    // The message names the first few.
    if check.has_failed() && check.is_mandatory {
        let causes = check.places.iter().filter(|place| place.role == Role::Cause);
        let further = causes.clone().count().saturating_sub(MAX_LINES) as u64 + check.further_places.cause;
        let places = causes.take(MAX_LINES).map(|place| {
            let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("          {}{line}  {}", escaped(&place.path), escaped(&place.text))
        });
        lines.extend(places);
        if further > 0 {
            lines.push(format!("          and {}", counted(further, "more place", "more places")));
        }
    }
    lines
}
