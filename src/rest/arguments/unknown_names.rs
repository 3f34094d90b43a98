//! Messages about unknown names, with a suggestion for the name that was probably meant.

use marketplace_text::similar_names::most_similar;

/// Maximum number of characters of an unknown name that a message repeats.
const MAX_NAME_CHARS: usize = 60;

/// Returns an unknown name, truncated for use in a message.
pub fn truncate_name(name: &str) -> String {
    let is_long = name.chars().nth(MAX_NAME_CHARS).is_some();
    name.chars().take(MAX_NAME_CHARS).chain(is_long.then_some('…')).collect()
}

/// Returns the message for an unknown name. `kind` is `parameter` or `field`; `name` is the
/// result of [`truncate_name`].
pub fn unknown_name_message<'a>(
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    if let Some(similar) = most_similar(name, known.clone()) {
        return format!("Unknown {kind} `{name}`; did you mean `{similar}`?");
    }
    let names: Vec<&str> = known.collect();
    if names.is_empty() {
        return format!("Unknown {kind} `{name}`. No {kind}s are accepted here.");
    }
    format!("Unknown {kind} `{name}`. Expected one of {}.", names.join(", "))
}
