//! The order of names for people: the root collation of Unicode. Accents are beside their letters, and capitals
//! beside small letters, in all scripts.

use icu_collator::{CollatorBorrowed, options::CollatorOptions};

/// Returns the key of a name. Keys are ordered as their names are. They differ between versions of Unicode, so
/// they must not be stored.
pub fn sort_key(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(2 * name.len());
    let Ok(()) = CollatorBorrowed::new_root(CollatorOptions::default()).write_sort_key_to(name, &mut key);
    key
}

#[cfg(test)]
mod tests {
    use super::sort_key;

    #[test]
    fn names_are_ordered_by_letters_first_then_accents_then_case() {
        let names =
            ["", "_", "7", "a", "A", "ä", "Ä", "ab", "b", "côte", "coté", "z", "ß\u{301}", "я", "あ", "中"];
        let mut sorted = names;
        sorted.sort_by_key(|name| sort_key(name));
        let expected =
            ["", "_", "7", "a", "A", "ä", "Ä", "ab", "b", "coté", "côte", "ß\u{301}", "z", "я", "あ", "中"];
        assert_eq!(sorted, expected);
        assert_eq!(sort_key("e\u{301}"), sort_key("é"));
    }
}
