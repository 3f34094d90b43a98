//! Arguments of a tool call: which operation is meant, its path and query, and which part of its response to
//! return.
//!
//! Operations validate their own parameters. This module validates the rest: argument names, choices, and how the
//! tool treats the response.

use std::{collections::BTreeSet, sync::Arc};

use marketplace_text::similar_names::most_similar;
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    error::{ToolError, ToolErrorCode, quote},
    evidence::{self, EVIDENCE},
    field_paths::FieldPath,
    openapi::Parameter,
    schemas::{
        CURSOR, DEFAULT_LIMIT, FIELDS, FILTERS, LIMIT, MAX_BYTES, MAX_LIMIT, OFFSET, PAGING_ARGUMENTS,
    },
    selected_fields,
    table::{ToolEntry, ToolOperations},
    tools::Tool,
    variants::{Paging, Variant},
};
use crate::{
    config::ANSWER_BYTES,
    error::{Code, excerpt},
    rest::route::{MultiTool, TeamTextIn},
};

/// Maximum number of bytes of the path and query of an operation.
pub const MAX_ADDRESS_BYTES: usize = 60_000;

/// Hints for the agent on the values of a call.
#[derive(Debug, Default)]
pub struct Advice {
    /// A sentence about unknown values; `None` if all are known.
    pub hint: Option<String>,
    /// Names of vendors that are similar to an unknown one. Teams wrote them, so they are not part of the hint.
    pub similar_vendors: Vec<String>,
}

/// A tool call with validated arguments.
#[derive(Debug)]
pub struct ToolCall<'t> {
    /// The tool's entry in the tool table.
    pub row: Arc<ToolEntry>,
    /// The operation that the arguments select.
    pub variant: &'t Variant,
    /// Path of the operation, with its parameters filled in.
    path: String,
    /// Path of the operation that names the basis of the record; `None` if there is none, or if the selected fields need none.
    pub evidence_path: Option<String>,
    /// Query parameters, not yet percent-encoded.
    query: Vec<(String, String)>,
    /// Number of items on the page.
    pub limit: usize,
    /// Number of items to skip.
    pub offset: usize,
    /// Paths of the fields to return; empty for all.
    pub fields: Vec<FieldPath>,
    /// Maximum size of the answer in bytes of JSON.
    pub max_bytes: usize,
    /// Whether an argument filters the results.
    pub is_filtered: bool,
    /// Whether the call states no fields, so that long maps are shortened.
    pub is_brief: bool,
    /// What the agent should know about the values of its arguments.
    pub advice: Advice,
}

impl ToolCall<'_> {
    /// Validates the arguments of a call to a tool that is backed by an operation. They have the names and forms of its schema;
    /// see [`normalize`](super::accepted_forms::normalize). `max_bytes` is the maximum size of the answer if no argument
    /// states it.
    pub fn parse<'t>(
        tool: &'t Tool,
        input: &JsonObject,
        max_bytes: usize,
    ) -> Result<ToolCall<'t>, ToolError> {
        let input: Vec<(&str, &Value)> = input.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let find = |name: &str| input.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        let variant = find_variant(tool, find)?;
        let mut call = ToolCall {
            row: Arc::clone(&tool.entry),
            variant,
            path: variant.operation.path.clone(),
            evidence_path: tool.evidence_path.clone(),
            query: Vec::new(),
            limit: parse_number(find(LIMIT), LIMIT, DEFAULT_LIMIT, MAX_LIMIT, variant)?,
            offset: parse_number(find(OFFSET), OFFSET, 0, i32::MAX as usize, variant)?,
            fields: selected_fields::parse(tool, variant, find(FIELDS))?,
            max_bytes: parse_max_bytes(find(MAX_BYTES), max_bytes)?,
            is_filtered: false,
            is_brief: find(FIELDS).is_none(),
            advice: Advice::default(),
        };
        call.insert_arguments(tool, &input)?;
        if call.offset > 0 && find(CURSOR).is_some() {
            return Err(ToolError::invalid(
                format!("`{CURSOR}` and `{OFFSET}` are two ways to say where a page begins."),
                format!("Send only `{CURSOR}`."),
            ));
        }
        call.add_evidence();
        call.forward_fields();
        if !evidence::is_needed(&call.fields) {
            call.evidence_path = None;
        }
        check_required(tool, variant, find)?;
        if matches!(variant.paging, Paging::Cursor | Paging::Offset) && find(LIMIT).is_none() {
            call.query.push((LIMIT.to_owned(), DEFAULT_LIMIT.to_string()));
        }
        if let Paging::LimitOnly(max) = variant.paging {
            // One item more than is returned shows whether there are more.
            let fetch_limit = call.offset.saturating_add(call.limit + 1).min(max);
            call.query.push((LIMIT.to_owned(), fetch_limit.to_string()));
        }
        if call.path_and_query().len() > MAX_ADDRESS_BYTES {
            return Err(ToolError::invalid(
                format!("The arguments have more than {MAX_ADDRESS_BYTES} bytes."),
                "Send fewer or shorter values.",
            ));
        }
        Ok(call)
    }

    /// Puts arguments into the path and the query.
    fn insert_arguments(&mut self, tool: &Tool, input: &[(&str, &Value)]) -> Result<(), ToolError> {
        let (variant, choice) = (self.variant, tool.entry.choice_argument());
        for (name, value) in input {
            if choice == Some(*name) || [FIELDS, MAX_BYTES].contains(name) {
                continue;
            }
            match variant.operation.parameter(name) {
                Some(parameter) if parameter.is_in_path => self.insert_in_path(parameter, value)?,
                Some(_) if *name == LIMIT && matches!(variant.paging, Paging::LimitOnly(_)) => {}
                Some(parameter) => {
                    self.is_filtered |= !PAGING_ARGUMENTS.contains(name);
                    self.add_query(name, value, parameter.is_list())?;
                }
                None if [LIMIT, OFFSET].contains(name) && variant.paging != Paging::None => {}
                None => return Err(inapplicable_argument(tool, name, choice.unwrap_or_default(), variant)),
            }
        }
        Ok(())
    }

    /// Also selects the evidence of records if a selected field states a fact that is based on it.
    fn add_evidence(&mut self) {
        let subject = self.variant.item_shape();
        let of_record = self.fields.iter().filter(|path| path.begins_in(subject));
        let selected: Vec<FieldPath> = of_record.cloned().collect();
        if selected.is_empty() || subject.at_path(EVIDENCE).is_none() {
            return;
        }
        let is_selected = selected.iter().any(|path| path.first_name() == Some(EVIDENCE));
        let is_record = self.variant.call.list.is_none();
        if !is_selected && (is_record || evidence::is_needed(&selected)) {
            self.fields.push(FieldPath::of_field(EVIDENCE));
        }
    }

    /// Passes the names of the selected fields to an operation that takes them, so that it computes no others.
    fn forward_fields(&mut self) {
        if self.variant.operation.parameter(FIELDS).is_some() {
            let names: BTreeSet<&str> = self.fields.iter().filter_map(FieldPath::first_name).collect();
            self.query.extend(names.into_iter().map(|name| (FIELDS.to_owned(), name.to_owned())));
        }
    }

    /// Returns the path of the operation with its query string.
    pub fn path_and_query(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        format!("{}?{query}", self.path)
    }

    /// Returns the same path and query with another `limit`.
    pub fn path_and_query_with_limit(&self, limit: usize) -> String {
        let others = self.query.iter().filter(|(name, _)| name != LIMIT);
        let limit = limit.to_string();
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(others)
            .append_pair(LIMIT, &limit)
            .finish();
        format!("{}?{query}", self.path)
    }

    /// Adds the tool's information on its IDs to the next step of a "not found" error.
    pub fn add_id_hint(&self, error: ToolError) -> ToolError {
        if error.code != ToolErrorCode::Api(Code::NotFound) {
            return error;
        }
        let mut next_step = error.next_step;
        if !self.row.text.id_sources.is_empty() {
            next_step = format!("{next_step} IDs for this tool: {}.", self.row.text.id_sources);
        }
        if let Some(choice) = self.row.choice_argument() {
            next_step = format!("{next_step} If the ID is right, try another `{choice}`.");
        }
        ToolError { next_step, ..error }
    }

    /// Whether the result can contain text that teams wrote.
    pub fn has_team_text(&self) -> bool {
        let is_of_teams = match self.row.text.team_text {
            TeamTextIn::AnyResult => true,
            TeamTextIn::NoResult => false,
            TeamTextIn::ResultsFor { parameter, values } => {
                self.query.iter().any(|(name, value)| name == parameter && values.contains(&value.as_str()))
            }
        };
        is_of_teams || !self.advice.similar_vendors.is_empty()
    }

    /// Whether the next page can be requested by its offset: the operation takes one, and no cursor says where this page
    /// begins.
    pub fn is_paged_by_offset(&self) -> bool {
        self.variant.takes_offset() && !self.query.iter().any(|(name, _)| name == CURSOR)
    }

    /// Inserts an ID or a number into the path.
    fn insert_in_path(&mut self, parameter: &Parameter, value: &Value) -> Result<(), ToolError> {
        let name = &parameter.name;
        // Only numbers and UUIDs may be inserted into a path: other text could lead to another operation.
        let number = value.as_i64().filter(|_| parameter.schema.get("type") == Some(&json!("integer")));
        let id = value.as_str().and_then(|text| Uuid::try_parse(text).ok()).map(|id| id.to_string());
        let text = number.map(|number| number.to_string()).or(id).ok_or_else(|| {
            let message = format!("`{name}` must be a UUID, not {}.", quote(value));
            ToolError::invalid(message, "Take the ID from the response of a list or browse tool.")
        })?;
        let template = format!("{{{name}}}");
        for path in [Some(&mut self.path), self.evidence_path.as_mut()].into_iter().flatten() {
            *path = path.replace(&template, &text);
        }
        Ok(())
    }

    /// Appends a value, or each value of a list, to the query.
    fn add_query(&mut self, name: &str, value: &Value, is_list: bool) -> Result<(), ToolError> {
        let values = match value {
            Value::Array(values) if is_list => values.iter().collect(),
            value => vec![value],
        };
        for value in values {
            let text = match value {
                Value::String(text) => text.clone(),
                // Some models write every number with a decimal point.
                Value::Number(number) => match number.as_f64() {
                    Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
                    _ => number.to_string(),
                },
                Value::Bool(_) => value.to_string(),
                _ => {
                    let form = if is_list { "a list of scalar values" } else { "a scalar value" };
                    let message = format!("`{name}` must be {form}, not {}.", quote(value));
                    return Err(ToolError::invalid(message, "Fix the argument and call again."));
                }
            };
            self.query.push((name.to_owned(), text));
        }
        Ok(())
    }
}

/// Returns the operation that the choice argument selects.
fn find_variant<'t, 'v>(
    tool: &'t Tool,
    find: impl Fn(&str) -> Option<&'v Value>,
) -> Result<&'t Variant, ToolError> {
    let ToolOperations::Choice { argument: MultiTool { argument, default, .. }, .. } = &tool.entry.operations
    else {
        return Ok(&tool.variants[0]);
    };
    let known_choices =
        || tool.variants.iter().filter_map(|variant| variant.choice).collect::<Vec<_>>().join(", ");
    let choice = match find(argument) {
        Some(Value::String(choice)) => choice.as_str(),
        Some(value) => {
            let message = format!("`{argument}` must be one of {}, not {}.", known_choices(), quote(value));
            return Err(ToolError::invalid(message, "Choose one of them."));
        }
        None => default.ok_or_else(|| {
            let message = format!("`{argument}` is required. It must be one of {}.", known_choices());
            ToolError::invalid_argument(
                ToolErrorCode::MissingArgument,
                message,
                format!("Call again with `{argument}`."),
            )
        })?,
    };
    tool.variants.iter().find(|variant| variant.choice == Some(choice)).ok_or_else(|| {
        let message = format!("`{argument}` must be one of {}, not {:?}.", known_choices(), excerpt(choice));
        ToolError::invalid(message, "Choose one of them.")
    })
}

/// Returns a number that is not negative, which some models write as text.
pub fn whole_number(input: &Value) -> Option<usize> {
    let integer = input.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
    integer.map(|number| number as usize).or_else(|| input.as_str()?.parse().ok())
}

/// Fails if a required argument is missing.
fn check_required<'i>(
    tool: &Tool,
    variant: &Variant,
    find: impl Fn(&str) -> Option<&'i Value>,
) -> Result<(), ToolError> {
    let missing = variant
        .operation
        .parameters
        .iter()
        .find(|parameter| parameter.is_required && find(&parameter.name).is_none());
    if let Some(missing) = missing {
        let name = &missing.name;
        let message = format!("`{name}` is required.");
        return Err(ToolError::invalid_argument(
            ToolErrorCode::MissingArgument,
            message,
            if tool.filters.contains(name) {
                format!("Call again with `{name}` in `{FILTERS}`.")
            } else {
                format!("Call again with `{name}`.")
            },
        ));
    }
    Ok(())
}

/// Parses the maximum size of the answer.
fn parse_max_bytes(value: Option<&Value>, default: usize) -> Result<usize, ToolError> {
    let Some(value) = value else { return Ok(default) };
    whole_number(value).filter(|number| ANSWER_BYTES.contains(number)).ok_or_else(|| {
        let (min, max) = (ANSWER_BYTES.start(), ANSWER_BYTES.end());
        ToolError::invalid(
            format!("`{MAX_BYTES}` must be an integer from {min} to {max}."),
            format!("Call again with another `{MAX_BYTES}`, or without it."),
        )
    })
}

/// Parses a number that the tool itself uses. If the operation takes the parameter too, the operation
/// validates it.
fn parse_number(
    input: Option<&Value>,
    name: &str,
    default: usize,
    max: usize,
    variant: &Variant,
) -> Result<usize, ToolError> {
    let Some(input) = input else { return Ok(default) };
    let min = usize::from(name == LIMIT);
    let max = match variant.paging {
        Paging::LimitOnly(operation_max) if name == LIMIT => operation_max,
        _ => max,
    };
    let number = whole_number(input);
    if matches!(variant.paging, Paging::Cursor | Paging::Offset) {
        return Ok(number.unwrap_or(default));
    }
    number.filter(|number| (min..=max).contains(number)).ok_or_else(|| {
        let message = format!("`{name}` must be a whole number from {min} to {max}, not {}.", quote(input));
        ToolError::invalid(message, "Fix the argument and call again.")
    })
}

/// Returns the error for an argument that the tool does not have. `chosen` is the operation that the call chooses, if it names
/// one.
pub fn unknown_argument(tool: &Tool, name: &str, chosen: Option<&Variant>) -> ToolError {
    let name = excerpt(name);
    let name = name.as_str();
    let filters = chosen.map(|variant| filters_of(tool, variant)).unwrap_or_default();
    let known = tool.arguments.iter().map(String::as_str).chain(filters.iter().copied());
    let has = |name: &str| tool.arguments.iter().any(|known| known == name);
    let hint = match (name, most_similar(name, known)) {
        (OFFSET, _) if has(CURSOR) => " Its list is paged with `cursor`.".to_owned(),
        (CURSOR, _) if has(OFFSET) => " Its list is paged with `offset`.".to_owned(),
        (_, Some(known)) => format!(" Did you mean `{known}`?"),
        _ => String::new(),
    };
    let message = format!("{} has no argument {name:?}.{hint}", tool.entry.text.name);
    let mut next = match tool.arguments.as_slice() {
        [] => "Call it without arguments.".to_owned(),
        known => format!("Known arguments: {}.", known.join(", ")),
    };
    if let Some(choice) = chosen.and_then(|variant| variant.choice).filter(|_| has(FILTERS)) {
        next = format!("{next} {}", known_filters(choice, &filters));
    }
    ToolError::invalid_argument(ToolErrorCode::UnknownArgument, message, next)
}

/// Returns the names of the parameters of an operation that the argument `filters` contains.
fn filters_of<'v>(tool: &Tool, variant: &'v Variant) -> Vec<&'v str> {
    let names = variant.operation.parameters.iter().map(|parameter| parameter.name.as_str());
    names.filter(|name| tool.filters.iter().any(|filter| filter == name)).collect()
}

/// Returns a sentence with the filters of a list.
fn known_filters(list: &str, filters: &[&str]) -> String {
    match filters {
        [] => format!("{list} has no `{FILTERS}`."),
        filters => format!("`{FILTERS}` of {list}: {}.", filters.join(", ")),
    }
}

/// Returns the error for an argument that only another choice takes.
fn inapplicable_argument(tool: &Tool, name: &str, choice: &str, variant: &Variant) -> ToolError {
    let other_choice = variant.choice.unwrap_or_default();
    let message = format!("`{name}` cannot be used with `{choice}` {other_choice:?}.");
    let next = if tool.filters.iter().any(|filter| filter == name) {
        known_filters(other_choice, &filters_of(tool, variant))
    } else {
        format!("Leave `{name}` out, or use another `{choice}`.")
    };
    ToolError::invalid(message, next)
}
