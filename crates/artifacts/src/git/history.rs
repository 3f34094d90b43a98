//! The history of a repository: commits, authors, time span, and merged pull requests.

use std::{collections::HashSet, sync::LazyLock};

use gix::{actor::SignatureRef, hashtable, mailmap::Snapshot, objs::FindExt};
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::{
    Repository,
    commits::{self, Headers},
    damaged_copy,
};
use crate::{ReadError, Rejection};

/// Number of commits between two checks for cancellation.
const CHECK_EVERY_COMMITS: usize = 1_024;

/// Number of bytes between two checks for cancellation.
const CHECK_EVERY_BYTES: u64 = 4 << 20;

/// Maximum number of commits. The ID of each is in memory.
const MAX_COMMITS: usize = 5_000_000;

/// Maximum size in bytes of all commits. Large histories have about two gigabytes.
const MAX_HISTORY_BYTES: u64 = 16 << 30;

/// Number of bytes of a commit message that are read.
const MAX_MESSAGE_BYTES: usize = 64 << 10;

/// Maximum size in bytes of a mailmap. A larger one is ignored.
const MAX_MAILMAP_BYTES: u64 = 1 << 20;

/// Statistics of the history of a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Number of commits reachable from the newest one, including itself.
    pub commits: u64,
    /// Number of authors: distinct pairs of name and email address, after `.mailmap` of the repository.
    pub contributors: u64,
    /// Commit times of the earliest and the latest commit in seconds since 1970. `None` if no commit has a
    /// time that can be read and is not in the future.
    pub span: Option<(i64, i64)>,
    /// Number of pull requests that commit messages say were merged. A lower bound, since hosts can leave out
    /// these messages.
    pub merged_prs: u64,
}

/// Numbers of commits from which a [`History`] could not take everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnusualCommits {
    /// Number of commits whose author, committer, or date is missing, repeated, or invalid.
    pub unusual_headers: u64,
    /// Number of commits with a time after `now`.
    pub future: u64,
}

/// Reads the newest commit and all of its ancestors, each once. Authors and times that `git log` cannot read are
/// ignored, and so are times after `now`, in seconds since 1970. Stops when `should_continue` returns false.
pub fn read_history(
    repository: &Repository,
    now: i64,
    should_continue: &dyn Fn() -> bool,
) -> Result<(History, UnusualCommits), ReadError> {
    let mailmap = read_mailmap(repository)?;
    let (mut visited, mut pending) = (hashtable::HashSet::default(), vec![repository.head]);
    let (mut authors, mut merged) = (HashSet::new(), HashSet::new());
    let (mut history, mut unusual) = (History::default(), UnusualCommits::default());
    let mut buffer = Vec::new();
    let (mut bytes, mut checked_bytes) = (0_u64, 0);
    visited.insert(repository.head);
    while let Some(id) = pending.pop() {
        let is_due = bytes - checked_bytes >= CHECK_EVERY_BYTES;
        if is_due || (history.commits as usize).is_multiple_of(CHECK_EVERY_COMMITS) {
            checked_bytes = bytes;
            if !should_continue() {
                return Err(ReadError::Canceled);
            }
        }
        bytes = bytes.saturating_add(repository.object_size(&id)?);
        if bytes > MAX_HISTORY_BYTES || visited.len() > MAX_COMMITS {
            return Err(history_too_large());
        }
        let commit = commits::find(repository, &id, &mut buffer)?;
        history.commits += 1;
        pending.extend(commits::read_links(commit)?.parents.into_iter().filter(|id| visited.insert(*id)));
        let text = commits::text_of(commit);
        let headers = Headers::read(&text);
        unusual.unusual_headers += u64::from(headers.are_unusual);
        authors.extend(headers.author.map(|(name, email)| hash_of_identity(&mailmap, name, email)));
        match headers.commit_time {
            Some(time) if time > now => unusual.future += 1,
            Some(time) => {
                let (first, last) = history.span.unwrap_or((time, time));
                history.span = Some((first.min(time), last.max(time)));
            }
            None => {}
        }
        let message = &headers.message[..headers.message.len().min(MAX_MESSAGE_BYTES)];
        merged.extend(merged_pull_request(message));
    }
    history.contributors = authors.len() as u64;
    history.merged_prs = merged.len() as u64;
    Ok((history, unusual))
}

/// Returns a hash of a name and an email address after the mailmap. They have any length, so they are not stored.
fn hash_of_identity(mailmap: &Snapshot, name: &[u8], email: &[u8]) -> u128 {
    let signature = SignatureRef { name: name.into(), email: email.into(), time: "" };
    let mapped = mailmap.try_resolve_ref(signature);
    let new_name = mapped.as_ref().and_then(|mapped| mapped.name).map_or(name, AsRef::as_ref);
    let new_email = mapped.as_ref().and_then(|mapped| mapped.email).map_or(email, AsRef::as_ref);
    xxh3_128(&[new_name, b"\0", new_email].concat())
}

fn history_too_large() -> ReadError {
    let message = format!(
        "The history of the repository has more than {MAX_COMMITS} commits, or more than {MAX_HISTORY_BYTES} \
         bytes. Link a smaller repository, or upload a zip."
    );
    Rejection(message).into()
}

/// Reads the mailmap in the root directory of the newest commit. Empty if there is none, or if it is too large.
pub(super) fn read_mailmap(repository: &Repository) -> Result<Snapshot, ReadError> {
    let objects = &repository.inner.objects;
    let mut buffer = Vec::new();
    let root = commits::root_of_newest(repository)?;
    let entries = objects.find_tree_iter(&root, &mut buffer).map_err(damaged_copy)?;
    let is_mailmap =
        |entry: &gix::objs::tree::EntryRef<'_>| entry.filename == ".mailmap" && entry.mode.is_blob();
    let Some(id) = entries.flatten().find(is_mailmap).map(|entry| entry.oid.to_owned()) else {
        return Ok(Snapshot::default());
    };
    if repository.object_size(&id)? > MAX_MAILMAP_BYTES {
        return Ok(Snapshot::default());
    }
    Ok(Snapshot::from_bytes(objects.find_blob(&id, &mut buffer).map_err(damaged_copy)?.data))
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
