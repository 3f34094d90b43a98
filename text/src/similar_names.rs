//! Suggestions for unknown names: the known name that was probably meant.

/// Minimum Jaro-Winkler similarity of a name that is suggested, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.7;

/// How many times as long as the unknown name a suggested one may be, unless it begins with the unknown name: two letters occur in
/// most names.
const MAX_LENGTH_RATIO: usize = 3;

/// The known name that is most similar to an unknown one, whatever the case of both.
#[derive(Clone, Debug)]
pub struct SimilarName {
    unknown: String,
    similarity: f64,
    found: Option<String>,
}

impl SimilarName {
    /// Starts without known names. The time for each of them grows with the product of the lengths of both names.
    pub fn new(unknown: &str) -> SimilarName {
        SimilarName { unknown: unknown.to_lowercase(), similarity: MIN_SIMILARITY, found: None }
    }

    /// Compares another known name. Of equally similar names, the first one is suggested.
    pub fn add(&mut self, known: &str) {
        let lowercase = known.to_lowercase();
        let is_too_long = lowercase.len() > self.unknown.len() * MAX_LENGTH_RATIO;
        if is_too_long && !lowercase.starts_with(&self.unknown) {
            return;
        }
        let similarity = strsim::jaro_winkler(&self.unknown, &lowercase);
        if similarity > self.similarity {
            (self.similarity, self.found) = (similarity, Some(known.to_owned()));
        }
    }

    /// Returns the suggestion; `None` if no known name is similar.
    pub fn into_name(self) -> Option<String> {
        self.found
    }

    /// Returns the suggestion as the end of a message; empty if no known name is similar.
    pub fn into_hint(self) -> String {
        self.found.map(|found| format!("; did you mean {found:?}?")).unwrap_or_default()
    }
}

/// Returns the known name that is most similar to an unknown one; `None` if none is similar.
pub fn most_similar(unknown: &str, known: impl IntoIterator<Item: AsRef<str>>) -> Option<String> {
    let mut similar = SimilarName::new(unknown);
    known.into_iter().for_each(|name| similar.add(name.as_ref()));
    similar.into_name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_similar_name_is_suggested_in_any_case() {
        let known = ["listings", "listing_bids", "Teams", "include_empty_groups", "query"];
        for (unknown, expected) in [
            ("listing", Some("listings")),
            ("LISTINGBIDS", Some("listing_bids")),
            ("team", Some("Teams")),
            ("q", Some("query")),
            ("id", None),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(most_similar(unknown, known).as_deref(), expected, "{unknown}");
        }
        assert_eq!(SimilarName::new("x").into_hint(), "");
    }
}
