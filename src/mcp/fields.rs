//! What of an answer an agent wants to see: names of fields, with dots into deeper ones, and parts of long lists.
//!
//! `title`, `catalog_scale.loc`, `bundle_manifest[120:240]`, `roots[0].children[50:]`. A name goes for each item of a list;
//! a part counts items, entries of a map, or characters, from 0.

use std::fmt;

use serde_json::{Map, Value};

use super::reads::Shape;

/// A way to what an agent wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// The field of this name.
    Name(String),
    /// From this place on, to before that one.
    Part(usize, Option<usize>),
}

impl Way {
    /// Reads a way; nothing where it has not the form of one.
    pub fn parse(text: &str) -> Option<Way> {
        let mut steps = Vec::new();
        for piece in text.split('.') {
            let (name, mut parts) = piece.split_at(piece.find('[').unwrap_or(piece.len()));
            if name.is_empty() {
                return None;
            }
            steps.push(Step::Name(name.to_owned()));
            while !parts.is_empty() {
                let (part, rest) = parts.strip_prefix('[')?.split_once(']')?;
                let step = match part.split_once(':') {
                    Some((from, to)) => {
                        let from = if from.is_empty() { 0 } else { from.parse().ok()? };
                        Step::Part(from, if to.is_empty() { None } else { Some(to.parse().ok()?) })
                    }
                    None => {
                        let place: usize = part.parse().ok()?;
                        Step::Part(place, Some(place.checked_add(1)?))
                    }
                };
                steps.push(step);
                parts = rest;
            }
        }
        (!steps.is_empty()).then_some(Way(steps))
    }

    /// The field that it begins with; nothing where it begins with a part.
    pub fn first(&self) -> Option<&str> {
        match self.0.first() {
            Some(Step::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// The same way from within the field that it begins with; nothing where it does not lead on by a name.
    pub fn within(self, field: &str) -> Way {
        match self.0.as_slice() {
            [Step::Name(first), Step::Name(_), ..] if first == field => Way(self.0[1..].to_vec()),
            _ => self,
        }
    }

    /// Refuses a way that leads nowhere in a shape: the name that is not there, and those that are.
    pub fn check<'s>(&self, shape: &'s Shape) -> Result<(), (String, Vec<&'s str>)> {
        let mut shape = shape;
        for step in &self.0 {
            let Step::Name(name) = step else { continue };
            while let Shape::List(items) = shape {
                shape = items;
            }
            match shape {
                Shape::Object(fields) => match fields.get(name) {
                    Some(field) => shape = &field.shape,
                    None => return Err((name.clone(), fields.keys().map(String::as_str).collect())),
                },
                Shape::Map | Shape::Plain(None) => return Ok(()),
                _ => return Err((name.clone(), Vec::new())),
            }
        }
        Ok(())
    }

    /// The way to what comes behind, if this one leads to the list with these names and so many of its items were shown.
    pub fn going_on(&self, names: &[String], shown: usize) -> Option<String> {
        let (last, before) = self.0.split_last()?;
        let own = self.0.iter().filter_map(|step| match step {
            Step::Name(name) => Some(name),
            Step::Part(..) => None,
        });
        match last {
            Step::Part(from, to) if own.eq(names) => {
                let end = to.map_or(String::new(), |to| to.to_string());
                Some(format!("{}[{}:{end}]", written(before), from + shown))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Name(name) => write!(f, ".{name}"),
            Step::Part(from, Some(to)) if *to == from + 1 => write!(f, "[{from}]"),
            Step::Part(from, Some(to)) => write!(f, "[{from}:{to}]"),
            Step::Part(from, None) => write!(f, "[{from}:]"),
        }
    }
}

/// A way as it is written.
fn written(steps: &[Step]) -> String {
    let text: String = steps.iter().map(ToString::to_string).collect();
    text.strip_prefix('.').map_or(text.clone(), str::to_owned)
}

/// What these ways lead to in a value, in the same places.
pub fn keep(value: Value, ways: &[Way]) -> Value {
    kept(value, &ways.iter().map(|way| way.0.as_slice()).collect::<Vec<_>>())
}

fn kept(value: Value, ways: &[&[Step]]) -> Value {
    if ways.iter().any(|way| way.is_empty()) {
        return value;
    }
    let parts: Vec<(usize, usize, &[Step])> = ways
        .iter()
        .filter_map(|way| match way.split_first() {
            Some((Step::Part(from, to), rest)) => Some((*from, to.unwrap_or(usize::MAX), rest)),
            _ => None,
        })
        .collect();
    match value {
        Value::Array(items) if parts.is_empty() => items.into_iter().map(|item| kept(item, ways)).collect(),
        Value::Array(items) => {
            let wanted = items.into_iter().enumerate().filter_map(|(place, item)| {
                let ways = within(&parts, place)?;
                Some(kept(item, &ways))
            });
            wanted.collect()
        }
        Value::Object(fields) if parts.is_empty() => {
            let mut made = Map::new();
            for (name, value) in fields {
                let below: Vec<&[Step]> = ways
                    .iter()
                    .filter(|way| way.first() == Some(&Step::Name(name.clone())))
                    .map(|way| &way[1..])
                    .collect();
                if !below.is_empty() {
                    made.insert(name, kept(value, &below));
                }
            }
            Value::Object(made)
        }
        Value::Object(fields) => {
            let wanted = fields.into_iter().enumerate().filter_map(|(place, (name, value))| {
                let ways = within(&parts, place)?;
                Some((name, kept(value, &ways)))
            });
            wanted.collect()
        }
        Value::String(text) if !parts.is_empty() => {
            let wanted = text.chars().enumerate().filter(|(place, _)| within(&parts, *place).is_some());
            wanted.map(|(_, letter)| letter).collect::<String>().into()
        }
        other => other,
    }
}

/// What is wanted of the item at a place; nothing where it is in none of the parts.
fn within<'w>(parts: &[(usize, usize, &'w [Step])], place: usize) -> Option<Vec<&'w [Step]>> {
    let ways: Vec<&[Step]> = parts
        .iter()
        .filter(|(from, to, _)| (*from..*to).contains(&place))
        .map(|(_, _, rest)| *rest)
        .collect();
    (!ways.is_empty()).then_some(ways)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(value: Value, ways: &[&str]) -> Value {
        keep(value, &ways.iter().map(|way| Way::parse(way).unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn names_and_parts_lead_to_what_is_shown() {
        let value = json!({
            "id": 1,
            "scale": {"loc": 5, "tasks": 6},
            "parts": [{"a": 1, "b": [1, 2, 3]}, {"a": 2, "b": [4]}],
            "files": {"x": 1, "y": 2, "z": 3},
            "text": "häuser",
        });
        for (ways, expected) in [
            (&["id"][..], json!({"id": 1})),
            (&["scale.loc", "id"], json!({"id": 1, "scale": {"loc": 5}})),
            (&["scale.loc", "scale"], json!({"scale": {"loc": 5, "tasks": 6}})),
            (&["parts.a"], json!({"parts": [{"a": 1}, {"a": 2}]})),
            (&["parts[1]"], json!({"parts": [{"a": 2, "b": [4]}]})),
            (&["parts[0].b[1:]"], json!({"parts": [{"b": [2, 3]}]})),
            (&["parts[:1].a", "parts[1:].b"], json!({"parts": [{"a": 1}, {"b": [4]}]})),
            (&["files[1:2]"], json!({"files": {"y": 2}})),
            (&["files[7:]"], json!({"files": {}})),
            (&["text[1:3]"], json!({"text": "äu"})),
            (&["id.deeper"], json!({"id": 1})),
        ] {
            assert_eq!(shown(value.clone(), ways), expected, "{ways:?}");
        }
    }

    #[test]
    fn what_is_no_way_is_not_read() {
        for text in ["", ".", "a.", ".a", "a[", "a[x]", "a[1", "a]1[", "a[-1]", "[0]", "a..b", "a[1]b"] {
            assert_eq!(Way::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_way_goes_on_behind_what_it_showed() {
        for (way, names, expected) in [
            ("files[120:]", &["files"][..], Some("files[150:]")),
            ("files[120:240]", &["files"], Some("files[150:240]")),
            ("roots[2].children[50:]", &["roots", "children"], Some("roots[2].children[80:]")),
            ("files", &["files"], None),
            ("files[1:]", &["other"], None),
        ] {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            assert_eq!(Way::parse(way).unwrap().going_on(&names, 30).as_deref(), expected, "{way}");
        }
    }
}
