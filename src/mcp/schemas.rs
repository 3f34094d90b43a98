//! Input and output schemas of tools (JSON Schema), derived from the operations behind them.
//!
//! A model reads the whole tool list before it does anything, so schemas are kept small: outputs have no descriptions, and
//! unless a client asks for more, only the names of their fields. Every argument of every tool is described, since some
//! clients load tools one at a time.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    evidence::{self, EVIDENCE},
    openapi::{Parameter, Shape, nullable},
    signed_addresses,
    table::{ToolEntry, ToolOperations},
    variants::{Paging, Variant},
};
use crate::rest::route::{MultiTool, ToolText};

/// Default number of items on a page.
pub const DEFAULT_LIMIT: usize = 20;

/// Maximum number of items on a page if the tool does the paging.
pub const MAX_LIMIT: usize = 100;

/// Argument that selects the fields to return.
pub const FIELDS: &str = "fields";
/// Argument for conditions on assets or estimations.
pub const FILTER: &str = "filter";
/// Argument for the parameters that only some operations of a tool have.
pub const FILTERS: &str = "filters";
/// Argument that asks for the size of the answer instead.
pub const ESTIMATE: &str = "estimate";
/// Argument for the maximum size of the answer.
pub const MAX_BYTES: &str = "max_bytes";
/// Argument for the number of items on a page.
pub const LIMIT: &str = "limit";
/// Argument for the number of items to skip.
pub const OFFSET: &str = "offset";

/// Argument for the name of a vendor.
pub const VENDOR: &str = "vendor";

/// Argument for the `next_cursor` of the page before.
pub const CURSOR: &str = "cursor";

/// Arguments that select a part of the results or their order, but do not filter.
pub const PAGING_ARGUMENTS: [&str; 5] = [LIMIT, OFFSET, CURSOR, "sort", "sort_direction"];

/// Description of [`FIELDS`] of a tool that returns some of them by default.
const SOME_OR_ALL: &str = "Fields; `*` for all.";

/// Descriptions of [`LIMIT`] and [`OFFSET`], which many tools have.
const PER_PAGE: &str = "Page size.";
const TO_SKIP: &str = "Items to skip.";

/// Output field with the offset of the next page; null on the last page.
pub const NEXT_OFFSET: &str = "next_offset";
/// Output field that says what was truncated, and how to get it.
pub const CUT: &str = "cut";
/// Output field that names the fields with text written by teams.
pub const NOTICE: &str = "notice";
/// Output field with the names of vendors that are similar to an unknown one.
pub const SIMILAR_VENDORS: &str = "similar_vendors";
/// Output field with advice of the platform, for example on an empty list.
pub const HINT: &str = "hint";

/// Returns the input schema of a tool. `names_fields` is whether the list of tools has room for the names of fields.
pub fn input_schema(row: &ToolEntry, variants: &[Variant], names_fields: bool) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let choices: Vec<&str> = variants.iter().filter_map(|variant| variant.choice).collect();
    let mut add_property = |name: &str, mut schema: Map<String, Value>, description: &str| {
        schema.insert("description".to_owned(), json!(description));
        properties.insert(name.to_owned(), Value::Object(schema));
    };
    if let ToolOperations::Choice { argument: tool, .. } = &row.operations {
        let MultiTool { argument, description, default, .. } = tool;
        let mut schema = into_object(json!({"type": "string", "enum": choices}));
        match default {
            Some(default) => _ = schema.insert("default".to_owned(), json!(default)),
            None => required.push(*argument),
        }
        add_property(argument, schema, description);
    }
    let mut parameters: Vec<&Parameter> = Vec::new();
    for parameter in variants.iter().flat_map(|variant| &variant.operation.parameters) {
        let is_known = parameters.iter().any(|other| other.name == parameter.name);
        if !is_known && parameter.name != FIELDS && !is_nested(row, variants, &parameter.name) {
            parameters.push(parameter);
        }
    }
    if let Some(description) = row.filters_description() {
        add_property(FILTERS, filters_schema(row, variants), description);
    }
    for parameter in &parameters {
        let is_always_required = variants.iter().all(|variant| is_required(variant, &parameter.name));
        if is_always_required {
            required.push(&parameter.name);
        }
        let schema = parameter_schema(row, &choices, parameter);
        add_property(&parameter.name, schema, parameter_description(row, parameter));
    }
    let has = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    if variants.iter().any(|variant| variant.paging == Paging::FullList) && !has(LIMIT) {
        let schema = json!({"type": "integer", "default": DEFAULT_LIMIT});
        add_property(LIMIT, into_object(schema), PER_PAGE);
    }
    if variants.iter().any(|variant| matches!(variant.paging, Paging::FullList | Paging::LimitOnly(_)))
        && !has(OFFSET)
    {
        add_property(OFFSET, into_object(json!({"type": "integer"})), TO_SKIP);
    }
    if !variants.is_empty() {
        let schema = into_object(json!({"type": "array", "items": {"type": "string"}}));
        add_property(FIELDS, schema, &fields_description(row, variants, names_fields));
        let description = "Maximum bytes.";
        add_property(MAX_BYTES, into_object(json!({"type": "integer"})), description);
    }
    add_property(ESTIMATE, into_object(json!({"type": "boolean"})), "Only the size.");
    let mut schema = into_object(json!({"type": "object", "additionalProperties": false}));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

/// Returns the schema of a parameter without its description.
fn parameter_schema(row: &ToolEntry, choices: &[&str], parameter: &Parameter) -> Map<String, Value> {
    let mut schema = parameter.schema.clone();
    if parameter.name == LIMIT {
        schema.insert("default".to_owned(), json!(DEFAULT_LIMIT));
        schema.remove("minimum");
        schema.remove("maximum");
    }
    // Models assume `false`.
    if parameter.name == OFFSET || schema.get("default") == Some(&json!(false)) {
        schema.remove("default");
    }
    if let Some(values) = row.values_of(&parameter.name, choices) {
        let schema = match schema.get_mut("items") {
            Some(Value::Object(items)) => items,
            _ => &mut schema,
        };
        schema.insert("enum".to_owned(), typed_values(schema, &values));
    }
    schema
}

/// Returns the description of a parameter: the tool's own, or a short one for common parameters, or the operation's.
fn parameter_description<'d>(row: &'d ToolEntry, parameter: &'d Parameter) -> &'d str {
    let own = row.text.parameters.iter().find(|(name, _)| *name == parameter.name);
    match (own, parameter.name.as_str()) {
        (Some((_, description)), _) => description,
        (None, "listing_id") if !parameter.is_in_path => "Only of this listing.",
        (None, "sort") => "Sort order.",
        (None, "sort_direction") => "Direction of `sort`.",
        (None, LIMIT) => PER_PAGE,
        (None, OFFSET) => TO_SKIP,
        (None, _) => &parameter.description,
    }
}

/// Returns the description of [`FIELDS`]: the fields that can be selected besides those that are returned without it.
fn fields_description(row: &ToolEntry, variants: &[Variant], names_fields: bool) -> String {
    if row.text.row.is_empty() {
        return "Fields to return.".to_owned();
    }
    if !names_fields {
        return SOME_OR_ALL.to_owned();
    }
    if !row.text.fields_of.is_empty() {
        return format!("{SOME_OR_ALL} Also those of {}.", row.text.fields_of);
    }
    let fields: BTreeSet<&str> =
        variants.iter().flat_map(|variant| variant.item_shape().field_names()).collect();
    let others: Vec<&str> = fields.into_iter().filter(|name| !row.text.row.contains(name)).collect();
    if others.is_empty() {
        SOME_OR_ALL.to_owned()
    } else {
        format!("{SOME_OR_ALL} Also: {}.", others.join(", "))
    }
}

/// Returns the values of a parameter as JSON of the type in its schema.
fn typed_values(schema: &Map<String, Value>, values: &[&str]) -> Value {
    let is_integer = schema.get("type") == Some(&json!("integer"));
    let typed = |text: &&str| match text.parse::<i64>() {
        Ok(number) if is_integer => json!(number),
        _ => json!(text),
    };
    values.iter().map(typed).collect()
}

/// Returns the schema of the argument [`FILTERS`]. Lists the values of parameters for kinds or states that only some operations
/// of the tool have.
fn filters_schema(row: &ToolEntry, variants: &[Variant]) -> Map<String, Value> {
    let mut properties = Map::new();
    for name in ["kind", "status"].into_iter().filter(|name| is_nested(row, variants, name)) {
        let parameters = variants.iter().filter_map(|variant| variant.operation.parameter(name));
        let mut values: Vec<&Value> = Vec::new();
        for value in parameters.flat_map(Parameter::closed_values) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        properties.insert(name.to_owned(), json!({"type": "array", "items": {"enum": values}}));
    }
    into_object(json!({"type": "object", "properties": properties}))
}

/// Whether a parameter is given in the argument [`FILTERS`]: the tool has it, and another operation lacks the parameter.
pub fn is_nested(row: &ToolEntry, variants: &[Variant], name: &str) -> bool {
    row.filters_description().is_some()
        && !variants.iter().all(|variant| variant.operation.parameter(name).is_some())
}

fn is_required(variant: &Variant, name: &str) -> bool {
    variant.operation.parameter(name).is_some_and(|parameter| parameter.is_required)
}

/// Returns the argument names of an input schema.
pub fn argument_names(input: &Map<String, Value>) -> Vec<String> {
    input["properties"].as_object().map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

/// Returns the full output schema of a tool: the types of the response's fields, and of the fields of list items.
/// No field is required, because an agent can select fields.
pub fn output_schema(tool: &ToolText, variants: &[Variant]) -> Map<String, Value> {
    let shapes = variants.iter().map(|variant| variant.operation.response.clone());
    let depth = if variants.iter().any(|variant| variant.call.list.is_some()) { 2 } else { 1 };
    let mut schema = shapes.reduce(Shape::merge).unwrap_or(Shape::Map).schema(depth);
    if variants.is_empty() {
        return into_object(json!({
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "name": {"type": "string"},
                "roles": {"type": "array", "items": {"type": "string"}},
                "now": {"type": "string"},
                "nda_accepted": {"type": "boolean"},
                "browse_access": nullable(&json!({"type": "object"})),
                "next_step": {"type": "string"},
                "facts": nullable(&json!({"type": "object"})),
                "estimate": {"type": "object"},
            },
        }));
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        if variants.iter().any(Variant::takes_offset) {
            properties.insert(NEXT_OFFSET.to_owned(), nullable(&json!({"type": "integer"})));
        }
        let has_hint = variants.iter().any(|variant| {
            variant.call.list.is_some() && has_filters(variant)
                || signed_addresses::can_be_in(&variant.operation.response)
        });
        let has_evidence = !tool.evidence.is_empty() || evidence::can_be_in(tool.name);
        for name in
            [CUT, NOTICE].into_iter().chain(has_hint.then_some(HINT)).chain(has_evidence.then_some(EVIDENCE))
        {
            properties.insert(name.to_owned(), json!({"type": "string"}));
        }
        if variants.iter().any(|variant| variant.operation.parameter(VENDOR).is_some()) {
            properties
                .insert(SIMILAR_VENDORS.to_owned(), json!({"type": "array", "items": {"type": "string"}}));
        }
        properties.insert(ESTIMATE.to_owned(), json!({"type": "object"}));
    }
    schema
}

/// Returns whether an argument filters the results of an operation.
fn has_filters(variant: &Variant) -> bool {
    let mut parameters = variant.operation.parameters.iter();
    parameters.any(|parameter| !parameter.is_in_path && !PAGING_ARGUMENTS.contains(&parameter.name.as_str()))
}

/// Returns the shallow form of an output schema: the names of the response's fields. A list of names is the shortest form, and
/// the inspector of the protocol warns of a field without a type.
pub fn shallow(schema: &Map<String, Value>) -> Map<String, Value> {
    let names: Vec<&str> = match schema.get("properties") {
        Some(Value::Object(properties)) => properties.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    into_object(json!({"type": "object", "propertyNames": {"enum": names}}))
}

/// Returns the fields of an object.
fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
