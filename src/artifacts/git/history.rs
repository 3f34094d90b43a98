//! The history of a repository: commits, authors, time span, and merged pull requests.

use std::{collections::HashSet, sync::LazyLock};

use gix::{hashtable, objs::FindExt};
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use super::{Repository, damaged_copy};
use crate::artifacts::ReadError;

/// Number of commits between two checks for cancellation.
const CHECK_EVERY_COMMITS: usize = 1_024;

/// Statistics of the history of a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Number of commits reachable from the newest one, including itself.
    pub commits: u64,
    /// Number of authors: distinct pairs of name and email address, after `.mailmap` of the repository.
    pub contributors: u64,
    /// Commit times of the earliest and the latest commit in seconds since 1970. `None` if no commit has a
    /// valid time.
    pub span: Option<(i64, i64)>,
    /// Number of pull requests that commit messages say were merged. A lower bound, since hosts can leave out
    /// these messages.
    pub merged_prs: u64,
}

/// Reads the newest commit and all of its ancestors, each once. Times after `now`, in seconds since 1970,
/// come from a wrong clock and are ignored. Stops when `should_continue` returns false.
pub fn read_history(
    repository: &Repository,
    now: i64,
    should_continue: &dyn Fn() -> bool,
) -> Result<History, ReadError> {
    let objects = &repository.inner.objects;
    let mailmap = repository.inner.open_mailmap();
    let (mut visited, mut pending) = (hashtable::HashSet::default(), vec![repository.head]);
    let (mut authors, mut merged) = (HashSet::new(), HashSet::new());
    let mut history = History::default();
    let (mut buffer, mut identity) = (Vec::new(), Vec::new());
    visited.insert(repository.head);
    while let Some(id) = pending.pop() {
        if (history.commits as usize).is_multiple_of(CHECK_EVERY_COMMITS) && !should_continue() {
            return Err(ReadError::Canceled);
        }
        let commit = objects.find_commit(&id, &mut buffer).map_err(damaged_copy)?;
        history.commits += 1;
        pending.extend(commit.parents().filter(|parent| visited.insert(*parent)));
        if let Ok(author) = commit.author() {
            let author = mailmap.resolve_cow(author.trim());
            identity.clear();
            identity.extend_from_slice(&author.name);
            identity.push(0);
            identity.extend_from_slice(&author.email);
            // Most commits are by an author already seen, so allocate only for new ones.
            if !authors.contains(&identity) {
                authors.insert(identity.clone());
            }
        }
        let time = commit.committer().map_or(0, |committer| committer.seconds());
        if (1..=now).contains(&time) {
            let (first, last) = history.span.unwrap_or((time, time));
            history.span = Some((first.min(time), last.max(time)));
        }
        merged.extend(merged_pull_request(commit.message));
    }
    history.contributors = authors.len() as u64;
    history.merged_prs = merged.len() as u64;
    Ok(history)
}

/// Messages of commits that merge a pull request: GitHub (merge commit; squashed or rebased), GitLab,
/// Bitbucket.
static MERGE_PATTERNS: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        r"\AMerge pull request #(\d{1,9}) from ",
        r"\A[^\n]* \(#(\d{1,9})\)\r?(?:\n|\z)",
        r"(?m)^See merge request \S*!(\d{1,9})\s*$",
        r"\AMerged in [^\n]* \(pull request #(\d{1,9})\)",
    ]
    .map(|pattern| Regex::new(pattern).expect("the pattern is valid"))
});

/// Returns the number of the pull request that a commit merges according to its message.
fn merged_pull_request(message: &[u8]) -> Option<u32> {
    // Check first for the bytes that the patterns require: almost no commit has them.
    let has = |part: &[u8]| memchr::memmem::find(message, part).is_some();
    if !has(b"#") && !has(b"!") {
        return None;
    }
    let number = MERGE_PATTERNS.iter().find_map(|pattern| pattern.captures(message)?.get(1))?;
    std::str::from_utf8(number.as_bytes()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_commits_of_all_hosts_are_recognized() {
        let cases: [(&str, Option<u32>); 13] = [
            ("Merge pull request #12 from acme/topic\n\nAdd it", Some(12)),
            ("Add it (#345)", Some(345)),
            ("Add it (#345)\r\n\nSigned-off-by: A", Some(345)),
            ("Merge branch 'topic' into 'main'\n\nAdd it\n\nSee merge request acme/group/app!77", Some(77)),
            ("Merge branch 'topic'\n\nSee merge request !78\n", Some(78)),
            ("Merged in topic (pull request #9)\n\nAdd it", Some(9)),
            ("Fix #12", None),
            ("Fix it (see #12)", None),
            ("Revert \"Add it (#345)\" again", None),
            ("Add it\n\nfollows (#345)", None),
            ("Wow!", None),
            ("", None),
            ("Add it (#99999999999)", None),
        ];
        for (message, number) in cases {
            assert_eq!(merged_pull_request(message.as_bytes()), number, "{message:?}");
        }
    }
}
