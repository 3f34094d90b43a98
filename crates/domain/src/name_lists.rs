//! Lists of names in error messages: the first few names, and the number of the others.

use std::fmt;

use super::excerpt::{excerpt, quoted};

/// Maximum number of things that an error message names. The others are counted.
pub const MAX_NAMED: usize = 5;

/// Names of things for a message: the first `MAX`, and the number of the others. Its text is like
/// `a; b; c; and 2 more`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameList<const MAX: usize = MAX_NAMED> {
    names: Vec<String>,
    count: u64,
}

impl<const MAX: usize> NameList<MAX> {
    /// Adds a name. `name` is only called if the message will contain it.
    pub fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.names.len() < MAX {
            self.names.push(name());
        }
    }

    /// Adds to the count without adding names.
    pub fn add_unnamed(&mut self, count: u64) {
        self.count += count;
    }

    /// Returns how many things were added, with or without a name.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<T: fmt::Display, const MAX: usize> FromIterator<T> for NameList<MAX> {
    fn from_iter<I: IntoIterator<Item = T>>(things: I) -> NameList<MAX> {
        let mut named = NameList::default();
        for thing in things {
            named.add(|| thing.to_string());
        }
        named
    }
}

impl<const MAX: usize> fmt::Display for NameList<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join("; "))?;
        match (self.count - self.names.len() as u64, self.names.is_empty()) {
            (0, _) => Ok(()),
            (more, true) => write!(f, "{more}"),
            (more, false) => write!(f, "; and {more} more"),
        }
    }
}

/// Returns the name and the ID of a record for a message. A long name is cut.
pub fn name_of(name: &str, id: impl fmt::Display) -> String {
    format!("{} ({id})", quoted(&excerpt(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_things_are_named_and_others_counted() {
        for (count, text) in [
            (0, ""),
            (1, "1"),
            (2, "1; 2"),
            (5, "1; 2; 3; 4; 5"),
            (6, "1; 2; 3; 4; 5; and 1 more"),
            (1_000, "1; 2; 3; 4; 5; and 995 more"),
        ] {
            let named: NameList = (1..=count).collect();
            assert_eq!((named.to_string().as_str(), named.count()), (text, count));
            assert_eq!(named.is_empty(), count == 0);
        }
        let mut few: NameList<2> = ["a", "b"].iter().collect();
        few.add(|| unreachable!("the closure is not called for a name that is not shown"));
        few.add_unnamed(4);
        assert_eq!((few.to_string().as_str(), few.count()), ("a; b; and 5 more", 7));
        let mut none = NameList::<2>::default();
        none.add_unnamed(3);
        assert_eq!(none.to_string(), "3");
    }

    #[test]
    fn names_are_quoted_and_bounded() {
        assert_eq!(name_of("Say \"hi\"\n", 7), r#""Say \"hi\"\n" (7)"#);
        assert_eq!(name_of(&"x".repeat(10_000), 7), format!("\"{}…\" (7)", "x".repeat(100)));
    }
}
