//! What a tool takes and gives, in JSON Schema: derived from the operations that it calls.
//!
//! A catalogue of tools is read by a model before it does anything, so it is kept small. What a parameter means is said
//! where it first occurs and not again; of two bounds the lower one is described; answers are described by types alone.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{
    fields::MOST_WAYS,
    reads::{Parameter, Shape, nullable},
    table::{Calls, Row},
    variants::{Paging, Variant},
};

/// Items on a page where nothing else is asked.
pub const PAGE: usize = 20;

/// Items on a page at most, where the tool makes the pages.
pub const MOST: usize = 100;

/// The arguments that choose what of an answer is shown.
pub const FIELDS: &str = "fields";
/// Items on a page.
pub const LIMIT: &str = "limit";
/// Items to pass over.
pub const OFFSET: &str = "offset";

/// Where a list goes on.
pub const NEXT_OFFSET: &str = "next_offset";
/// What was left out of an answer, and how to see it.
pub const CUT: &str = "cut";
/// Which texts of an answer others wrote.
pub const NOTICE: &str = "notice";

/// The arguments of which something was said, with what was said.
#[derive(Debug, Default)]
pub struct Said(HashSet<(String, String)>);

impl Said {
    /// The words for an argument, unless they were said before.
    fn once<'w>(&mut self, name: &str, words: &'w str) -> Option<&'w str> {
        let is_new = !words.is_empty() && self.0.insert((name.to_owned(), words.to_owned()));
        is_new.then_some(words)
    }
}

/// What a tool takes.
pub fn input(row: &Row, variants: &[Variant], said: &mut Said) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut state = |name: &str, mut schema: Map<String, Value>, words: &str| {
        if let Some(words) = said.once(name, words) {
            schema.insert("description".to_owned(), json!(words));
        }
        properties.insert(name.to_owned(), Value::Object(schema));
    };
    if let Calls::Choice { argument, words, usual, .. } = &row.calls {
        let known: Vec<&str> = variants.iter().filter_map(|variant| variant.word).collect();
        let mut schema = object(json!({"type": "string", "enum": known}));
        match usual {
            Some(usual) => _ = schema.insert("default".to_owned(), json!(usual)),
            None => required.push(*argument),
        }
        state(argument, schema, words);
    }
    let mut met: Vec<&Parameter> = Vec::new();
    for parameter in variants.iter().flat_map(|variant| &variant.read.parameters) {
        if !met.iter().any(|other| other.name == parameter.name) {
            met.push(parameter);
        }
    }
    for parameter in &met {
        let everywhere = variants.iter().all(|variant| is_required(variant, &parameter.name));
        if everywhere {
            required.push(&parameter.name);
        }
        let is_upper = parameter
            .name
            .strip_prefix("max_")
            .is_some_and(|bounded| met.iter().any(|other| other.name.strip_prefix("min_") == Some(bounded)));
        let own = row.parameters.iter().find(|(name, _)| *name == parameter.name).map(|(_, words)| *words);
        let words = if is_upper { "" } else { own.unwrap_or(&parameter.words) };
        let mut schema = parameter.schema.clone();
        if parameter.name == LIMIT {
            schema.insert("default".to_owned(), json!(PAGE));
        }
        state(&parameter.name, schema, words);
    }
    let has = |name: &str| met.iter().any(|parameter| parameter.name == name);
    if variants.iter().any(|variant| variant.paging == Paging::Whole) && !has(LIMIT) {
        let schema = json!({"type": "integer", "minimum": 1, "maximum": MOST, "default": PAGE});
        state(LIMIT, object(schema), "");
    }
    if variants.iter().any(|variant| matches!(variant.paging, Paging::Whole | Paging::Newest(_)))
        && !has(OFFSET)
    {
        state(OFFSET, object(json!({"type": "integer", "minimum": 0, "default": 0})), "");
    }
    if !variants.is_empty() {
        let words =
            "Names of fields to show of each item, as `id` or `catalog_scale.loc`; leave out to see all.";
        state(
            FIELDS,
            object(json!({"type": "array", "items": {"type": "string"}, "maxItems": MOST_WAYS})),
            words,
        );
    }
    let mut schema = object(json!({"type": "object", "additionalProperties": false}));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn is_required(variant: &Variant, name: &str) -> bool {
    variant.read.parameter(name).is_some_and(|parameter| parameter.is_required)
}

/// The names of what a tool takes.
pub fn names(input: &Map<String, Value>) -> Vec<String> {
    input["properties"].as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default()
}

/// What a tool gives: the types of the answer's fields, and of a list's items their fields. Any of them may be missing,
/// since an agent can choose.
pub fn output(variants: &[Variant]) -> Map<String, Value> {
    let shapes = variants.iter().map(|variant| variant.read.answer.clone());
    let depth = if variants.iter().any(|variant| variant.call.list.is_some()) { 2 } else { 1 };
    let mut schema = shapes.reduce(Shape::merged).unwrap_or(Shape::Map).schema(depth);
    if variants.is_empty() {
        return object(json!({
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "name": {"type": "string"},
                "roles": {"type": "array", "items": {"type": "string"}},
                "nda_accepted": {"type": "boolean"},
                "browse_access": nullable(&json!({"type": "object"})),
                "next_step": {"type": "string"},
            },
        }));
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let pages = |variant: &Variant| !matches!(variant.paging, Paging::None | Paging::Cursor);
        if variants.iter().any(pages) {
            properties.insert(NEXT_OFFSET.to_owned(), nullable(&json!({"type": "integer"})));
        }
        for name in [CUT, NOTICE] {
            properties.insert(name.to_owned(), json!({"type": "string"}));
        }
    }
    schema
}

/// The fields of an object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
