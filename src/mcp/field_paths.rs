//! Selection of response fields: field names, with dots for nested fields, and ranges of long lists.
//!
//! Examples: `title`, `catalog_scale.loc`, `bundle_manifest[120:240]`, `roots[0].children[50:]`. A name
//! applies to each item of a list. A range counts list items, map entries or characters, from 0.

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value};

use super::openapi::Shape;

/// Maximum number of paths in one call, and of steps in a path. The cost of a selection grows with both.
pub const MAX_FIELD_PATHS: usize = 64;
const MAX_PATH_STEPS: usize = 32;

/// A path to a field, or to a range of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// The field with this name.
    Name(String),
    /// The half-open range of items, entries or characters from the first index to the second.
    Range(usize, usize),
}

/// Positions that the parts of a selection had in the original value.
#[derive(Debug, Default)]
pub enum Origin {
    /// The positions are unchanged.
    #[default]
    Unchanged,
    /// An object with selected fields, and the origin of each.
    Fields(BTreeMap<String, Origin>),
    /// The original indexes of the selected items, entries or characters, and the origin of each part.
    Parts(Vec<usize>, Vec<Origin>),
}

impl Origin {
    /// Returns the original index of the part at an index.
    pub fn index(&self, index: usize) -> usize {
        match self {
            Origin::Parts(indexes, _) => indexes.get(index).copied().unwrap_or(index),
            _ => index,
        }
    }

    /// Returns the original index after the last selected part; `None` if the positions are unchanged.
    pub fn end(&self) -> Option<usize> {
        match self {
            Origin::Parts(indexes, _) => indexes.last().map(|last| last + 1),
            _ => None,
        }
    }

    /// Returns the origin of a part: of the field `name` of an object, or else of the part at `index`.
    pub fn part(&self, name: Option<&str>, index: usize) -> &Origin {
        const SAME: &Origin = &Origin::Unchanged;
        match self {
            Origin::Unchanged => SAME,
            Origin::Fields(fields) => name.and_then(|name| fields.get(name)).unwrap_or(SAME),
            Origin::Parts(_, origins) => origins.get(index).unwrap_or(SAME),
        }
    }
}

impl FieldPath {
    /// Parses a path; returns `None` if the syntax is invalid or the path has too many steps.
    pub fn parse(text: &str) -> Option<FieldPath> {
        let mut steps = Vec::new();
        for segment in text.split('.') {
            let (name, mut parts) = segment.split_at(segment.find('[').unwrap_or(segment.len()));
            if name.is_empty() {
                return None;
            }
            if steps.len() == MAX_PATH_STEPS {
                return None;
            }
            steps.push(Step::Name(name.to_owned()));
            while !parts.is_empty() {
                if steps.len() == MAX_PATH_STEPS {
                    return None;
                }
                let (part, rest) = parts.strip_prefix('[')?.split_once(']')?;
                let step = match part.split_once(':') {
                    Some((from, to)) => {
                        let from = if from.is_empty() { 0 } else { from.parse().ok()? };
                        let to = if to.is_empty() { usize::MAX } else { to.parse().ok()? };
                        if to < from {
                            return None;
                        }
                        Step::Range(from, to)
                    }
                    None => {
                        let index: usize = part.parse().ok()?;
                        Step::Range(index, index.checked_add(1)?)
                    }
                };
                steps.push(step);
                parts = rest;
            }
        }
        Some(FieldPath(steps))
    }

    /// Returns the name and the end of a path that begins with the first items of a list, as `name[0:5]` does.
    pub fn first_items(&self) -> Option<(&str, usize)> {
        match self.0.as_slice() {
            [Step::Name(name), Step::Range(0, end), ..] => Some((name, *end)),
            _ => None,
        }
    }

    /// Returns the path of one field.
    pub fn of_field(name: &str) -> FieldPath {
        FieldPath(vec![Step::Name(name.to_owned())])
    }

    /// Whether the path is one name.
    pub fn is_name(&self) -> bool {
        matches!(self.0.as_slice(), [Step::Name(_)])
    }

    /// Returns the name of the first field.
    pub fn first_name(&self) -> Option<&str> {
        match self.0.first() {
            Some(Step::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether the path begins with a field of this shape.
    pub fn begins_in(&self, shape: &Shape) -> bool {
        self.first_name().is_some_and(|name| shape.at_path(name).is_some())
    }

    /// Returns whether a step of the path is the field with this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Name(other) if other == name))
    }

    /// Whether the path ends with the field with this name, and so selects all of it.
    pub fn ends_with_name(&self, name: &str) -> bool {
        matches!(self.0.last(), Some(Step::Name(last)) if last == name)
    }

    /// Returns the path relative to `field`, if it starts with that field and another name follows; otherwise
    /// the same path.
    #[must_use]
    pub fn relative_to(self, field: &str) -> FieldPath {
        match self.0.as_slice() {
            [Step::Name(first), Step::Name(_), ..] if first == field => FieldPath(self.0[1..].to_vec()),
            _ => self,
        }
    }

    /// Checks that the path exists in a shape. The error has the missing name and the names that exist there. A range of a
    /// record selects values that have no common field names.
    pub fn check<'s>(&self, shape: &'s Shape) -> Result<(), (String, Vec<&'s str>)> {
        let mut shape = shape;
        let mut is_of_values = false;
        for step in &self.0 {
            let Step::Name(name) = step else {
                match shape {
                    Shape::List(items) => shape = items,
                    Shape::Object(_) => is_of_values = true,
                    Shape::Map | Shape::Text | Shape::Other(_) => {}
                }
                continue;
            };
            if is_of_values {
                return Err((name.clone(), Vec::new()));
            }
            while let Shape::List(items) = shape {
                shape = items;
            }
            match shape {
                Shape::Object(fields) => match fields.get(name) {
                    Some(field) => shape = &field.shape,
                    None => return Err((name.clone(), fields.keys().map(String::as_str).collect())),
                },
                Shape::Map | Shape::Other(None) => return Ok(()),
                _ => return Err((name.clone(), Vec::new())),
            }
        }
        Ok(())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Name(name) if index == 0 => write!(f, "{name}")?,
                Step::Name(name) => write!(f, ".{name}")?,
                Step::Range(from, usize::MAX) => write!(f, "[{from}:]")?,
                Step::Range(from, to) if *to == from + 1 => write!(f, "[{from}]")?,
                Step::Range(from, to) => write!(f, "[{from}:{to}]")?,
            }
        }
        Ok(())
    }
}

/// Returns the part of a value that the paths select, and its origin.
pub fn select(value: Value, paths: &[FieldPath]) -> (Value, Origin) {
    let has_parts = paths.iter().flat_map(|path| &path.0).any(|step| matches!(step, Step::Range(..)));
    let (value, origin) =
        select_steps(value, &paths.iter().map(|path| path.0.as_slice()).collect::<Vec<_>>());
    (value, if has_parts { origin } else { Origin::Unchanged })
}

fn select_steps(value: Value, paths: &[&[Step]]) -> (Value, Origin) {
    if paths.iter().any(|path| path.is_empty()) {
        return (value, Origin::Unchanged);
    }
    let parts = Ranges::new(paths);
    match value {
        Value::Array(items) if parts.0.is_empty() => {
            let (items, origins): (Vec<Value>, Vec<Origin>) =
                items.into_iter().map(|item| select_steps(item, paths)).unzip();
            let indexes = (0..items.len()).collect();
            (Value::Array(items), Origin::Parts(indexes, origins))
        }
        Value::Object(fields) if parts.0.is_empty() => {
            let (mut out, mut origins) = (Map::new(), BTreeMap::new());
            for (name, value) in fields {
                let nested_paths: Vec<&[Step]> =
                    paths.iter().filter_map(|path| strip_name(path, &name)).collect();
                if !nested_paths.is_empty() {
                    let (value, origin) = select_steps(value, &nested_paths);
                    origins.insert(name.clone(), origin);
                    out.insert(name, value);
                }
            }
            (Value::Object(out), Origin::Fields(origins))
        }
        Value::Array(items) => {
            let (mut out, mut indexes, mut origins) = (Vec::new(), Vec::new(), Vec::new());
            for (index, item) in items.into_iter().enumerate() {
                let Some(paths) = parts.paths_at(index) else { continue };
                let (item, origin) = select_steps(item, &paths);
                out.push(item);
                indexes.push(index);
                origins.push(origin);
            }
            (Value::Array(out), Origin::Parts(indexes, origins))
        }
        Value::Object(fields) => {
            let (mut out, mut indexes, mut origins) = (Map::new(), Vec::new(), Vec::new());
            for (index, (name, value)) in fields.into_iter().enumerate() {
                let Some(paths) = parts.paths_at(index) else { continue };
                let (value, origin) = select_steps(value, &paths);
                out.insert(name, value);
                indexes.push(index);
                origins.push(origin);
            }
            (Value::Object(out), Origin::Parts(indexes, origins))
        }
        Value::String(text) if !parts.0.is_empty() => select_characters(&text, &parts),
        other => (other, Origin::Unchanged),
    }
}

/// Selects parts of a text.
fn select_characters(text: &str, parts: &Ranges) -> (Value, Origin) {
    let mut is_escape = false;
    let count = text.chars().count();
    let selected = text.chars().enumerate().filter(|(index, character)| {
        // A backslash that escapes markup stays before what it escapes.
        is_escape = *character == '\\' && !is_escape;
        parts.contains(*index) || is_escape && index + 1 < count && parts.contains(index + 1)
    });
    let (indexes, text): (Vec<usize>, String) = selected.unzip();
    (Value::String(text), Origin::Parts(indexes, Vec::new()))
}

/// Returns the rest of a path that starts with a name.
fn strip_name<'w>(path: &&'w [Step], name: &str) -> Option<&'w [Step]> {
    match path.split_first() {
        Some((Step::Name(first), rest)) if first == name => Some(rest),
        _ => None,
    }
}

/// The ranges that paths start with, each with the rest of its path.
struct Ranges<'w>(Vec<(usize, usize, &'w [Step])>);

impl<'w> Ranges<'w> {
    fn new(paths: &[&'w [Step]]) -> Ranges<'w> {
        let part = |path: &&'w [Step]| match path.split_first() {
            Some((Step::Range(from, to), rest)) => Some((*from, *to, rest)),
            _ => None,
        };
        Ranges(paths.iter().filter_map(part).collect())
    }

    fn contains(&self, index: usize) -> bool {
        self.0.iter().any(|(from, to, _)| (*from..*to).contains(&index))
    }

    /// Returns the paths that apply to the item at an index; `None` if it is outside of all ranges.
    fn paths_at(&self, index: usize) -> Option<Vec<&'w [Step]>> {
        let matching = self.0.iter().filter(|(from, to, _)| (*from..*to).contains(&index));
        let paths: Vec<&[Step]> = matching.map(|(_, _, rest)| *rest).collect();
        (!paths.is_empty()).then_some(paths)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn select_paths(value: Value, paths: &[&str]) -> Value {
        select(value, &paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect::<Vec<_>>()).0
    }

    #[test]
    fn paths_select_fields_and_ranges() {
        let value = json!({
            "id": 1,
            "scale": {"loc": 5, "tasks": 6},
            "parts": [{"a": 1, "b": [1, 2, 3]}, {"a": 2, "b": [4]}],
            "files": {"x": 1, "y": 2, "z": 3},
            "text": "häuser",
            "markup": "a\\<b>",
        });
        for (paths, expected) in [
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
            // A backslash is not separated from what it may escape.
            (&["markup[2:4]"], json!({"markup": "\\<b"})),
            (&["markup[1:2]"], json!({"markup": "\\"})),
        ] {
            assert_eq!(select_paths(value.clone(), paths), expected, "{paths:?}");
        }
    }

    #[test]
    fn invalid_paths_are_rejected() {
        for text in
            ["", ".", "a.", ".a", "a[", "a[x]", "a[1", "a]1[", "a[-1]", "a[5:4]", "[0]", "a..b", "a[1]b"]
        {
            assert_eq!(FieldPath::parse(text), None, "{text}");
        }
    }

    #[test]
    fn paths_round_trip() {
        for text in ["id", "a.b[3].c", "a[1:2]", "a[1:]", "roots[0].children[5:9]", "map[2][100:]"] {
            let path = FieldPath::parse(text).unwrap();
            assert_eq!(FieldPath::parse(&path.to_string()), Some(path));
        }
        assert_eq!(FieldPath::parse(&"a.".repeat(MAX_PATH_STEPS + 1)), None);
    }

    #[test]
    fn selection_remembers_original_positions() {
        let value = json!({"a": [{"b": [0, 1, 2, 3]}, {"b": [4, 5, 6]}], "t": "letters"});
        let paths = ["a[1].b[1:]", "t[3:5]"].map(|path| FieldPath::parse(path).unwrap());
        let (selected, origin) = select(value, &paths);
        assert_eq!(selected, json!({"a": [{"b": [5, 6]}], "t": "te"}));
        let list = origin.part(Some("a"), 0);
        assert_eq!((list.index(0), list.end()), (1, Some(2)));
        let inner = list.part(None, 0).part(Some("b"), 0);
        assert_eq!((inner.index(0), inner.index(1), inner.end()), (1, 2, Some(3)));
        assert_eq!(origin.part(Some("t"), 0).index(1), 4);
    }
}
