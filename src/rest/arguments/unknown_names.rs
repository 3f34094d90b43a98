//! Messages about unknown names, with a suggestion for the name that was probably meant.

/// Maximum number of characters of an unknown name that a message repeats.
const MAX_NAME_CHARS: usize = 60;

/// Minimum Jaro-Winkler similarity (0 to 1) for a known name to be suggested.
const MIN_SIMILARITY: f64 = 0.7;

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
    let similarity = |known: &&str| strsim::jaro_winkler(name, known);
    match known.clone().max_by(|a, b| similarity(a).total_cmp(&similarity(b))) {
        Some(nearest) if similarity(&nearest) > MIN_SIMILARITY => {
            format!("Unknown {kind} `{name}`; did you mean `{nearest}`?")
        }
        Some(_) => {
            let names: Vec<&str> = known.collect();
            format!("Unknown {kind} `{name}`. Expected one of {}.", names.join(", "))
        }
        None => format!("Unknown {kind} `{name}`. No {kind}s are accepted here."),
    }
}
