//! The order of names for people: the root collation of Unicode. Accents are beside their letters, and capitals
//! beside small letters, in all scripts.

use icu_collator::{CollatorBorrowed, options::CollatorOptions};

/// Version of the keys. It increases whenever keys change, as they do with most versions of the collation
/// data, so that stored keys can be derived again. A test fails if the libraries change without it.
pub const KEY_VERSION: u32 = 1;

/// Returns the key of a name. Keys of the same [`KEY_VERSION`] are ordered as their names are.
pub fn sort_key(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(2 * name.len());
    let Ok(()) = CollatorBorrowed::new_root(CollatorOptions::default()).write_sort_key_to(name, &mut key);
    key
}

#[cfg(test)]
mod tests {
    use super::{KEY_VERSION, sort_key};

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

    #[test]
    fn libraries_that_determine_the_keys_change_only_with_the_version_of_the_keys() {
        let lock = include_str!("../../../Cargo.lock");
        for library in ["icu_collator", "icu_collator_data", "icu_normalizer", "icu_normalizer_data"] {
            let line = format!("name = \"{library}\"\nversion = \"");
            let version =
                lock.split_once(&line).and_then(|(_, rest)| rest.split_once('"')).map(|(version, _)| version);
            assert_eq!(
                (KEY_VERSION, version),
                (1, Some("2.4.0")),
                "{library}: increase KEY_VERSION, then state both versions here"
            );
        }
    }
}
