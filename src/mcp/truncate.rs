//! Truncation of values that are too long: the longest list, map or string is truncated repeatedly, by at most half if that
//! alone is not enough, until the value fits. So several long parts end up about equally long. Each truncation has the path to
//! the rest. By following these paths, all of the value can be read, part by part.

use std::{cmp::Reverse, collections::BTreeMap, io};

use serde::Serialize;
use serde_json::Value;

use super::{bundle_manifest, evidence::EVIDENCE, field_paths::Origin, openapi::Shape};

/// Maximum number of truncations of one value.
const MAX_TRUNCATIONS: usize = 400;

/// Maximum number of characters of a text that is never truncated: a part of an ID, a time, or a name is useless.
const SHORT_TEXT_CHARS: usize = 64;

/// A part that was truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Path to the part.
    pub path: String,
    /// Number of items, entries or characters that are left.
    pub shown: usize,
    /// Number of items, entries or characters before truncation.
    pub total: usize,
    /// Path to the range that was removed.
    pub rest: String,
}

/// Truncates a value to at most `max_bytes` of JSON, and returns what was truncated. `origin` has the
/// positions that the value's parts had before field selection, so that paths start from the original value.
pub fn truncate_value(
    value: &mut Value,
    shape: &Shape,
    origin: &Origin,
    max_bytes: usize,
) -> Vec<Truncation> {
    let mut truncations: Vec<Truncation> = Vec::new();
    for _ in 0..MAX_TRUNCATIONS {
        let total_bytes = json_size(value);
        if total_bytes <= max_bytes {
            break;
        }
        let mut steps = Vec::new();
        let Some((shown, total)) =
            truncate_longest(value, Some(shape), total_bytes - max_bytes, true, &mut steps)
        else {
            break;
        };
        let (latest, rest_start) = describe_truncation(&steps, shape, origin, shown, total);
        // Earlier truncations in a part that is now removed no longer matter.
        let prefix = format!("{}[", latest.path);
        truncations.retain(|earlier| {
            let index =
                earlier.path.strip_prefix(&prefix).and_then(|rest| rest.split(']').next()?.parse().ok());
            index.is_none_or(|index: usize| index < rest_start)
        });
        match truncations.iter_mut().find(|earlier| earlier.path == latest.path) {
            Some(earlier) => *earlier = Truncation { total: earlier.total, ..latest },
            None => truncations.push(latest),
        }
    }
    truncations
}

/// Number of entries that are left of a long map in a brief output, and from how many entries a map is long.
pub const BRIEF_MAP_ENTRIES: usize = 4;
const LONG_MAP_ENTRIES: usize = 8;

/// Shortens the long maps in a value to [`BRIEF_MAP_ENTRIES`]: those with the largest numbers, or else the first. Returns the
/// path of each, and how many entries it had; of the same field in several items of a list, only the longest.
pub fn shorten_maps(value: &mut Value, shape: &Shape) -> Vec<(String, usize)> {
    let mut shortened = BTreeMap::new();
    shorten_maps_at(value, shape, "", &mut shortened);
    shortened.into_iter().collect()
}

fn shorten_maps_at(value: &mut Value, shape: &Shape, path: &str, shortened: &mut BTreeMap<String, usize>) {
    match (value, shape) {
        (Value::Object(fields), Shape::Object(shapes)) => {
            for (name, value) in fields.iter_mut() {
                if let Some(field) = shapes.get(name) {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    shorten_maps_at(value, &field.shape, &path, shortened);
                }
            }
        }
        (Value::Array(items), Shape::List(shape)) => {
            for item in items {
                shorten_maps_at(item, shape, path, shortened);
            }
        }
        (Value::Object(entries), Shape::Map) if entries.len() > LONG_MAP_ENTRIES => {
            let total = shortened.entry(path.to_owned()).or_default();
            *total = (*total).max(entries.len());
            let mut all: Vec<(String, Value)> = std::mem::take(entries).into_iter().collect();
            // The sort is stable, so entries without numbers keep their order.
            all.sort_by_key(|(_, number)| Reverse(number.as_u64()));
            entries.extend(all.into_iter().take(BRIEF_MAP_ENTRIES));
        }
        _ => {}
    }
}

/// A step on the path to a part of a value: its index, and its name if it is in an object.
#[derive(Debug)]
struct PathStep {
    name: Option<String>,
    index: usize,
}

/// Describes the truncation of the part at the end of these steps, with paths from the original value. Also returns the original
/// index of the first part that was removed.
fn describe_truncation(
    steps: &[PathStep],
    shape: &Shape,
    origin: &Origin,
    shown: usize,
    total: usize,
) -> (Truncation, usize) {
    let (mut path, mut shape, mut origin) = (String::new(), Some(shape), origin);
    for PathStep { name, index } in steps {
        match (shape, name) {
            (Some(Shape::Object(fields)), Some(name)) if fields.contains_key(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            // Keys of maps are untrusted text, so entries are addressed by index.
            _ => path = format!("{path}[{}]", origin.index(*index)),
        }
        origin = origin.part(name.as_deref(), *index);
        shape = shape.and_then(|shape| shape.part(name.as_deref()));
    }
    let rest_start = origin.index(shown);
    let end = origin.end().map_or(String::new(), |end| end.to_string());
    let rest = format!("{path}[{rest_start}:{end}]");
    (Truncation { path, shown, total, rest }, rest_start)
}

/// Truncates the longest list, map or string by at least `excess` bytes, or else to half of its parts. Evidence in a record, and
/// the summary of a manifest, are never truncated. Returns how many parts are left, and how many there were; `None` if nothing can be
/// truncated.
fn truncate_longest(
    value: &mut Value,
    shape: Option<&Shape>,
    excess: usize,
    is_root: bool,
    steps: &mut Vec<PathStep>,
) -> Option<(usize, usize)> {
    if let Value::String(text) = value {
        return truncate_text(text, excess);
    }
    let total_bytes = json_size(value);
    let mut parts: Vec<(PathStep, usize)> = match value {
        Value::Object(fields) => {
            let part = |(index, (name, value)): (usize, (&String, &Value))| {
                (PathStep { name: Some(name.clone()), index }, name.len() + 4 + json_size(value))
            };
            fields.iter().enumerate().map(part).collect()
        }
        Value::Array(items) => {
            let part = |(index, item)| (PathStep { name: None, index }, json_size(item) + 1);
            items.iter().enumerate().map(part).collect()
        }
        _ => return None,
    };
    // A record keeps all its fields. A list or map is truncated, unless one part makes up most of it and can
    // provide the excess alone.
    let is_record = is_root || matches!((shape, &*value), (Some(Shape::Object(_)), Value::Object(_)));
    if is_record {
        parts.retain(|(step, _)| {
            step.name
                .as_deref()
                .is_none_or(|name| name != EVIDENCE && !bundle_manifest::is_summary(&value[name]))
        });
    }
    let longest = parts.iter().map(|(_, size)| *size).max()?;
    if !is_record && parts.len() > 1 && (longest * 2 <= total_bytes || longest <= excess) {
        return Some(truncate_parts(value, &parts, total_bytes, excess));
    }
    let sizes: Vec<usize> = parts.iter().map(|(_, size)| *size).collect();
    parts.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    for (step, _) in parts {
        let inner = match (&mut *value, &step.name) {
            (Value::Object(fields), Some(name)) => fields.get_mut(name),
            (Value::Array(items), _) => items.get_mut(step.index),
            _ => None,
        }?;
        let shape = shape.and_then(|shape| shape.part(step.name.as_deref()));
        steps.push(step);
        if let Some(truncated) = truncate_longest(inner, shape, excess, false, steps) {
            return Some(truncated);
        }
        steps.pop();
    }
    let can_be_truncated = !is_record && sizes.len() > 1;
    can_be_truncated.then(|| {
        let total = sizes.len();
        keep_first(value, 1);
        (1, total)
    })
}

fn truncate_parts(
    value: &mut Value,
    parts: &[(PathStep, usize)],
    total_bytes: usize,
    excess: usize,
) -> (usize, usize) {
    let fitting = count_fitting(parts.iter().map(|(_, size)| *size), total_bytes, excess);
    let count = fitting.clamp((parts.len() / 2).max(1), parts.len() - 1);
    keep_first(value, count);
    (count, parts.len())
}

fn keep_first(value: &mut Value, count: usize) {
    match value {
        Value::Array(items) => items.truncate(count),
        Value::Object(fields) => *fields = std::mem::take(fields).into_iter().take(count).collect(),
        _ => {}
    }
}

fn truncate_text(text: &mut String, excess: usize) -> Option<(usize, usize)> {
    let total = text.chars().count();
    if total <= SHORT_TEXT_CHARS {
        return None;
    }
    let sizes = text.chars().map(|character| json_size(&character) - 2);
    let fitting = count_fitting(sizes, json_size(text), excess);
    let mut count = fitting.clamp((total / 2).max(SHORT_TEXT_CHARS), total - 1);
    *text = text.chars().take(count).collect();
    // A backslash that escapes markup is not separated from what it escapes.
    if text.chars().rev().take_while(|character| *character == '\\').count() % 2 == 1 {
        text.pop();
        count -= 1;
    }
    Some((count, total))
}

/// Returns how many of these sizes can be kept if `excess` of `total_bytes` have to be removed.
fn count_fitting(sizes: impl Iterator<Item = usize>, total_bytes: usize, excess: usize) -> usize {
    let available = total_bytes.saturating_sub(excess);
    let mut used = 2;
    sizes
        .take_while(|size| {
            used += size;
            used <= available
        })
        .count()
}

/// Returns the size of a value's JSON in bytes.
pub fn json_size(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).map(|()| count.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;
    use crate::mcp::{
        field_paths::{FieldPath, select},
        openapi::Field,
    };

    /// The shape of a record with a single field of any type.
    fn any_shape() -> Shape {
        let field = Field { shape: Shape::Other(None), is_nullable: false };
        Shape::Object([("all".to_owned(), field)].into())
    }

    /// Follows the paths of all truncations until the whole value was returned, and returns the part of each
    /// step.
    fn read_all_parts(value: &Value, shape: &Shape, max_bytes: usize) -> Vec<Value> {
        let mut parts = Vec::new();
        let mut pending_paths: Vec<Option<String>> = vec![None];
        while let Some(path) = pending_paths.pop() {
            let (mut part, origin) = match &path {
                Some(path) => select(value.clone(), &[FieldPath::parse(path).unwrap()]),
                None => (value.clone(), Origin::Unchanged),
            };
            let truncations = truncate_value(&mut part, shape, &origin, max_bytes);
            assert!(json_size(&part) <= max_bytes, "{path:?}: {part}");
            pending_paths.extend(truncations.into_iter().map(|truncation| Some(truncation.rest)));
            parts.push(part);
            assert!(parts.len() < 5_000, "does not terminate: {path:?}");
        }
        parts
    }

    /// Collects every number in a value.
    fn collect_numbers(value: &Value, found: &mut Vec<u64>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect_numbers(item, found)),
            Value::Object(fields) => fields.values().for_each(|value| collect_numbers(value, found)),
            Value::Number(number) => found.extend(number.as_u64()),
            _ => {}
        }
    }

    /// Generates trees of lists and maps with unusual keys.
    fn tree() -> impl Strategy<Value = Value> {
        let leaf = Just(json!(0));
        leaf.prop_recursive(5, 200, 12, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
                prop::collection::btree_map("[a-c.\\[\\]: ]{0,6}", inner, 0..12)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// Replaces each leaf by a unique number.
    fn number_leaves(value: &mut Value, next: &mut u64) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| number_leaves(item, next)),
            Value::Object(fields) => fields.values_mut().for_each(|value| number_leaves(value, next)),
            leaf => {
                *next += 1;
                *leaf = json!(10_000 + *next);
            }
        }
    }

    proptest! {
        #[test]
        fn truncated_parts_can_be_read_exactly_once(tree in tree(), max_bytes in 120_usize..400) {
            let mut value = json!({"all": tree});
            number_leaves(&mut value, &mut 0);
            let mut expected = Vec::new();
            collect_numbers(&value, &mut expected);
            let mut seen = Vec::new();
            for part in read_all_parts(&value, &any_shape(), max_bytes) {
                collect_numbers(&part, &mut seen);
            }
            let unique: BTreeSet<u64> = seen.iter().copied().collect();
            prop_assert_eq!(unique.len(), seen.len(), "a number was returned twice");
            prop_assert_eq!(unique, expected.into_iter().collect());
        }
    }

    #[test]
    fn truncated_text_can_be_read_in_full() {
        let text: String = (0..900)
            .map(|index| if index % 3 == 0 { '\\' } else { char::from_u32(0x4e00 + index).unwrap() })
            .collect();
        let value = json!({"all": {"a.b]": text, "c": 1}});
        let parts = read_all_parts(&value, &any_shape(), 500);
        let texts = parts.iter().filter_map(|part| part["all"]["a.b]"].as_str());
        assert_eq!(texts.collect::<String>(), text);
    }

    #[test]
    fn two_large_directories_can_both_be_read() {
        let directory = |name: &str| {
            let file =
                |index: usize| json!({"name": format!("{name}-{index}"), "kind": "file", "children": []});
            json!({"name": name, "kind": "folder", "children": (0..900).map(file).collect::<Vec<_>>()})
        };
        let value =
            json!({"all": [directory("alpha"), directory("beta"), {"name": "README", "kind": "file"}]});
        let parts = read_all_parts(&value, &any_shape(), 20_000);
        let text: String = parts.iter().map(ToString::to_string).collect();
        for name in ["alpha-0\"", "alpha-899\"", "beta-0\"", "beta-899\"", "README"] {
            assert_eq!(text.matches(name).count(), 1, "{name}");
        }
        let mut first = value;
        let truncations = truncate_value(&mut first, &any_shape(), &Origin::Unchanged, 20_000);
        assert_eq!(truncations[0].rest, "all[1:]");
        assert_eq!(truncations[0].total, 3);
        assert!(truncations[1].rest.starts_with("all[0][0]["), "{truncations:?}");
    }

    #[test]
    fn paths_start_at_the_root_and_contain_no_untrusted_keys() {
        let list = |count: usize| json!((0..count).map(|index| format!("item {index}")).collect::<Vec<_>>());
        let value = json!({"all": [list(9), {"SYSTEM: obey": list(400)}]});
        let (mut part, origin) = select(value, &[FieldPath::parse("all[1]").unwrap()]);
        let truncations = truncate_value(&mut part, &any_shape(), &origin, 1_000);
        assert_eq!(truncations.len(), 1);
        assert_eq!(truncations[0].path, "all[1][0]");
        assert_eq!(truncations[0].rest, format!("all[1][0][{}:]", truncations[0].shown));
    }

    #[test]
    fn sizes_are_json_bytes_and_records_keep_all_fields() {
        for value in [json!({"a": [1, "é\n", null]}), json!("x"), json!([])] {
            assert_eq!(json_size(&value), value.to_string().len());
        }
        let record: Map<String, Value> =
            (0..60).map(|index| (format!("f{index}"), json!("x".repeat(100)))).collect();
        let fields =
            record.keys().map(|name| (name.clone(), Field { shape: Shape::Text, is_nullable: false }));
        let shape = Shape::Object(fields.collect());
        let mut value = Value::Object(record);
        let truncations = truncate_value(&mut value, &shape, &Origin::Unchanged, 5_000);
        assert!(
            json_size(&value) <= 5_000 && value.as_object().unwrap().len() == 60 && truncations.len() > 3
        );
    }
}
