//! Samples that the message of a finding names: the first few locations, and the total number. A detailed outcome also has
//! more of these locations as values.

use std::{cmp::Ordering, fmt};

use marketplace_domain::name_lists::NameList;

use super::places::{MAX_PLACES, Place};
use crate::contents::quoted;

/// Maximum number of samples that a message names.
const MAX_SAMPLES: usize = 3;

/// Locations of a problem: the total number, descriptions of the first few, and the first [`MAX_PLACES`] as values.
#[derive(Debug, Default)]
pub struct Samples {
    named: NameList<MAX_SAMPLES>,
    places: Vec<Place>,
}

impl Samples {
    /// Adds a file. The message has its path.
    pub fn add_file(&mut self, path: &str) {
        self.add(|| Place::file(path, ""), |place| quoted(&place.path));
    }

    /// Adds a file with its problem, which is a predicate. The message has both.
    pub fn add_problem(&mut self, path: &str, problem: impl fmt::Display) {
        self.add(
            || Place::file(path, &problem.to_string()),
            |place| format!("{} {}", quoted(&place.path), place.text),
        );
    }

    /// Adds a place, with its description in the message. Neither is created if there are already enough, including those that
    /// were too long to be kept.
    pub fn add(&mut self, place: impl FnOnce() -> Place, name: impl FnOnce(&Place) -> String) {
        if self.named.count() >= MAX_PLACES as u64 {
            return self.named.add_unnamed(1);
        }
        let place = place();
        self.named.add(|| name(&place));
        if place.is_short() {
            self.places.push(place);
        }
    }

    /// Adds a finding without a place in the data, by its description in the message.
    pub fn add_unplaced(&mut self, name: impl FnOnce() -> String) {
        self.named.add(name);
    }

    /// Returns the number of all locations.
    pub fn count(&self) -> u64 {
        self.named.count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Returns the places, and the number of locations that are not among them.
    pub(super) fn into_places(self) -> (Vec<Place>, u64) {
        let further = self.named.count() - self.places.len() as u64;
        (self.places, further)
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.named.fmt(f)
    }
}

/// Masks a secret or personal data for use in a message: shows a few of the first characters, followed by
/// `****`.
pub fn masked(value: &str) -> String {
    let visible = (value.chars().count() / 3).min(4);
    format!(
        "{}****",
        value.chars().take(visible).filter(|character| !character.is_control()).collect::<String>()
    )
}

/// A part of a total. Its text is in whole percent, rounded down, and `<1%` if that would hide the part.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The part.
    pub part: u64,
    /// The total, of which the share is 0 if this is 0.
    pub total: u64,
}

impl Share {
    /// Whether the share is not above a limit in percent.
    pub fn is_at_most(self, percent: u64) -> bool {
        u128::from(self.part) * 100 <= u128::from(self.total) * u128::from(percent)
    }

    /// Compares the share with another one.
    pub fn compare(self, other: Share) -> Ordering {
        let product = |part: u64, total: u64| u128::from(part) * u128::from(total);
        product(self.part, other.total).cmp(&product(other.part, self.total))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match u128::from(self.part) * 100 / u128::from(self.total.max(1)) {
            0 if self.part > 0 => f.write_str("<1%"),
            percent => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_places_that_are_created_is_limited() {
        let mut samples = Samples::default();
        let long = "x".repeat(2_000);
        let (mut places, mut names) = (0_usize, 0_usize);
        for _ in 0..3 * MAX_PLACES {
            let place = || {
                places += 1;
                Place::file(&long, "")
            };
            samples.add(place, |_| {
                names += 1;
                String::new()
            });
        }
        assert_eq!((places, names), (MAX_PLACES, MAX_SAMPLES));
        let (kept, further) = samples.into_places();
        assert_eq!((kept.len(), further), (0, 3 * MAX_PLACES as u64));
    }

    #[test]
    fn masked_values_show_few_characters() {
        assert_eq!(masked("ghp_abcdefghijklmnop"), "ghp_****");
        assert_eq!(masked("jo@x.de"), "jo****");
        assert_eq!(masked("ab"), "****");
    }

    #[test]
    fn shares_are_compared_exactly_and_written_in_whole_percent() {
        for (part, total, text, is_at_most_30) in [
            (0, 0, "0%", true),
            (0, 7, "0%", true),
            (1, 200, "<1%", true),
            (29, 100, "29%", true),
            (3, 10, "30%", true),
            (301, 1_000, "30%", false),
            (1, 3, "33%", false),
            (199, 200, "99%", false),
            (u64::MAX, u64::MAX, "100%", false),
        ] {
            let share = Share { part, total };
            assert_eq!((share.to_string().as_str(), share.is_at_most(30)), (text, is_at_most_30));
        }
        let share = |part, total| Share { part, total };
        assert_eq!(share(301, 1_000).compare(share(3, 10)), Ordering::Greater);
        assert_eq!(share(1, 3).compare(share(u64::MAX / 3, u64::MAX)), Ordering::Equal);
    }
}
