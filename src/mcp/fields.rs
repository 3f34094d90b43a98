//! Selection of response fields: field names, with dots for nested fields, and ranges of long lists.
//!
//! Examples: `title`, `catalog_scale.loc`, `bundle_manifest[120:240]`, `roots[0].children[50:]`. A name
//! applies to each item of a list. A range counts list items, map entries or characters, from 0.

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value};

use super::reads::Shape;

/// Maximum number of paths in one call, and of steps in a path. The cost of a selection grows with both.
pub const MOST_WAYS: usize = 64;
const MOST_STEPS: usize = 32;

/// A path to a field, or to a range of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// The field with this name.
    Name(String),
    /// The half-open range of items, entries or characters from the first index to the second.
    Part(usize, usize),
}

/// Positions that the parts of a selection had in the original value.
#[derive(Debug, Default)]
pub enum Origin {
    /// The positions are unchanged.
    #[default]
    Same,
    /// An object with selected fields, and the origin of each.
    Fields(BTreeMap<String, Origin>),
    /// The original indexes of the selected items, entries or characters, and the origin of each part.
    Parts(Vec<usize>, Vec<Origin>),
}

impl Origin {
    /// Returns the original index of the part at an index.
    pub fn place(&self, place: usize) -> usize {
        match self {
            Origin::Parts(places, _) => places.get(place).copied().unwrap_or(place),
            _ => place,
        }
    }

    /// Returns the original index behind the last selected part; `None` if the positions are unchanged.
    pub fn end(&self) -> Option<usize> {
        match self {
            Origin::Parts(places, _) => places.last().map(|last| last + 1),
            _ => None,
        }
    }

    /// Returns the origin of a part: of the field `name` of an object, or else of the part at index `place`.
    pub fn within(&self, name: Option<&str>, place: usize) -> &Origin {
        const SAME: &Origin = &Origin::Same;
        match self {
            Origin::Same => SAME,
            Origin::Fields(fields) => name.and_then(|name| fields.get(name)).unwrap_or(SAME),
            Origin::Parts(_, within) => within.get(place).unwrap_or(SAME),
        }
    }
}

impl Way {
    /// Parses a path; returns `None` if the syntax is invalid or the path has too many steps.
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
                        Step::Part(from, if to.is_empty() { usize::MAX } else { to.parse().ok()? })
                    }
                    None => {
                        let place: usize = part.parse().ok()?;
                        Step::Part(place, place.checked_add(1)?)
                    }
                };
                steps.push(step);
                parts = rest;
            }
        }
        (steps.len() <= MOST_STEPS).then_some(Way(steps))
    }

    /// Returns the name of the first field.
    pub fn first(&self) -> Option<&str> {
        match self.0.first() {
            Some(Step::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Returns the path relative to `field`, if it starts with that field and another name follows; otherwise
    /// the same path.
    #[must_use]
    pub fn within(self, field: &str) -> Way {
        match self.0.as_slice() {
            [Step::Name(first), Step::Name(_), ..] if first == field => Way(self.0[1..].to_vec()),
            _ => self,
        }
    }

    /// Checks that the path exists in a shape. The error has the missing name and the names that exist there.
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
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Name(name) if place == 0 => write!(f, "{name}")?,
                Step::Name(name) => write!(f, ".{name}")?,
                Step::Part(from, usize::MAX) => write!(f, "[{from}:]")?,
                Step::Part(from, to) if *to == from + 1 => write!(f, "[{from}]")?,
                Step::Part(from, to) => write!(f, "[{from}:{to}]")?,
            }
        }
        Ok(())
    }
}

/// Returns the part of a value that the paths select, and its origin.
pub fn keep(value: Value, ways: &[Way]) -> (Value, Origin) {
    let has_parts = ways.iter().flat_map(|way| &way.0).any(|step| matches!(step, Step::Part(..)));
    let (value, origin) = kept(value, &ways.iter().map(|way| way.0.as_slice()).collect::<Vec<_>>());
    (value, if has_parts { origin } else { Origin::Same })
}

fn kept(value: Value, ways: &[&[Step]]) -> (Value, Origin) {
    if ways.iter().any(|way| way.is_empty()) {
        return (value, Origin::Same);
    }
    let parts = Parts::of(ways);
    match value {
        Value::Array(items) if parts.0.is_empty() => {
            let (items, within): (Vec<Value>, Vec<Origin>) =
                items.into_iter().map(|item| kept(item, ways)).unzip();
            let places = (0..items.len()).collect();
            (Value::Array(items), Origin::Parts(places, within))
        }
        Value::Object(fields) if parts.0.is_empty() => {
            let (mut made, mut origins) = (Map::new(), BTreeMap::new());
            for (name, value) in fields {
                let below: Vec<&[Step]> = ways.iter().filter_map(|way| behind(way, &name)).collect();
                if !below.is_empty() {
                    let (value, origin) = kept(value, &below);
                    origins.insert(name.clone(), origin);
                    made.insert(name, value);
                }
            }
            (Value::Object(made), Origin::Fields(origins))
        }
        Value::Array(items) => {
            let (mut made, mut places, mut within) = (Vec::new(), Vec::new(), Vec::new());
            for (place, item) in items.into_iter().enumerate() {
                let Some(ways) = parts.at(place) else { continue };
                let (item, origin) = kept(item, &ways);
                made.push(item);
                places.push(place);
                within.push(origin);
            }
            (Value::Array(made), Origin::Parts(places, within))
        }
        Value::Object(fields) => {
            let (mut made, mut places, mut within) = (Map::new(), Vec::new(), Vec::new());
            for (place, (name, value)) in fields.into_iter().enumerate() {
                let Some(ways) = parts.at(place) else { continue };
                let (value, origin) = kept(value, &ways);
                made.insert(name, value);
                places.push(place);
                within.push(origin);
            }
            (Value::Object(made), Origin::Parts(places, within))
        }
        Value::String(text) if !parts.0.is_empty() => {
            let wanted = text.chars().enumerate().filter(|(place, _)| parts.has(*place));
            let (places, text): (Vec<usize>, String) = wanted.unzip();
            (Value::String(text), Origin::Parts(places, Vec::new()))
        }
        other => (other, Origin::Same),
    }
}

/// Returns the rest of a path that starts with a name.
fn behind<'w>(way: &&'w [Step], name: &str) -> Option<&'w [Step]> {
    match way.split_first() {
        Some((Step::Name(first), rest)) if first == name => Some(rest),
        _ => None,
    }
}

/// The ranges that paths start with, each with the rest of its path.
struct Parts<'w>(Vec<(usize, usize, &'w [Step])>);

impl<'w> Parts<'w> {
    fn of(ways: &[&'w [Step]]) -> Parts<'w> {
        let part = |way: &&'w [Step]| match way.split_first() {
            Some((Step::Part(from, to), rest)) => Some((*from, *to, rest)),
            _ => None,
        };
        Parts(ways.iter().filter_map(part).collect())
    }

    fn has(&self, place: usize) -> bool {
        self.0.iter().any(|(from, to, _)| (*from..*to).contains(&place))
    }

    /// Returns the paths that apply to the item at an index; `None` if it is outside of all ranges.
    fn at(&self, place: usize) -> Option<Vec<&'w [Step]>> {
        let here = self.0.iter().filter(|(from, to, _)| (*from..*to).contains(&place));
        let ways: Vec<&[Step]> = here.map(|(_, _, rest)| *rest).collect();
        (!ways.is_empty()).then_some(ways)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(value: Value, ways: &[&str]) -> Value {
        keep(value, &ways.iter().map(|way| Way::parse(way).unwrap()).collect::<Vec<_>>()).0
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
    fn ways_are_written_as_they_are_read() {
        for text in ["id", "a.b[3].c", "a[1:2]", "a[1:]", "roots[0].children[5:9]", "map[2][100:]"] {
            let way = Way::parse(text).unwrap();
            assert_eq!(Way::parse(&way.to_string()), Some(way));
        }
        assert_eq!(Way::parse(&"a.".repeat(MOST_STEPS + 1)), None);
    }

    #[test]
    fn what_is_kept_knows_where_it_lay() {
        let value = json!({"a": [{"b": [0, 1, 2, 3]}, {"b": [4, 5, 6]}], "t": "letters"});
        let ways = ["a[1].b[1:]", "t[3:5]"].map(|way| Way::parse(way).unwrap());
        let (kept, origin) = keep(value, &ways);
        assert_eq!(kept, json!({"a": [{"b": [5, 6]}], "t": "te"}));
        let list = origin.within(Some("a"), 0);
        assert_eq!((list.place(0), list.end()), (1, Some(2)));
        let inner = list.within(None, 0).within(Some("b"), 0);
        assert_eq!((inner.place(0), inner.place(1), inner.end()), (1, 2, Some(3)));
        assert_eq!(origin.within(Some("t"), 0).place(1), 4);
    }
}
