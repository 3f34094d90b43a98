//! What a message names of the things that are at fault: the first few, and how many more there are.

use std::fmt;

use super::excerpt::{excerpt, quoted};

/// Maximum number of things that an error message names. The others are counted.
pub const MAX_NAMED: usize = 5;

/// Names of things for a message: the first `MAX`, and the number of the others. Its text is like
/// `a; b; c; and 2 more`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<const MAX: usize = MAX_NAMED> {
    names: Vec<String>,
    count: u64,
}

impl<const MAX: usize> Named<MAX> {
    /// Adds a thing. `name` returns its name, and is only called if the message will have it.
    pub fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.names.len() < MAX {
            self.names.push(name());
        }
    }

    /// Counts further things without their names.
    pub fn add_unnamed(&mut self, count: u64) {
        self.count += count;
    }

    /// Returns the number of all things.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<T: fmt::Display, const MAX: usize> FromIterator<T> for Named<MAX> {
    fn from_iter<I: IntoIterator<Item = T>>(things: I) -> Named<MAX> {
        let mut named = Named::default();
        for thing in things {
            named.add(|| thing.to_string());
        }
        named
    }
}

impl<const MAX: usize> fmt::Display for Named<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join("; "))?;
        match (self.count - self.names.len() as u64, self.names.is_empty()) {
            (0, _) => Ok(()),
            (more, true) => write!(f, "{more}"),
            (more, false) => write!(f, "; and {more} more"),
        }
    }
}

/// Returns the name and the ID of a record for a message. Of a long name, it has the beginning.
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
            let named: Named = (1..=count).collect();
            assert_eq!((named.to_string().as_str(), named.count()), (text, count));
            assert_eq!(named.is_empty(), count == 0);
        }
        let mut few: Named<2> = ["a", "b"].iter().collect();
        few.add(|| unreachable!("a name that is not shown is not made"));
        few.add_unnamed(4);
        assert_eq!((few.to_string().as_str(), few.count()), ("a; b; and 5 more", 7));
        let mut none = Named::<2>::default();
        none.add_unnamed(3);
        assert_eq!(none.to_string(), "3");
    }

    #[test]
    fn names_are_quoted_and_bounded() {
        assert_eq!(name_of("Say \"hi\"\n", 7), r#""Say \"hi\"\n" (7)"#);
        assert_eq!(name_of(&"x".repeat(10_000), 7), format!("\"{}…\" (7)", "x".repeat(100)));
    }
}
