//! Orders the problems in a response like the values in the body.

use std::collections::BTreeMap;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess};

use crate::{
    error::{LocSegment, MAX_PROBLEMS, Problem},
    json_values::{Name, Next, ReadJson, SKIP, skip_elements, skip_entries},
    rest::arguments::unknown_names,
};

/// Sorts problems by the places of their values in a body that is valid JSON, and drops those beyond the
/// maximum number. Truncates the names in their locations.
///
/// A value that the body does not have, such as a missing field, has the place of the closest value around
/// it, so missing fields come before the fields of their object. Problems with one value keep their order.
pub fn sort_problems(body: &[u8], problems: &mut Vec<Problem>) {
    for segment in problems.iter_mut().flat_map(|problem| &mut problem.loc) {
        if let LocSegment::Name(name) = segment {
            *name = unknown_names::truncate_name(name);
        }
    }
    if problems.len() > 1 {
        let mut root = Node::default();
        for problem in &*problems {
            root.insert(problem.loc.get(1..).unwrap_or_default());
        }
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        // The body was parsed before, so it has no syntax error.
        let _ = Next(PlaceFinder { node: &mut root, count: &mut 0 }).deserialize(&mut deserializer);
        problems.sort_by_cached_key(|problem| root.place(problem.loc.get(1..).unwrap_or_default()));
    }
    problems.truncate(MAX_PROBLEMS);
}

/// A value at or around the value of a problem.
#[derive(Debug, Default)]
struct Node {
    /// The number of such values that begin before this one; `None` if the body does not have this one.
    place: Option<usize>,
    children: BTreeMap<LocSegment, Node>,
}

impl Node {
    fn insert(&mut self, path: &[LocSegment]) {
        if let [first, rest @ ..] = path {
            self.children.entry(first.clone()).or_default().insert(rest);
        }
    }

    /// Returns the place of the value at `path`, or of the closest value around it.
    fn place(&self, path: &[LocSegment]) -> Option<usize> {
        let child = path.split_first().and_then(|(first, rest)| self.children.get(first)?.place(rest));
        child.or(self.place)
    }
}

/// Finds the places of a value and of what it contains.
struct PlaceFinder<'a> {
    node: &'a mut Node,
    count: &'a mut usize,
}

impl ReadJson for PlaceFinder<'_> {
    type Output = ();

    fn begin<E: Error>(&mut self) -> Result<(), E> {
        // Of a name that an object has twice, the first value counts.
        self.node.place.get_or_insert(*self.count);
        *self.count += 1;
        Ok(())
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if self.node.children.is_empty() {
            return skip_elements(&mut items);
        }
        for index in 0.. {
            let item = match self.node.children.get_mut(&LocSegment::Index(index)) {
                Some(node) => items.next_element_seed(Next(PlaceFinder { node, count: &mut *self.count }))?,
                None => items.next_element_seed(SKIP)?,
            };
            if item.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn object<'de, A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        if self.node.children.is_empty() {
            return skip_entries(&mut entries);
        }
        while let Some(Name(name)) = entries.next_key()? {
            let name = LocSegment::Name(unknown_names::truncate_name(&name));
            match self.node.children.get_mut(&name) {
                Some(node) => entries.next_value_seed(Next(PlaceFinder { node, count: &mut *self.count }))?,
                None => entries.next_value_seed(SKIP)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_follow_the_values_of_the_body() {
        let long = "n".repeat(100);
        let body = format!(r#"{{"b": [{{"y": 1, "x": 2, "\u0079": 3}}, 4], "{long}": 5, "a": {{}}}}"#);
        let truncated = unknown_names::truncate_name(&long);
        let mut problems = vec![
            Problem::body(&["a", "missing"], "1", ""),
            Problem::body(&["a"], "2", ""),
            Problem::body(&[&truncated], "3", ""),
            Problem::body(&["missing", "deep"], "4", ""),
            Problem::body(&["b"], "5", ""),
        ];
        for (index, name, kind) in
            [(1, None, "6"), (0, Some("x"), "7"), (0, Some("y"), "8"), (0, Some("z"), "9")]
        {
            let mut problem = Problem::body(&["b"], kind, "");
            problem.loc.push(LocSegment::Index(index));
            problem.loc.extend(name.map(|name| LocSegment::Name(name.to_owned())));
            problems.push(problem);
        }
        sort_problems(body.as_bytes(), &mut problems);
        assert_eq!(problems.iter().map(|problem| problem.kind).collect::<String>(), "459876312");
    }

    #[test]
    fn problems_beyond_the_maximum_are_dropped() {
        let item = |index: usize| {
            let mut problem = Problem::body(&[], "x", "");
            problem.loc.push(LocSegment::Index(index));
            problem
        };
        let mut problems: Vec<Problem> = (0..150).rev().map(item).collect();
        sort_problems(format!("[{}0]", "0,".repeat(149)).as_bytes(), &mut problems);
        assert_eq!(problems, (0..MAX_PROBLEMS).map(item).collect::<Vec<_>>());
    }
}
