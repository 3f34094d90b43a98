//! The history of a repository: its commits, who made them, when, and which pull requests they merged.

use std::{collections::HashSet, sync::LazyLock};

use gix::{hashtable, objs::FindExt};
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use super::{Repository, broken};
use crate::artifacts::Unread;

/// Commits between two looks at whether to go on.
const LOOK_EVERY: usize = 1_024;

/// What is known of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Commits that the newest one has behind it, itself included.
    pub commits: u64,
    /// People who made them: names with their addresses, as the repository's `.mailmap` unites them.
    pub contributors: u64,
    /// When the first and the last one were committed, in seconds since 1970; nothing where no commit says so.
    pub span: Option<(i64, i64)>,
    /// Pull requests that commits say they merged: a lower bound, since hosts can be told to say nothing.
    pub merged_prs: u64,
}

/// Reads the history behind the newest commit, once. Times after `now`, in seconds since 1970, are a wrong clock's.
pub fn history(repository: &Repository, now: i64, go_on: &dyn Fn() -> bool) -> Result<History, Unread> {
    let objects = &repository.inner.objects;
    let mailmap = repository.inner.open_mailmap();
    let (mut seen, mut pending) = (hashtable::HashSet::default(), vec![repository.head]);
    let (mut people, mut merged) = (HashSet::new(), HashSet::new());
    let mut history = History::default();
    let (mut buffer, mut person) = (Vec::new(), Vec::new());
    seen.insert(repository.head);
    while let Some(id) = pending.pop() {
        if (history.commits as usize).is_multiple_of(LOOK_EVERY) && !go_on() {
            return Err(Unread::Stopped);
        }
        let commit = objects.find_commit(&id, &mut buffer).map_err(broken)?;
        history.commits += 1;
        pending.extend(commit.parents().filter(|parent| seen.insert(*parent)));
        if let Ok(author) = commit.author() {
            let author = mailmap.resolve_cow(author.trim());
            person.clear();
            person.extend_from_slice(&author.name);
            person.push(0);
            person.extend_from_slice(&author.email);
            // Most commits are by somebody who is known already.
            if !people.contains(&person) {
                people.insert(person.clone());
            }
        }
        let time = commit.committer().map_or(0, |committer| committer.seconds());
        if (1..=now).contains(&time) {
            let (first, last) = history.span.unwrap_or((time, time));
            history.span = Some((first.min(time), last.max(time)));
        }
        merged.extend(pull_request(commit.message));
    }
    history.contributors = people.len() as u64;
    history.merged_prs = merged.len() as u64;
    Ok(history)
}

/// What hosts write into the commit that merges a pull request: GitHub (merged; squashed or rebased), GitLab, Bitbucket.
static MERGED: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        r"\AMerge pull request #(\d{1,9}) from ",
        r"\A[^\n]* \(#(\d{1,9})\)\r?(?:\n|\z)",
        r"(?m)^See merge request \S*!(\d{1,9})\s*$",
        r"\AMerged in [^\n]* \(pull request #(\d{1,9})\)",
    ]
    .map(|pattern| Regex::new(pattern).expect("the pattern is one"))
});

/// The number of the pull request that a commit says it merges.
fn pull_request(message: &[u8]) -> Option<u32> {
    // The bytes that each pattern needs are looked for first: nearly no commit has them.
    let has = |part: &[u8]| memchr::memmem::find(message, part).is_some();
    if !has(b"#") && !has(b"!") {
        return None;
    }
    let number = MERGED.iter().find_map(|pattern| pattern.captures(message)?.get(1))?;
    std::str::from_utf8(number.as_bytes()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_are_known_by_what_hosts_write() {
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
            assert_eq!(pull_request(message.as_bytes()), number, "{message:?}");
        }
    }
}
