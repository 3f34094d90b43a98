//! Samples that the message of a finding names: the first few locations, and the total number.

use std::fmt;

/// Maximum number of samples that a message names.
const NAMED: usize = 3;

/// Locations of a problem: the total number, and descriptions of the first few.
#[derive(Clone, Debug, Default)]
pub struct Places {
    count: u64,
    named: Vec<String>,
}

impl Places {
    /// Counts a location. `words` returns its description, and is only called if the location becomes a
    /// sample.
    pub fn add(&mut self, words: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(words());
        }
    }

    /// Returns the total number of locations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are no locations.
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

/// Masks a secret or personal data for use in a message: shows a few of the first characters, followed by
/// `****`.
pub fn masked(value: &str) -> String {
    let shown = (value.chars().count() / 3).min(4);
    format!("{}****", value.chars().take(shown).filter(|letter| !letter.is_control()).collect::<String>())
}

/// Returns a share in whole percent, rounded down. Returns 0 if `whole` is 0.
pub fn percent(part: u64, whole: u64) -> u64 {
    (u128::from(part) * 100 / u128::from(whole.max(1))) as u64
}

/// Formats a count with the singular or plural form of a noun.
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
