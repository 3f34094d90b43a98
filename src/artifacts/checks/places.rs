//! Places that a finding names: the first few of them, and how many there are.

use std::fmt;

/// Places that are named.
const NAMED: usize = 3;

/// Where something was found.
#[derive(Clone, Debug, Default)]
pub struct Places {
    count: u64,
    named: Vec<String>,
}

impl Places {
    /// Adds a place, whose words are only asked for if it is named.
    pub fn add(&mut self, words: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(words());
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named.join("; "))?;
        match self.count - self.named.len() as u64 {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// A secret or a person's data as a message may hold it: the first characters, and stars for all others.
pub fn masked(value: &str) -> String {
    let shown = (value.chars().count() / 3).min(4);
    format!("{}****", value.chars().take(shown).filter(|letter| !letter.is_control()).collect::<String>())
}

/// A share in whole percent; nothing of nothing is nothing.
pub fn percent(part: u64, whole: u64) -> u64 {
    (u128::from(part) * 100 / u128::from(whole.max(1))) as u64
}

/// A number of things in words: one, or many.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_named_and_the_rest_counted() {
        let mut places = Places::default();
        assert!(places.is_empty());
        for number in 1..=5 {
            places.add(|| number.to_string());
        }
        assert_eq!((places.to_string().as_str(), places.count()), ("1; 2; 3; and 2 more", 5));
    }

    #[test]
    fn little_is_shown_of_what_is_masked() {
        assert_eq!(masked("ghp_abcdefghijklmnop"), "ghp_****");
        assert_eq!(masked("jo@x.de"), "jo****");
        assert_eq!(masked("ab"), "****");
        assert_eq!((percent(1, 3), percent(0, 0), percent(u64::MAX, u64::MAX)), (33, 0, 100));
    }
}
