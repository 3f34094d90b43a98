//! Words of paths and names, for checks that judge files by them.

/// Returns the words of a text: runs of letters, divided where the camel case of `HttpTest` or `HTTPTest` begins a new one.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphabetic()).flat_map(parts).filter(|word| !word.is_empty())
}

/// Returns the parts of a run of letters in camel case.
fn parts(letters: &str) -> impl Iterator<Item = &str> {
    let mut rest = letters;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at(end_of_part(rest));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Returns the end of the first part of a run of letters.
fn end_of_part(letters: &str) -> usize {
    let following = || letters.char_indices().skip(1);
    let (mut previous, mut next) = (letters.chars().next(), following().skip(1));
    for (at, character) in following() {
        let is_before_lowercase = next.next().is_some_and(|(_, next)| next.is_lowercase());
        let is_after_lowercase = previous.is_some_and(|previous: char| previous.is_lowercase());
        if character.is_uppercase() && (is_after_lowercase || is_before_lowercase) {
            return at;
        }
        previous = Some(character);
    }
    letters.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_in_one_case() {
        for (text, expected) in [
            ("src/test_io-2.py", &["src", "test", "io", "py"][..]),
            ("HttpTest", &["Http", "Test"]),
            ("HTTPTest", &["HTTP", "Test"]),
            ("UserIT", &["User", "IT"]),
            ("COMMIT", &["COMMIT"]),
            ("caf\u{e9}\u{c9}t\u{e9}", &["caf\u{e9}", "\u{c9}t\u{e9}"]),
            ("aB", &["a", "B"]),
            ("", &[]),
            ("__.1", &[]),
        ] {
            assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
