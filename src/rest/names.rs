//! Names that nobody knows, told together with the one that was probably meant.

/// Characters of an unknown name that are told back.
const MAX_NAME: usize = 60;

/// How alike two names are at least, for one to be taken for the other.
const LIKENESS: f64 = 0.7;

/// An unknown name as it is told back.
pub fn shown(name: &str) -> String {
    let is_long = name.chars().count() > MAX_NAME;
    name.chars().take(MAX_NAME).chain(is_long.then_some('…')).collect()
}

/// What to say of an unknown name, as [`shown`], among the known ones of this sort (`parameter`, `field`).
pub fn unknown<'a>(sort: &str, shown: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let likeness = |known: &&str| strsim::jaro_winkler(shown, known);
    match known.clone().max_by(|a, b| likeness(a).total_cmp(&likeness(b))) {
        Some(nearest) if likeness(&nearest) > LIKENESS => {
            format!("There is no {sort} `{shown}` here; did you mean `{nearest}`?")
        }
        Some(_) => {
            let names: Vec<&str> = known.collect();
            format!("There is no {sort} `{shown}` here; there are {}.", names.join(", "))
        }
        None => format!("There is no {sort} `{shown}` here; none is taken."),
    }
}
