//! Conditions and sort orders of asset lists, as SQL over `inventory i`.

use marketplace_text::{equality_key, search_key};
use rusqlite::types::Value;
use uuid::Uuid;

use crate::{
    domain::{
        asset_filters::{AssetCondition, FilterField, NOT_LINKED, SortColumn},
        assets::Kind,
        filters::{AllowedValues, FilterOperator, FilterableField, SortDirection},
        stages::Stage,
        teams::TeamRowId,
    },
    store::{changed_data, row},
    string_enum::StringEnum,
};

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
struct SqlFragment {
    sql: String,
    values: Vec<Value>,
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

    /// Returns the WHERE condition for a statement over `inventory i`, and its parameters in order.
    pub(in crate::store) fn condition(&self) -> (String, Vec<Value>) {
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
            let ids: Vec<String> = self.ids.iter().map(row::hex_digits).collect();
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
        add_conditions(&self.conditions, &mut fragment);
        (fragment.sql, fragment.values)
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

/// Returns the column that rows are sorted by. Most have the name that requests use.
fn column_sql(column: SortColumn) -> &'static str {
    match column {
        SortColumn::Name => "name_key",
        SortColumn::Type => "kind",
        SortColumn::Domain => "domains",
        SortColumn::Price => "price_cents",
        SortColumn::Estimate => "estimate_cents",
        column => column.as_str(),
    }
}

/// Adds conditions, each once. Conditions that need a function call or another table come last, and those that
/// compare the same field with many values become one.
fn add_conditions(conditions: &[AssetCondition], fragment: &mut SqlFragment) {
    use FilterField as F;
    let mut distinct: Vec<&AssetCondition> = Vec::new();
    for condition in conditions {
        if !distinct.contains(&condition) {
            distinct.push(condition);
        }
    }
    let (mut texts, mut excluded_names) = (Vec::new(), Vec::new());
    let (mut required_words, mut excluded_words) = (Vec::new(), Vec::new());
    for condition in distinct {
        let is_not = condition.operator == FilterOperator::IsNot;
        match condition.field {
            F::Name if is_not => excluded_names.push(text_value(equality_key(&condition.value))),
            F::RanOnModel | F::QaAgent if is_not => excluded_words.push(word_value(condition)),
            F::RanOnModel | F::QaAgent => {
                let word = word_value(condition);
                if !required_words.contains(&word) {
                    required_words.push(word);
                }
            }
            F::Name | F::Domain | F::Qc => texts.push(condition),
            _ => add_comparison(condition, fragment),
        }
    }
    if !excluded_names.is_empty() {
        let sql = format!("i.name_key NOT IN ({})", placeholders(excluded_names.len()));
        fragment.and(&sql, excluded_names);
    }
    for condition in texts {
        add_text_condition(condition, fragment);
    }
    add_word_conditions(required_words, excluded_words, fragment);
}

/// Adds a condition that compares a column with one value. A field without a value differs from every value,
/// so `is_not` matches it.
fn add_comparison(AssetCondition { field, operator, value }: &AssetCondition, fragment: &mut SqlFragment) {
    use FilterField as F;
    let (column, value) = match field {
        F::Stage => ("stage", Stage::parse(value).map_or(Value::Null, |stage| Value::Integer(stage as i64))),
        F::Type => ("kind", text_value(value)),
        F::Channel if value == NOT_LINKED => ("channel", Value::Null),
        F::Channel => ("channel", text_value(value)),
        F::Name => ("name_key", text_value(equality_key(value))),
        F::Domain | F::RanOnModel | F::QaAgent | F::Qc => return,
        field => match field.allowed_values() {
            AllowedValues::Boolean => (field.as_str(), bool_value(value)),
            _ => (field.as_str(), text_value(value)),
        },
    };
    let comparison = if *operator == FilterOperator::IsNot { "IS NOT" } else { "IS" };
    fragment.and(&format!("i.{column} {comparison} ?"), [value]);
}

/// Adds a condition on the title, the domain tags, or the latest quality run.
fn add_text_condition(condition: &AssetCondition, fragment: &mut SqlFragment) {
    let AssetCondition { field, operator, value } = condition;
    match (field, operator) {
        (FilterField::Name, FilterOperator::Contains) => {
            let sql = "instr(coalesce(i.search_key, i.name_key), ?) > 0";
            fragment.and(sql, [text_value(search_key(value))]);
        }
        (FilterField::Qc, operator) => {
            let comparison = if *operator == FilterOperator::IsNot { "<>" } else { "=" };
            let sql = format!("{} {comparison} ?", changed_data::OUTCOME_OF_ASSET);
            fragment.and(&sql, [text_value(value)]);
        }
        (FilterField::Domain, operator) => {
            let sql = match operator {
                FilterOperator::IsNot => "(i.domains IS NULL OR instr(i.domains, ?) = 0)",
                _ => "instr(i.domains, ?) > 0",
            };
            // Slugs have neither commas nor spaces. A value with commas would match neighboring slugs in the list.
            let slug = equality_key(value).replace(',', " ");
            fragment.and(sql, [text_value(format!(",{slug},"))]);
        }
        _ => add_comparison(condition, fragment),
    }
}

/// Adds the conditions on models and QA agents. Each kind of condition reads the few words of an asset once,
/// however many words are required or excluded.
fn add_word_conditions(required: Vec<Value>, excluded: Vec<Value>, fragment: &mut SqlFragment) {
    let words_among = |columns: &str, count: usize| {
        format!(
            "(SELECT {columns} FROM task_reading_words w
              WHERE w.asset = i.asset AND w.field || ':' || w.word_key IN ({}))",
            placeholders(count)
        )
    };
    if !required.is_empty() {
        let sql = format!("{} = {}", words_among("count(*)", required.len()), required.len());
        fragment.and(&sql, required);
    }
    if !excluded.is_empty() {
        let sql = format!("NOT EXISTS {}", words_among("1", excluded.len()));
        fragment.and(&sql, excluded);
    }
}

/// Returns a word with its field, as [`add_word_conditions`] compares it. Fields contain no colon.
fn word_value(condition: &AssetCondition) -> Value {
    text_value(format!("{}:{}", condition.field.as_str(), equality_key(&condition.value)))
}

/// Returns the parameters of a list of values.
fn placeholders(count: usize) -> String {
    vec!["?"; count].join(", ")
}

fn bool_value(value: &str) -> Value {
    Value::Integer(i64::from(value == "true"))
}
