//! Finds words that imitate Latin ones with letters of other alphabets, such as `pаypal` with a Cyrillic `а`. They are not
//! changed, since honest text in other alphabets has the same letters: the notice names them.

use unicode_script::{Script, UnicodeScript};
use unicode_security::confusable_detection::skeleton;

/// Maximum number of words that are named.
pub const MAX_WORDS: usize = 5;

/// Maximum number of characters of a word that is named; of longer words, the first ones are.
const MAX_WORD_CHARACTERS: usize = 40;

/// Adds the words of a text that imitate Latin ones to those found before, each once.
pub fn find(text: &str, found: &mut Vec<String>) {
    if text.is_ascii() {
        return;
    }
    for word in text.split(|character: char| !character.is_alphanumeric()) {
        if found.len() == MAX_WORDS {
            return;
        }
        if is_imitation(word) {
            let word: String = word.chars().take(MAX_WORD_CHARACTERS).collect();
            if !found.contains(&word) {
                found.push(word);
            }
        }
    }
}

/// Returns whether a word has letters of the Latin alphabet and of others, and is displayed like one of ASCII letters and
/// digits alone (Unicode Technical Standard 39). A word in one other alphabet is never an imitation. A word of letters of
/// mathematical notation is an imitation, since these belong to no alphabet.
fn is_imitation(word: &str) -> bool {
    let (mut has_latin, mut has_other) = (false, false);
    for character in word.chars() {
        match character {
            _ if character.is_ascii() => has_latin |= character.is_ascii_alphabetic(),
            _ => match character.script() {
                Script::Latin => {}
                Script::Common => (has_latin, has_other) = (true, true),
                _ => has_other = true,
            },
        }
    }
    has_latin
        && has_other
        && word.chars().nth(1).is_some()
        && skeleton(word).all(|character| character.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        find(text, &mut found);
        found
    }

    #[test]
    fn imitations_are_found_in_mixed_words() {
        for (text, expected) in [
            ("plain text", &[][..]),
            ("Log in at pаypal now", &["pаypal"]),
            ("аdmin, аdmin, gοοgle", &["аdmin", "gοοgle"]),
            ("𝐩𝐚𝐲𝐩𝐚𝐥", &["𝐩𝐚𝐲𝐩𝐚𝐥"]),
            // Honest words of one alphabet, or of several that do not look Latin.
            ("рост сор мама Αθήνα 東京タワー PC용 日本語text naïve Größe", &[]),
            ("5 µm, 10 kΩ, x², α-helix, Δt, 𝑥 = 1", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        assert_eq!(found(&"pаy pаz pаx pаw pаv pаu ".repeat(3)).len(), MAX_WORDS);
        assert_eq!(found(&"а".repeat(1000)), [""; 0]);
        assert_eq!(found(&format!("p{}", "а".repeat(1000)))[0].chars().count(), MAX_WORD_CHARACTERS);
    }

    #[test]
    fn each_letter_that_looks_like_one_of_ascii_is_found() {
        let (mut count, mut scripts) = (0, std::collections::BTreeSet::new());
        for character in ('\u{80}'..=char::MAX).filter(|character| character.is_alphanumeric()) {
            let word = format!("p{character}ypal");
            let is_ascii = skeleton(&word).all(|prototype| prototype.is_ascii_alphanumeric());
            let is_other = character.script() != Script::Latin;
            assert_eq!(found(&word).len(), usize::from(is_ascii && is_other), "{word}");
            if is_ascii && is_other {
                count += 1;
                scripts.insert(character.script().full_name());
            }
        }
        assert!(count > 1_000 && scripts.len() > 20, "{count} of {scripts:?}");
        assert!(
            ["Cyrillic", "Greek", "Armenian", "Cherokee", "Common"].iter().all(|name| scripts.contains(name))
        );
    }
}
