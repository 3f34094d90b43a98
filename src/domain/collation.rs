//! The order of names for people: the root collation of Unicode. Accents are beside their letters, and capitals
//! beside small letters, in all scripts.

use icu_collator::{CollatorBorrowed, options::CollatorOptions};

/// Version of the keys. It increases whenever keys change, as they do with most versions of the collation
/// data, so that stored keys can be derived again. A test fails if they change without it.
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
    fn keys_change_only_with_their_version() {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        // The alphabets of today completely, and a sample of the rest.
        let sample = (0..0x600).chain((0x600..0x3_0000).step_by(13)).filter_map(char::from_u32);
        for character in sample {
            hash.update(&sort_key(&format!("{character}b c")));
        }
        let digest = format!("{:016x}", hash.digest());
        assert_eq!((KEY_VERSION, digest.as_str()), (1, "0"), "if keys changed, increase KEY_VERSION");
    }
}
