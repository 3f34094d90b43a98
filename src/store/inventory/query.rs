//! Conditions and sort orders of asset lists, as SQL over `inventory i`.

use rusqlite::types::Value;
use uuid::Uuid;

use crate::{
    domain::{
        asset_filters::{AssetCondition, FilterField, NOT_LINKED, SortColumn},
        assets::Kind,
        filters::{FilterOperator, SortDirection},
        stages::Stage,
        teams::TeamRowId,
    },
    string_enum::StringEnum,
};

/// Returns the key by which titles are compared and sorted: the title in lower case.
pub(super) fn name_key(title: &str) -> String {
    title.to_lowercase()
}

/// Filters and sort order of a list of a team's assets. IDs that are not the team's match nothing.
#[derive(Clone, Debug)]
pub struct Query {
    /// Row ID of the team.
    pub team: TeamRowId,
    /// Matches assets of these kinds; `None` matches all kinds.
    pub kinds: Option<Vec<Kind>>,
    /// Matches assets at this stage; `None` matches all stages.
    pub stage: Option<Stage>,
    /// Matches assets with these IDs; empty matches all assets.
    pub ids: Vec<Uuid>,
    /// Matches assets in the group with this ID; `None` matches all groups.
    pub group: Option<Uuid>,
    /// Matches assets on the team's listing with this ID; `None` matches all assets.
    pub listing: Option<Uuid>,
    /// Additional conditions, combined with AND.
    pub conditions: Vec<AssetCondition>,
    /// Sort column and direction; `None` sorts newest first.
    pub sort: Option<(SortColumn, SortDirection)>,
}

/// An SQL fragment with its parameters, in order.
#[derive(Debug, Default)]
pub(super) struct SqlFragment {
    pub sql: String,
    pub values: Vec<Value>,
}

impl SqlFragment {
    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }
}

fn text_value(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn json_value(values: &impl serde::Serialize) -> Value {
    Value::Text(serde_json::to_string(values).unwrap_or_default())
}

impl Query {
    /// Creates a query for all of a team's assets, newest first.
    pub const fn new(team: TeamRowId) -> Query {
        Query {
            team,
            kinds: None,
            stage: None,
            ids: Vec::new(),
            group: None,
            listing: None,
            conditions: Vec::new(),
            sort: None,
        }
    }

    /// Whether the counts in `inventory_counts` are enough to count the matches.
    pub(super) const fn is_covered_by_counts(&self) -> bool {
        self.ids.is_empty() && self.listing.is_none() && self.conditions.is_empty()
    }

    /// Returns the WHERE condition for a statement over `inventory i`.
    pub(super) fn condition(&self) -> SqlFragment {
        let mut fragment =
            SqlFragment { sql: "i.team = ?".to_owned(), values: vec![Value::Integer(self.team.0)] };
        match self.kinds.as_deref() {
            // Equality lets SQLite use the index over kinds.
            Some([kind]) => fragment.and("i.kind = ?", [text_value(kind.as_str())]),
            Some(kinds) => fragment.and("i.kind IN (SELECT value FROM json_each(?))", [json_value(&kinds)]),
            None => {}
        }
        if let Some(stage) = self.stage {
            fragment.and("i.stage = ?", [Value::Integer(stage as i64)]);
        }
        if !self.ids.is_empty() {
            let ids: Vec<String> = self.ids.iter().map(|id| id.simple().to_string()).collect();
            let sql = "i.asset IN (SELECT a.id FROM json_each(?) j JOIN assets a ON a.uuid = unhex(j.value))";
            fragment.and(sql, [json_value(&ids)]);
        }
        let id = |id: Uuid| Value::Blob(id.as_bytes().to_vec());
        if let Some(group) = self.group {
            fragment.and("i.group_id = (SELECT id FROM groups WHERE uuid = ?)", [id(group)]);
        }
        if let Some(listing) = self.listing {
            let sql =
                "i.asset IN (SELECT la.asset FROM listings l JOIN listing_assets la ON la.listing = l.id
                 WHERE l.uuid = ? AND l.team = ?)";
            fragment.and(sql, [id(listing), Value::Integer(self.team.0)]);
        }
        for condition in &self.conditions {
            add_condition(condition, &mut fragment);
        }
        fragment
    }

    /// Returns [`Query::condition`] as a tuple, for statements in other modules of the store.
    pub(in crate::store) fn condition_parts(&self) -> (String, Vec<Value>) {
        let SqlFragment { sql, values } = self.condition();
        (sql, values)
    }

    /// Returns the ORDER BY expression for a statement over `inventory` with the alias `rows`. Rows without a
    /// value come last in both directions, and ties are sorted newest first.
    pub(super) fn order_sql(&self, rows: &str) -> String {
        let newest = format!("{rows}.created_at DESC, {rows}.asset DESC");
        let Some((column, direction)) = self.sort else { return newest };
        let column = column_sql(column);
        match direction {
            SortDirection::Ascending => format!("{rows}.{column} ASC NULLS LAST, {newest}"),
            SortDirection::Descending => format!("{rows}.{column} DESC NULLS LAST, {newest}"),
        }
    }
}

const fn column_sql(column: SortColumn) -> &'static str {
    match column {
        SortColumn::Name => "name_key",
        SortColumn::Type => "kind",
        SortColumn::Domain => "domains",
        SortColumn::Stage => "stage",
        SortColumn::Channel => "channel",
        SortColumn::CreatedAt => "created_at",
        SortColumn::Price => "price_cents",
        SortColumn::Estimate => "estimate_cents",
        SortColumn::Exclusivity => "exclusivity",
        SortColumn::PrivateData => "private_data",
        SortColumn::LinesOfCode => "lines_of_code",
        SortColumn::Commits => "commits",
        SortColumn::Contributors => "contributors",
        SortColumn::MergedPrs => "merged_prs",
        SortColumn::HistoryStart => "history_start",
        SortColumn::HistoryEnd => "history_end",
        SortColumn::CiOnPrs => "ci_on_prs",
        SortColumn::TaskType => "task_type",
        SortColumn::HasTraces => "has_traces",
        SortColumn::HasQaResults => "has_qa_results",
        SortColumn::HasEnvironment => "has_environment",
    }
}

/// Adds a condition. A field without a value differs from every value, so `is_not` matches it.
fn add_condition(condition: &AssetCondition, fragment: &mut SqlFragment) {
    use FilterField as F;
    let AssetCondition { field, operator, value } = condition;
    let is = *operator != FilterOperator::IsNot;
    let mut compare = |column: &str, value: Value| {
        let sql = if is { format!("{column} IS ?") } else { format!("{column} IS NOT ?") };
        fragment.and(&sql, [value]);
    };
    match field {
        F::Name if *operator == FilterOperator::Contains => {
            fragment.and("instr(i.name_key, ?) > 0", [text_value(name_key(value))]);
        }
        F::Name => compare("i.name_key", text_value(name_key(value))),
        F::Stage => {
            compare("i.stage", Stage::parse(value).map_or(Value::Null, |stage| Value::Integer(stage as i64)));
        }
        F::Type => compare("i.kind", text_value(value)),
        F::Channel if value == NOT_LINKED => compare("i.channel", Value::Null),
        F::Channel => compare("i.channel", text_value(value)),
        F::Exclusivity => compare("i.exclusivity", text_value(value)),
        F::TaskType => compare("i.task_type", text_value(value)),
        F::PrivateData => compare("i.private_data", bool_value(value)),
        F::HasTraces => compare("i.has_traces", bool_value(value)),
        F::HasQaResults => compare("i.has_qa_results", bool_value(value)),
        F::HasEnvironment => compare("i.has_environment", bool_value(value)),
        F::Domain => {
            let sql = if is {
                "instr(coalesce(i.domains, ''), ?) > 0"
            } else {
                "instr(coalesce(i.domains, ''), ?) = 0"
            };
            fragment.and(sql, [text_value(format!(",{value},"))]);
        }
        F::RanOnModel | F::QaAgent => {
            let not = if is { "" } else { "NOT " };
            let sql = format!(
                "{not}EXISTS (SELECT 1 FROM task_reading_words w WHERE w.asset = i.asset AND w.field = ? AND w.word = ?)"
            );
            fragment.and(&sql, [text_value(field.as_str()), text_value(value)]);
        }
    }
}

fn bool_value(value: &str) -> Value {
    Value::Integer(i64::from(value == "true"))
}
