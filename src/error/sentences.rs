//! What an error holds: sentences, or the name of a kind.

/// Whether what was not found is told by whole sentences, and not by the name of its kind.
pub fn is_sentence(what: &str) -> bool {
    what.ends_with(['.', '?'])
}
