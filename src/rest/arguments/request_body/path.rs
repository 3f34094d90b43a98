//! The path from a body to a value in it, for the location of problems.

use crate::{error::LocSegment, rest::arguments::unknown_names};

/// A path to a value. It is linked to the path of the enclosing value, so that it costs nothing while there
/// is no problem.
pub enum Path<'a> {
    /// The body itself.
    Root,
    /// The entry of an object with this name.
    Name(&'a Path<'a>, &'a str),
    /// The element of an array with this index.
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// Returns the location. Long names are truncated, since callers can choose them.
    pub fn to_loc(&self) -> Vec<LocSegment> {
        let (parent, segment) = match self {
            Path::Root => return vec![LocSegment::Name("body".to_owned())],
            Path::Name(parent, name) => (parent, LocSegment::Name(unknown_names::truncate_name(name))),
            Path::Index(parent, index) => (parent, LocSegment::Index(*index)),
        };
        let mut loc = parent.to_loc();
        loc.push(segment);
        loc
    }

    /// Formats the path for a message, such as `` `parts[0].id` ``.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for step in self.to_loc().iter().skip(1) {
            match step {
                LocSegment::Name(name) if text.is_empty() => text.push_str(name),
                LocSegment::Name(name) => text.extend([".", name]),
                LocSegment::Index(index) => text.extend(["[", &index.to_string(), "]"]),
            }
        }
        if text.is_empty() { "The body".to_owned() } else { format!("`{text}`") }
    }
}
