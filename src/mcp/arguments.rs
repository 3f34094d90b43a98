//! Arguments of a tool call: which operation is meant, its path and query, and which part of its response to
//! return.
//!
//! Operations validate their own parameters. Only what they never see is validated here: argument names,
//! choices, and what the tool does with the response.

use rmcp::model::JsonObject;
use serde_json::Value;
use uuid::Uuid;

use super::{
    failures::Fault,
    fields::{MOST_WAYS, Way},
    reads::Shape,
    schemas::{CUT, FIELDS, LIMIT, MOST, NEXT_OFFSET, NOTICE, OFFSET, PAGE},
    table::{Calls, Row},
    tools::Tool,
    variants::{Paging, Variant},
};
use crate::{domain::vocabulary::Vocabulary, error::Code};

/// Arguments that select a part of the results or their order, but do not filter.
const PAGING: [&str; 5] = [LIMIT, OFFSET, "cursor", "sort", "sort_direction"];

/// A tool call with validated arguments.
#[derive(Debug)]
pub struct Asked<'t> {
    /// The tool's entry in the tool table.
    pub row: &'static Row,
    /// The operation that the arguments select.
    pub variant: &'t Variant,
    /// Path of the operation, with its parameters filled in.
    path: String,
    /// Query parameters, not yet percent-encoded.
    query: Vec<(String, String)>,
    /// Number of items on the page.
    pub limit: usize,
    /// Number of items to skip.
    pub offset: usize,
    /// Paths of the fields to return; empty for all.
    pub fields: Vec<Way>,
    /// Whether an argument filters the results.
    pub is_filtered: bool,
}

impl Asked<'_> {
    /// Validates the arguments of a call to a tool that is backed by an operation.
    pub fn read<'t>(tool: &'t Tool, given: &JsonObject) -> Result<Asked<'t>, Fault> {
        let given: Vec<(&str, &Value)> = given
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        if let Some((name, _)) =
            given.iter().find(|(name, _)| !tool.arguments.iter().any(|known| known == name))
        {
            return Err(unknown(tool, name));
        }
        let find = |name: &str| given.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        let variant = variant(tool, find)?;
        let choice = tool.row.choice();
        let mut asked = Asked {
            row: tool.row,
            variant,
            path: variant.read.path.clone(),
            query: Vec::new(),
            limit: number(find(LIMIT), LIMIT, PAGE, MOST, variant)?,
            offset: number(find(OFFSET), OFFSET, 0, i32::MAX as usize, variant)?,
            fields: fields(tool, variant, find(FIELDS))?,
            is_filtered: false,
        };
        for (name, value) in &given {
            if choice == Some(*name) || *name == FIELDS {
                continue;
            }
            match variant.read.parameter(name) {
                Some(parameter) if parameter.is_in_path => asked.fill(name, value)?,
                Some(_) if *name == LIMIT && matches!(variant.paging, Paging::Newest(_)) => {}
                Some(parameter) => {
                    asked.is_filtered |= !PAGING.contains(name);
                    asked.ask(name, value, parameter.is_list())?;
                }
                None if [LIMIT, OFFSET].contains(name) && variant.paging != Paging::None => {}
                None => return Err(misplaced(name, choice.unwrap_or_default(), variant)),
            }
        }
        let missing = variant
            .read
            .parameters
            .iter()
            .find(|parameter| parameter.is_required && find(&parameter.name).is_none());
        if let Some(missing) = missing {
            let name = &missing.name;
            let message = format!("`{name}` is required.");
            return Err(Fault::argument("missing_argument", message, format!("Call again with `{name}`.")));
        }
        if matches!(variant.paging, Paging::Cursor | Paging::Offset) && find(LIMIT).is_none() {
            asked.query.push((LIMIT.to_owned(), PAGE.to_string()));
        }
        if let Paging::Newest(most) = variant.paging {
            // One item more than is returned shows whether there are more.
            let wanted = asked.offset.saturating_add(asked.limit + 1).min(most);
            asked.query.push((LIMIT.to_owned(), wanted.to_string()));
        }
        Ok(asked)
    }

    /// Returns the path of the operation with its query string.
    pub fn address(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        format!("{}?{query}", self.path)
    }

    /// Returns the same path and query with another `limit`.
    pub fn shorter(&self, limit: usize) -> String {
        let others = self.query.iter().filter(|(name, _)| name != LIMIT);
        let limit = limit.to_string();
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(others)
            .append_pair(LIMIT, &limit)
            .finish();
        format!("{}?{query}", self.path)
    }

    /// Adds what the tool knows about its IDs to the next step of a "not found" error.
    pub fn advise(&self, fault: Fault) -> Fault {
        if fault.code != Code::NotFound.word() {
            return fault;
        }
        let mut next_step = fault.next_step;
        if !self.row.ids.is_empty() {
            next_step = format!("{next_step} IDs for this tool: {}.", self.row.ids);
        }
        if let Some(choice) = self.row.choice() {
            next_step = format!("{next_step} If the ID is right, try another `{choice}`.");
        }
        Fault { next_step, ..fault }
    }

    /// Inserts an ID into the path.
    fn fill(&mut self, name: &str, value: &Value) -> Result<(), Fault> {
        // Only UUIDs may be inserted into a path: other text could lead to another operation.
        let id = value.as_str().and_then(|text| Uuid::try_parse(text).ok());
        let id = id.ok_or_else(|| {
            let message = format!("`{name}` must be a UUID, not {value}.");
            Fault::argument(
                "invalid_arguments",
                message,
                "Take the ID from the response of a list or browse tool.",
            )
        })?;
        self.path = self.path.replace(&format!("{{{name}}}"), &id.to_string());
        Ok(())
    }

    /// Appends a value, or each value of a list, to the query.
    fn ask(&mut self, name: &str, value: &Value, is_list: bool) -> Result<(), Fault> {
        let values = match value {
            Value::Array(values) if is_list => values.iter().collect(),
            value => vec![value],
        };
        for value in values {
            let text = match value {
                Value::String(text) => text.clone(),
                // Some models write every number with a decimal point.
                Value::Number(number) => match number.as_f64() {
                    Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => format!("{whole:.0}"),
                    _ => number.to_string(),
                },
                Value::Bool(_) => value.to_string(),
                _ => {
                    let form = if is_list { "a list of scalar values" } else { "a scalar value" };
                    let message = format!("`{name}` must be {form}, not {value}.");
                    return Err(Fault::argument(
                        "invalid_arguments",
                        message,
                        "Fix the argument and call again.",
                    ));
                }
            };
            self.query.push((name.to_owned(), text));
        }
        Ok(())
    }
}

/// Returns the operation that the choice argument selects.
fn variant<'t, 'v>(tool: &'t Tool, find: impl Fn(&str) -> Option<&'v Value>) -> Result<&'t Variant, Fault> {
    let Calls::Choice { argument, usual, .. } = &tool.row.calls else {
        return Ok(&tool.variants[0]);
    };
    let known = || tool.variants.iter().filter_map(|variant| variant.word).collect::<Vec<_>>().join(", ");
    let word = match find(argument) {
        Some(Value::String(word)) => word.as_str(),
        Some(other) => {
            let message = format!("`{argument}` must be one of {}, not {other}.", known());
            return Err(Fault::argument("invalid_arguments", message, "Choose one of them."));
        }
        None => usual.ok_or_else(|| {
            let message = format!("`{argument}` is required. It must be one of {}.", known());
            Fault::argument("missing_argument", message, format!("Call again with `{argument}`."))
        })?,
    };
    tool.variants.iter().find(|variant| variant.word == Some(word)).ok_or_else(|| {
        let message = format!("`{argument}` must be one of {}, not {word:?}.", known());
        Fault::argument("invalid_arguments", message, "Choose one of them.")
    })
}

/// Parses a number that the tool itself uses. If the operation takes the parameter too, the operation
/// validates it.
fn number(
    given: Option<&Value>,
    name: &str,
    usual: usize,
    most: usize,
    variant: &Variant,
) -> Result<usize, Fault> {
    let Some(given) = given else { return Ok(usual) };
    let least = usize::from(name == LIMIT);
    let most = match variant.paging {
        Paging::Newest(of_operation) if name == LIMIT => of_operation,
        _ => most,
    };
    let written = given.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
    let number = written.map(|number| number as usize).or_else(|| given.as_str()?.parse().ok());
    if matches!(variant.paging, Paging::Cursor | Paging::Offset) {
        return Ok(number.unwrap_or(usual));
    }
    number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
        let message = format!("`{name}` must be a whole number from {least} to {most}, not {given}.");
        Fault::argument("invalid_arguments", message, "Fix the argument and call again.")
    })
}

/// Parses and validates the paths of the fields to return.
fn fields(tool: &Tool, variant: &Variant, given: Option<&Value>) -> Result<Vec<Way>, Fault> {
    let texts: Vec<&Value> = match given {
        None => return Ok(Vec::new()),
        Some(Value::Array(texts)) => texts.iter().collect(),
        Some(text) => vec![text],
    };
    let mut ways: Vec<Way> = Vec::new();
    for text in texts {
        // Some models write a list as one comma-separated string.
        let Some(text) = text.as_str() else { return Err(no_way(text)) };
        for text in text.split(',').map(str::trim) {
            if ways.len() == MOST_WAYS {
                let message = format!("`{FIELDS}` takes at most {MOST_WAYS} paths.");
                return Err(Fault::argument("invalid_arguments", message, "Name parent fields instead."));
            }
            let way = field(tool, variant, text)?;
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    Ok(ways)
}

fn no_way(text: &Value) -> Fault {
    let message = format!("{text} is not a valid field path.");
    Fault::argument(
        "invalid_arguments",
        message,
        "Write fields as `title`, `data.channel` or `assets[20:40]`.",
    )
}

/// Parses the path of a field: of an item, of the record, or of the page if it starts with one of the page's
/// fields.
fn field(tool: &Tool, variant: &Variant, text: &str) -> Result<Way, Fault> {
    let mut way = Way::parse(text).ok_or_else(|| no_way(&text.into()))?;
    let (subject, page) = (variant.subject(), &variant.read.answer);
    let Some(list) = variant.call.list else { return checked(tool, variant, way, text, subject) };
    let is_of_item = |way: &Way| way.first().is_some_and(|name| subject.at(name).is_some());
    if !is_of_item(&way) {
        way = way.within(list);
    }
    if way.first() == Some(list) {
        let message = format!("{text:?} is the list itself.");
        let next = "Name fields of an item, such as `id`. Use `limit` and the paging arguments to select \
                    items.";
        return Err(Fault::argument("invalid_arguments", message, next));
    }
    let is_of_page = !is_of_item(&way) && way.first().is_some_and(|name| page.at(name).is_some());
    checked(tool, variant, way, text, if is_of_page { page } else { subject })
}

/// Returns the path if it exists in the shape.
fn checked(tool: &Tool, variant: &Variant, way: Way, text: &str, shape: &Shape) -> Result<Way, Fault> {
    let Err((name, known)) = way.check(shape) else { return Ok(way) };
    let message = format!("The field path {text:?} does not exist: there is no `{name}`.");
    let elsewhere = tool.variants.iter().filter(|other| other.word != variant.word);
    let elsewhere: Vec<&str> =
        elsewhere.filter(|other| way.check(other.subject()).is_ok()).filter_map(|other| other.word).collect();
    let next = match &tool.row.calls {
        _ if [NEXT_OFFSET, CUT, NOTICE].contains(&name.as_str()) => {
            "It is always returned; leave it out.".to_owned()
        }
        Calls::Choice { argument, .. } if !elsewhere.is_empty() => {
            format!("It exists with `{argument}` {}.", elsewhere.join(" or "))
        }
        _ if known.is_empty() => "The field has no nested fields; name the field itself.".to_owned(),
        _ => format!("Known fields: {}.", known.join(", ")),
    };
    Err(Fault::argument("invalid_arguments", message, next))
}

/// Returns the error for an argument that the tool does not have.
pub fn unknown(tool: &Tool, name: &str) -> Fault {
    let nearest = tool
        .arguments
        .iter()
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    let has = |name: &str| tool.arguments.iter().any(|known| known == name);
    let meant = match (name, nearest) {
        (OFFSET, _) if has("cursor") => " Its list is paged with `cursor`.".to_owned(),
        ("cursor", _) if has(OFFSET) => " Its list is paged with `offset`.".to_owned(),
        (_, Some((_, known))) => format!(" Did you mean `{known}`?"),
        _ => String::new(),
    };
    let message = format!("{} has no argument {name:?}.{meant}", tool.row.name);
    let next = match tool.arguments.as_slice() {
        [] => "Call it without arguments.".to_owned(),
        known => format!("Known arguments: {}.", known.join(", ")),
    };
    Fault::argument("unknown_argument", message, next)
}

/// Returns the error for an argument that only another choice takes.
fn misplaced(name: &str, choice: &str, variant: &Variant) -> Fault {
    let word = variant.word.unwrap_or_default();
    let message = format!("`{name}` cannot be used with `{choice}` {word:?}.");
    Fault::argument("invalid_arguments", message, format!("Leave `{name}` out, or use another `{choice}`."))
}
