//! IDs in the values of arguments that can be completed: a suggestion has a title after the ID.

use uuid::Uuid;

/// Returns the IDs in the value of an argument, which can have suggestions, separated by commas or spaces. Text that is not an
/// ID is kept, except for a title after an ID.
pub fn ids_in(value: &str) -> Vec<&str> {
    value.split(',').flat_map(ids_in_part).collect()
}

fn ids_in_part(part: &str) -> Vec<&str> {
    let is_id = |word: &&str| Uuid::try_parse(word).is_ok();
    let words: Vec<&str> = part.split_whitespace().collect();
    if words.first().is_some_and(is_id) { words.into_iter().filter(is_id).collect() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_after_ids_are_ignored() {
        let [a, b] = [Uuid::from_u128(1), Uuid::from_u128(2)].map(|id| id.to_string());
        for value in [format!("{a} A title,{b} B"), format!("{a} {b}"), format!("{a},{b}")] {
            assert_eq!(ids_in(&value), [a.as_str(), b.as_str()], "{value}");
        }
        assert_eq!(ids_in("no-id, other"), ["no-id", "other"]);
    }
}
