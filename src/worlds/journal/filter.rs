//! Which entries of a journal are listed.

use marketplace_text::equality_key;

use super::entry::{JournalEntry, WorldApi};
use crate::{domain::time::Timestamp, error::Code};

/// Conditions on entries, all of which must hold.
#[derive(Clone, Debug, Default)]
pub struct JournalFilter {
    /// `operationId` in the document.
    pub operation: Option<String>,
    /// An API that has the operation.
    pub api: Option<WorldApi>,
    /// Method, in any case.
    pub method: Option<String>,
    /// Path, in which `*` matches any text.
    pub path: Option<String>,
    /// ID or name of the team whose key was sent; names in any case.
    pub team: Option<TeamText>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Error code.
    pub code: Option<Code>,
    /// Earliest time of the world at which the request was admitted.
    pub from: Option<Timestamp>,
    /// Time of the world before which the request was admitted.
    pub until: Option<Timestamp>,
}

impl JournalFilter {
    /// Whether an entry satisfies all conditions.
    pub fn accepts(&self, entry: &JournalEntry) -> bool {
        let request = &entry.request;
        let (operation, answer) = (request.operation.as_ref(), entry.answer());
        self.operation.as_ref().is_none_or(|id| operation.is_some_and(|of| of.id == *id))
            && self.api.is_none_or(|api| operation.is_some_and(|of| of.is_of(api)))
            && self.method.as_ref().is_none_or(|method| request.method.eq_ignore_ascii_case(method))
            && self.path.as_ref().is_none_or(|pattern| matches_path(pattern, &request.path))
            && self.team.as_ref().is_none_or(|team| team.is_of(entry))
            && self.status.is_none_or(|status| answer.is_some_and(|answer| answer.status == status))
            && self.code.is_none_or(|code| answer.is_some_and(|answer| answer.code == Some(code)))
            && self.from.is_none_or(|from| from <= entry.at)
            && self.until.is_none_or(|until| entry.at < until)
    }
}

/// The ID or the name of a team, in any case.
#[derive(Clone, Debug)]
pub struct TeamText {
    /// As given.
    pub text: String,
    name_key: String,
}

impl From<String> for TeamText {
    fn from(text: String) -> TeamText {
        TeamText { name_key: equality_key(&text), text }
    }
}

impl TeamText {
    /// Whether the key of a request is one of the team.
    pub fn is_of(&self, entry: &JournalEntry) -> bool {
        let of = entry.key().and_then(|key| key.team.as_ref());
        of.is_some_and(|(id, name)| {
            id.to_string().eq_ignore_ascii_case(&self.text) || equality_key(name) == self.name_key
        })
    }
}

/// Whether a path is what a pattern describes, in which `*` matches any text. Takes time in proportion to the product of
/// the lengths.
pub fn matches_path(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.as_bytes(), path.as_bytes());
    let (mut at, mut in_path) = (0, 0);
    // The last `*`, and how much of the path it stands for.
    let mut star: Option<(usize, usize)> = None;
    while in_path < path.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, in_path));
            at += 1;
        } else if pattern.get(at) == Some(&path[in_path]) {
            (at, in_path) = (at + 1, in_path + 1);
        } else if let Some((star_at, end)) = star {
            star = Some((star_at, end + 1));
            (at, in_path) = (star_at + 1, end + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches_path;

    #[test]
    fn star_stands_for_any_text() {
        for (pattern, path, expected) in [
            ("/v2/wallet", "/v2/wallet", true),
            ("/v2/wallet", "/v2/wallets", false),
            ("/v2/*", "/v2/assets/1/qc", true),
            ("/v2/*/qc", "/v2/assets/1/qc", true),
            ("/v2/*/qc", "/v2/assets/1/qcs", false),
            ("*a*b", "xxaxxaxb", true),
            ("*a*b", "xxaxxax", false),
            ("**", "", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches_path(pattern, path), expected, "{pattern} {path}");
        }
    }
}
