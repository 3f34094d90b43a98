//! Messages about unknown names, with a suggestion for the name that was probably meant.

/// Maximum number of characters of an unknown name that a message repeats.
const MAX_NAME: usize = 60;

/// Minimum Jaro-Winkler similarity (0 to 1) for a known name to be suggested.
const LIKENESS: f64 = 0.7;

/// Returns an unknown name, truncated for use in a message.
pub fn shown(name: &str) -> String {
    let is_long = name.chars().count() > MAX_NAME;
    name.chars().take(MAX_NAME).chain(is_long.then_some('…')).collect()
}

/// Returns the message for an unknown name. `sort` is `parameter` or `field`; `shown` is the result of
/// [`shown`].
pub fn unknown<'a>(sort: &str, shown: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let likeness = |known: &&str| strsim::jaro_winkler(shown, known);
    match known.clone().max_by(|a, b| likeness(a).total_cmp(&likeness(b))) {
        Some(nearest) if likeness(&nearest) > LIKENESS => {
            format!("Unknown {sort} `{shown}`; did you mean `{nearest}`?")
        }
        Some(_) => {
            let names: Vec<&str> = known.collect();
            format!("Unknown {sort} `{shown}`. Expected one of {}.", names.join(", "))
        }
        None => format!("Unknown {sort} `{shown}`. No {sort}s are accepted here."),
    }
}
