//! Accepts names and forms of arguments that models use besides those in the schemas: common other names, lists as JSON text,
//! single values as lists, and values of closed sets in other cases.

use std::borrow::Cow;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{
    arguments::{MAX_ADDRESS_BYTES, unknown_argument, whole_number},
    error::ToolError,
    known_values::simplified,
    openapi::Parameter,
    schemas::{DEFAULT_LIMIT, FIELDS, FILTER, FILTERS, LIMIT, OFFSET},
    tools::Tool,
    value_lists::values_mut,
    variants::Variant,
};
use crate::{
    domain::{
        asset_filters::FilterField,
        estimations::EstimationField,
        filters::{AllowedValues, FilterableField},
    },
    error::excerpt,
    string_enum::StringEnum,
};

/// Other names of arguments, with those of the schemas.
const OTHER_NAMES: [(&str, &str); 2] = [("q", "query"), ("certified", "verified_only")];

/// Argument for several IDs.
const IDS: &str = "ids";

/// Maximum number of values of an argument, and of bytes of each, that are compared with those of a closed set. No closed set
/// is larger.
const MAX_CLOSED_VALUES: usize = 50;
const MAX_CLOSED_BYTES: usize = 64;

/// Returns the arguments of a call under the names, and in the forms, of the tool's schema. Optional ones that are null, empty
/// text, or a list of nothing else are left out: some clients send these for missing arguments. Fails if the tool has no
/// argument with a name.
pub fn normalize(tool: &Tool, input: &JsonObject) -> Result<JsonObject, ToolError> {
    let mut normalized = JsonObject::new();
    let unpacked = unpack_filters(tool, input)?;
    for (name, value) in unpacked.iter().filter(|(_, value)| !value.is_null()) {
        let Some(known) = known_name(tool, name) else {
            return Err(unknown_argument(tool, name, chosen_variant(tool, input)));
        };
        let is_required = parameters(tool).any(|parameter| parameter.name == known && parameter.is_required);
        let is_absent = |value: &Value| is_empty_text(value) && !is_required;
        if is_absent(value) {
            continue;
        }
        let is_page = known == OFFSET && name == "page";
        let mut value = if is_page { offset_of_page(value, input.get(LIMIT))? } else { value.clone() };
        if takes_list(tool, known) {
            value = parsed_json(value, '[');
            if let Value::Array(values) = &mut value {
                values.retain(|value| !value.is_null() && !is_empty_text(value));
                if values.is_empty() {
                    continue;
                }
            }
        } else if let Value::Array(values) = &mut value
            && values.len() == 1
            && !values[0].is_array()
        {
            value = values.remove(0);
        }
        if is_absent(&value) {
            continue;
        }
        replace_closed_values(&mut value, &closed_values(tool, known));
        if known == FILTER {
            replace_conditions(&mut value);
        }
        if normalized.insert(known.to_owned(), value).is_some() {
            return Err(stated_twice(known));
        }
    }
    Ok(normalized)
}

/// Returns the error of a call that names the arguments as the call did, and not as the schema does.
pub fn with_sent_names(tool: &Tool, input: &JsonObject, mut error: ToolError) -> ToolError {
    let unpacked = unpack_filters(tool, input).unwrap_or(Cow::Borrowed(input));
    for name in unpacked.keys() {
        // The offset of a page is another number than was sent.
        if let Some(known) = known_name(tool, name).filter(|known| known != name && *known != OFFSET) {
            error.message = error.message.replace(&format!("`{known}`"), &format!("`{name}`"));
        }
    }
    error
}

/// Whether a value is text without characters.
fn is_empty_text(value: &Value) -> bool {
    value.as_str() == Some("")
}

/// Returns the arguments with those in `filters` next to the others, as operations take them.
fn unpack_filters<'i>(tool: &Tool, input: &'i JsonObject) -> Result<Cow<'i, JsonObject>, ToolError> {
    let Some(filters) = input.get(FILTERS).filter(|_| tool.entry.filters_description().is_some()) else {
        return Ok(Cow::Borrowed(input));
    };
    let filters = match parsed_json(filters.clone(), '{') {
        Value::Object(filters) => filters,
        value if value.is_null() || is_empty_text(&value) => JsonObject::new(),
        _ => {
            return Err(ToolError::invalid(
                format!("`{FILTERS}` must be an object."),
                "Send the filters by name, as in {\"kind\": [\"full\"]}.",
            ));
        }
    };
    let mut unpacked = input.clone();
    unpacked.remove(FILTERS);
    for (name, value) in filters {
        if unpacked.insert(name.clone(), value).is_some() {
            return Err(stated_twice(&name));
        }
    }
    Ok(Cow::Owned(unpacked))
}

fn stated_twice(name: &str) -> ToolError {
    ToolError::invalid(
        format!("`{}` is stated twice.", excerpt(name)),
        "Send it once, by the name in the schema.",
    )
}

/// Returns the operation that a call chooses; `None` if it does not name one.
fn chosen_variant<'t>(tool: &'t Tool, input: &JsonObject) -> Option<&'t Variant> {
    let argument = tool.entry.choice_argument()?;
    let mut choice = input.get(argument)?.clone();
    replace_closed_values(&mut choice, &closed_values(tool, argument));
    tool.variants.iter().find(|variant| choice.as_str() == variant.choice)
}

/// Returns the name of an argument in the tool's schema.
fn known_name<'t>(tool: &'t Tool, name: &str) -> Option<&'t str> {
    let names = tool.arguments.iter().chain(&tool.filters);
    let find = |name: &str| names.clone().find(|known| *known == name).map(String::as_str);
    let other = || OTHER_NAMES.iter().find(|(other, _)| *other == name).and_then(|(_, known)| find(known));
    let by_meaning = || match name {
        "id" | IDS => id_argument(tool),
        "page" => find(OFFSET),
        _ => None,
    };
    find(name).or_else(other).or_else(by_meaning)
}

/// Returns the name of the argument for the IDs of the returned records: the only parameter in the paths of its operations, or
/// else `ids`; `None` if there are several or none.
fn id_argument(tool: &Tool) -> Option<&str> {
    let mut names =
        parameters(tool).filter(|parameter| parameter.is_in_path).map(|parameter| parameter.name.as_str());
    let Some(first) = names.next() else {
        return tool.arguments.iter().find(|name| *name == IDS).map(String::as_str);
    };
    names.all(|name| name == first).then_some(first)
}

/// Returns the parameters of all operations of a tool.
fn parameters(tool: &Tool) -> impl Iterator<Item = &Parameter> {
    tool.variants.iter().flat_map(|variant| &variant.operation.parameters)
}

/// Returns the values of an argument that takes one of a closed set; empty for others.
fn closed_values<'t>(tool: &'t Tool, name: &str) -> Vec<&'t str> {
    if tool.entry.choice_argument() == Some(name) {
        return tool.variants.iter().filter_map(|variant| variant.choice).collect();
    }
    let of_operations = parameters(tool)
        .filter(|parameter| parameter.name == name)
        .flat_map(|parameter| parameter.closed_values().filter_map(Value::as_str));
    let choices: Vec<&str> = tool.variants.iter().filter_map(|variant| variant.choice).collect();
    of_operations.chain(tool.entry.values_of(name, &choices).unwrap_or_default()).collect()
}

/// Replaces values of a closed set that have another case or other separators.
fn replace_closed_values(value: &mut Value, closed: &[&str]) {
    if !closed.is_empty() {
        for value in values_mut(value).iter_mut().take(MAX_CLOSED_VALUES) {
            if let Some(known) = value.as_str().and_then(|text| closed_value(text, closed)) {
                *value = json!(known);
            }
        }
    }
}

/// Returns the value of a closed set that a text means; `None` if it matches none, or needs no replacement.
fn closed_value<'c>(text: &str, closed: &[&'c str]) -> Option<&'c str> {
    if text.len() > MAX_CLOSED_BYTES || closed.contains(&text) {
        return None;
    }
    let simple = simplified(text);
    closed.iter().find(|known| simplified(known) == simple).copied()
}

/// Replaces the values of conditions (`field:operator:value`) that are another form of a value of a closed set.
fn replace_conditions(value: &mut Value) {
    for value in values_mut(value).iter_mut().take(MAX_CLOSED_VALUES) {
        if let Some(condition) = value.as_str().and_then(closed_condition) {
            *value = json!(condition);
        }
    }
}

fn closed_condition(text: &str) -> Option<String> {
    let (field, rest) = text.split_once(':')?;
    let (operator, value) = rest.split_once(':')?;
    let of_assets = FilterField::parse(field).map(FilterField::allowed_values);
    let allowed = of_assets.or_else(|| EstimationField::parse(field).map(EstimationField::allowed_values))?;
    let AllowedValues::OneOf(closed) = allowed else { return None };
    closed_value(value, &closed).map(|known| format!("{field}:{operator}:{known}"))
}

/// Returns the offset of a page, of which the first has number 1.
fn offset_of_page(page: &Value, limit: Option<&Value>) -> Result<Value, ToolError> {
    let limit = limit.and_then(whole_number).unwrap_or(DEFAULT_LIMIT);
    let offset = whole_number(page).and_then(|page| page.checked_sub(1)?.checked_mul(limit));
    let refused = || {
        let message = "`page` must be a whole number from 1.";
        let next_step = format!("Send `{OFFSET}` with the `next_offset` of the page before.");
        ToolError::invalid(message.to_owned(), next_step)
    };
    offset.map(|offset| json!(offset)).ok_or_else(refused)
}

fn takes_list(tool: &Tool, name: &str) -> bool {
    name == FIELDS || parameters(tool).any(|parameter| parameter.name == name && parameter.is_list())
}

/// Parses a text as JSON if it begins with `start`. Otherwise, returns the text unchanged. A text that is too long for an
/// argument is not parsed.
fn parsed_json(value: Value, start: char) -> Value {
    let parsed = match &value {
        Value::String(text) if text.len() <= MAX_ADDRESS_BYTES && text.trim_start().starts_with(start) => {
            serde_json::from_str(text).ok()
        }
        _ => None,
    };
    parsed.unwrap_or(value)
}
