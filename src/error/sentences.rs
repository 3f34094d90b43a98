//! Distinguishes the two contents of an error: sentences, or the name of a kind.

/// Whether the error describes what was not found in whole sentences, and not by the name of its kind.
pub fn is_sentence(what: &str) -> bool {
    what.ends_with(['.', '?'])
}
