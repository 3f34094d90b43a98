//! The arguments of a call: which operation is meant, at which path and with which query, and what of its answer is shown.
//!
//! What an operation takes it judges by itself. Here only what it never sees is judged: names, choices, and what the tool
//! does with the answer.

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

/// Arguments that say which part of what is found is shown, and how.
const PAGING: [&str; 5] = [LIMIT, OFFSET, "cursor", "sort", "sort_direction"];

/// What is asked for.
#[derive(Debug)]
pub struct Asked<'t> {
    /// The tool.
    pub row: &'static Row,
    /// The operation.
    pub variant: &'t Variant,
    /// Its path, filled in.
    path: String,
    /// Its query.
    query: Vec<(String, String)>,
    /// Items on the page.
    pub limit: usize,
    /// Items to pass over.
    pub offset: usize,
    /// What is shown; everything where it is empty.
    pub fields: Vec<Way>,
    /// Whether something was asked of what is found, rather than everything.
    pub is_filtered: bool,
}

impl Asked<'_> {
    /// Reads the arguments of a call of a tool that calls an operation.
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
            let message = format!("`{name}` is missing.");
            return Err(Fault::argument("missing_argument", message, format!("Call again with `{name}`.")));
        }
        if matches!(variant.paging, Paging::Cursor | Paging::Offset) && find(LIMIT).is_none() {
            asked.query.push((LIMIT.to_owned(), PAGE.to_string()));
        }
        if let Paging::Newest(most) = variant.paging {
            // One more than is shown tells whether there is more.
            let wanted = asked.offset.saturating_add(asked.limit + 1).min(most);
            asked.query.push((LIMIT.to_owned(), wanted.to_string()));
        }
        Ok(asked)
    }

    /// The address of the operation, with its query.
    pub fn address(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        format!("{}?{query}", self.path)
    }

    /// The same with so many items on the page.
    pub fn shorter(&self, limit: usize) -> String {
        let others = self.query.iter().filter(|(name, _)| name != LIMIT);
        let limit = limit.to_string();
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(others)
            .append_pair(LIMIT, &limit)
            .finish();
        format!("{}?{query}", self.path)
    }

    /// A failure of the operation, with what the tool knows of where its ids come from.
    pub fn advise(&self, fault: Fault) -> Fault {
        if fault.code != Code::NotFound.word() {
            return fault;
        }
        let mut next_step = fault.next_step;
        if !self.row.ids.is_empty() {
            next_step = format!("{next_step} Ids for this tool: {}.", self.row.ids);
        }
        if let Some(choice) = self.row.choice() {
            next_step = format!("{next_step} If the id is right, choose another `{choice}`.");
        }
        Fault { next_step, ..fault }
    }

    /// Puts an id into the path.
    fn fill(&mut self, name: &str, value: &Value) -> Result<(), Fault> {
        // Only what is an id may stand in a path: other words would lead to other operations.
        let id = value.as_str().and_then(|text| Uuid::try_parse(text).ok());
        let id = id.ok_or_else(|| {
            let message = format!("`{name}` is a UUID, and this is none: {value}.");
            Fault::argument(
                "invalid_arguments",
                message,
                "Take the id from the answer of a list or browse tool.",
            )
        })?;
        self.path = self.path.replace(&format!("{{{name}}}"), &id.to_string());
        Ok(())
    }

    /// Puts a value into the query, or each value of a list.
    fn ask(&mut self, name: &str, value: &Value, is_list: bool) -> Result<(), Fault> {
        let values = match value {
            Value::Array(values) if is_list => values.iter().collect(),
            value => vec![value],
        };
        for value in values {
            let text = match value {
                Value::String(text) => text.clone(),
                // Some models write every number with a point.
                Value::Number(number) => match number.as_f64() {
                    Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => format!("{whole:.0}"),
                    _ => number.to_string(),
                },
                Value::Bool(_) => value.to_string(),
                _ => {
                    let form = if is_list { "a list of plain values" } else { "a plain value" };
                    let message = format!("`{name}` takes {form}, and this is none: {value}.");
                    return Err(Fault::argument(
                        "invalid_arguments",
                        message,
                        "Mend the argument and call again.",
                    ));
                }
            };
            self.query.push((name.to_owned(), text));
        }
        Ok(())
    }
}

/// The operation that the choosing argument means.
fn variant<'t, 'v>(tool: &'t Tool, find: impl Fn(&str) -> Option<&'v Value>) -> Result<&'t Variant, Fault> {
    let Calls::Choice { argument, usual, .. } = &tool.row.calls else {
        return Ok(&tool.variants[0]);
    };
    let known = || tool.variants.iter().filter_map(|variant| variant.word).collect::<Vec<_>>().join(", ");
    let word = match find(argument) {
        Some(Value::String(word)) => word.as_str(),
        Some(other) => {
            let message = format!("`{argument}` is one of {}, and not {other}.", known());
            return Err(Fault::argument("invalid_arguments", message, "Choose one of them."));
        }
        None => usual.ok_or_else(|| {
            let message = format!("`{argument}` is missing: one of {}.", known());
            Fault::argument("missing_argument", message, format!("Call again with `{argument}`."))
        })?,
    };
    tool.variants.iter().find(|variant| variant.word == Some(word)).ok_or_else(|| {
        let message = format!("`{argument}` is one of {}, and not {word:?}.", known());
        Fault::argument("invalid_arguments", message, "Choose one of them.")
    })
}

/// A number that the tool itself goes by. Where the operation takes it, the operation judges it.
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
        let message =
            format!("`{name}` is a whole number from {least} to {most}, and this is none: {given}.");
        Fault::argument("invalid_arguments", message, "Mend the argument and call again.")
    })
}

/// The ways to what is shown, each of which leads somewhere.
fn fields(tool: &Tool, variant: &Variant, given: Option<&Value>) -> Result<Vec<Way>, Fault> {
    let texts: Vec<&Value> = match given {
        None => return Ok(Vec::new()),
        Some(Value::Array(texts)) => texts.iter().collect(),
        Some(text) => vec![text],
    };
    let mut ways: Vec<Way> = Vec::new();
    for text in texts {
        // Some models write a list as one text.
        let Some(text) = text.as_str() else { return Err(no_way(text)) };
        for text in text.split(',').map(str::trim) {
            if ways.len() == MOST_WAYS {
                let message = format!("`{FIELDS}` takes at most {MOST_WAYS} ways.");
                return Err(Fault::argument("invalid_arguments", message, "Name the fields above them."));
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
    let message = format!("{text} is no way to a field.");
    Fault::argument(
        "invalid_arguments",
        message,
        "Name fields as `title`, `data.channel` or `assets[20:40]`.",
    )
}

/// A way to a field of an item or of the record; or of the page, where that is what its name is of.
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
        let next = "Name fields of an item, as `id`; how many items are shown is chosen by `limit`, and which by where it goes on.";
        return Err(Fault::argument("invalid_arguments", message, next));
    }
    let is_of_page = !is_of_item(&way) && way.first().is_some_and(|name| page.at(name).is_some());
    checked(tool, variant, way, text, if is_of_page { page } else { subject })
}

/// The way, if it leads somewhere in a shape.
fn checked(tool: &Tool, variant: &Variant, way: Way, text: &str, shape: &Shape) -> Result<Way, Fault> {
    let Err((name, known)) = way.check(shape) else { return Ok(way) };
    let message = format!("{text:?} leads nowhere: there is no `{name}`.");
    let elsewhere = tool.variants.iter().filter(|other| other.word != variant.word);
    let elsewhere: Vec<&str> =
        elsewhere.filter(|other| way.check(other.subject()).is_ok()).filter_map(|other| other.word).collect();
    let next = match &tool.row.calls {
        _ if [NEXT_OFFSET, CUT, NOTICE].contains(&name.as_str()) => {
            "It is always shown; leave it out.".to_owned()
        }
        Calls::Choice { argument, .. } if !elsewhere.is_empty() => {
            format!("It is there with `{argument}` {}.", elsewhere.join(" or "))
        }
        _ if known.is_empty() => "Nothing lies deeper there; name the field above it.".to_owned(),
        _ => format!("There are: {}.", known.join(", ")),
    };
    Err(Fault::argument("invalid_arguments", message, next))
}

/// The refusal of an argument that the tool has not.
pub fn unknown(tool: &Tool, name: &str) -> Fault {
    let nearest = tool
        .arguments
        .iter()
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    let has = |name: &str| tool.arguments.iter().any(|known| known == name);
    let meant = match (name, nearest) {
        (OFFSET, _) if has("cursor") => " Its list goes on by `cursor`.".to_owned(),
        ("cursor", _) if has(OFFSET) => " Its list goes on by `offset`.".to_owned(),
        (_, Some((_, known))) => format!(" Did you mean `{known}`?"),
        _ => String::new(),
    };
    let message = format!("{} has no argument {name:?}.{meant}", tool.row.name);
    let next = match tool.arguments.as_slice() {
        [] => "Call it without arguments.".to_owned(),
        known => format!("Its arguments are: {}.", known.join(", ")),
    };
    Fault::argument("unknown_argument", message, next)
}

/// The refusal of an argument that another choice takes.
fn misplaced(name: &str, choice: &str, variant: &Variant) -> Fault {
    let word = variant.word.unwrap_or_default();
    let message = format!("`{name}` does not go with `{choice}` {word:?}.");
    Fault::argument(
        "invalid_arguments",
        message,
        format!("Leave `{name}` out, or choose another `{choice}`."),
    )
}
