//! The fields that a call selects: paths of items, of a record, or of a page.

use serde_json::{Value, json};

use super::{
    error::{ToolError, quote},
    evidence::EVIDENCE,
    field_paths::{FieldPath, MAX_FIELD_PATHS},
    openapi::Shape,
    schemas::{CUT, FIELDS, HINT, NEXT_OFFSET, NOTICE},
    table::ToolOperations,
    tools::Tool,
    value_lists::values,
    variants::Variant,
};
use crate::{error::excerpt, rest::route::MultiTool};

/// What selects all fields.
const ALL_FIELDS: &str = "*";

/// Fields that a tool adds to the output of its operations, if there is something to say. They are returned whether or not they
/// are selected.
const ALWAYS_RETURNED: [&str; 5] = [NEXT_OFFSET, CUT, NOTICE, HINT, EVIDENCE];

/// Returns the paths of the fields to return: those that a call states, or else those of the tool's row. Empty for all.
pub fn parse(tool: &Tool, variant: &Variant, input: Option<&Value>) -> Result<Vec<FieldPath>, ToolError> {
    match input {
        Some(value) if values(value).iter().any(|text| text == ALL_FIELDS) => Ok(Vec::new()),
        Some(value) => parse_paths(tool, variant, value),
        None => parse_paths(tool, variant, &json!(tool.entry.text.row)),
    }
}

/// Parses and validates the paths of the fields to return.
fn parse_paths(tool: &Tool, variant: &Variant, input: &Value) -> Result<Vec<FieldPath>, ToolError> {
    let mut paths: Vec<FieldPath> = Vec::new();
    let mut count = 0;
    for text in values(input) {
        // Some models write a list as one comma-separated string.
        let Some(text) = text.as_str() else { return Err(invalid_path(text)) };
        for text in text.split(',').map(str::trim) {
            // Repeated paths count as well, since each is parsed.
            count += 1;
            if count > MAX_FIELD_PATHS {
                let message = format!("`{FIELDS}` takes at most {MAX_FIELD_PATHS} paths.");
                return Err(ToolError::invalid(message, "Name parent fields instead."));
            }
            let path = parse_path(tool, variant, text)?;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}

fn invalid_path(text: &Value) -> ToolError {
    let message = format!("{} is not a valid field path.", quote(text));
    ToolError::invalid(message, "Write fields as `title`, `data.channel` or `assets[20:40]`.")
}

/// Parses the path of a field: of an item, of the record, or of the page if it starts with one of the page's
/// fields.
fn parse_path(tool: &Tool, variant: &Variant, text: &str) -> Result<FieldPath, ToolError> {
    let mut path = FieldPath::parse(text).ok_or_else(|| invalid_path(&text.into()))?;
    let (subject, page) = (variant.item_shape(), &variant.operation.response);
    let Some(list) = variant.call.list else { return check_path(tool, variant, path, text, subject) };
    if !path.begins_in(subject) {
        path = path.relative_to(list);
    }
    if path.first_name() == Some(list) {
        let message = format!("{:?} is the list itself.", excerpt(text));
        let next = "Name fields of an item, such as `id`. Use `limit` and the paging arguments to select \
                    items.";
        return Err(ToolError::invalid(message, next));
    }
    let is_of_page = !path.begins_in(subject) && path.begins_in(page);
    check_path(tool, variant, path, text, if is_of_page { page } else { subject })
}

/// Returns the path if it exists in the shape.
fn check_path(
    tool: &Tool,
    variant: &Variant,
    path: FieldPath,
    text: &str,
    shape: &Shape,
) -> Result<FieldPath, ToolError> {
    let Err((name, known)) = path.check(shape) else { return Ok(path) };
    if path.is_name() && ALWAYS_RETURNED.contains(&name.as_str()) {
        return Ok(path);
    }
    let message =
        format!("The field path {:?} does not exist: there is no `{}`.", excerpt(text), excerpt(&name));
    let other_choices = tool.variants.iter().filter(|other| other.choice != variant.choice);
    let other_choices: Vec<&str> = other_choices
        .filter(|other| path.check(other.item_shape()).is_ok())
        .filter_map(|other| other.choice)
        .collect();
    let next = match &tool.entry.operations {
        ToolOperations::Choice { argument: MultiTool { argument, .. }, .. } if !other_choices.is_empty() => {
            format!("It exists with `{argument}` {}.", other_choices.join(" or "))
        }
        _ if known.is_empty() => "The field has no nested fields; name the field itself.".to_owned(),
        _ => format!("Known fields: {}.", known.join(", ")),
    };
    Err(ToolError::invalid(message, next))
}
