//! Commits that the history of a repository ignores: commits with unusual headers, and commits in the future.

use marketplace_domain::written::counted;

use super::{Finding, Rule};
use crate::git::{History, UnusualCommits};

/// Authors and dates of all commits are part of the history.
pub static HISTORY_READ: Rule =
    Rule::informational("history_read", "Every commit has an author and a date that can be read");

/// Returns the finding about the history of a repository that was read at the day `today`. `None` if there is nothing to
/// say.
pub fn finding(history: History, unusual: UnusualCommits, today: &str) -> Option<Finding> {
    let commits = counted(history.commits, "commit", "commits");
    let share = |count: u64| format!("{count} of {commits} {}", if count == 1 { "has" } else { "have" });
    let mut sentences = Vec::new();
    if unusual.unusual_headers > 0 {
        sentences.push(format!(
            "{} an author, a committer, or a date that is missing, repeated, or not well-formed. They count as commits; \
             authors and dates that `git log` cannot read are left out of the contributors and of the start and end of the \
             history.",
            share(unusual.unusual_headers)
        ));
    }
    if unusual.future > 0 {
        sentences.push(format!(
            "{} a date after today, which is {today} by the clock of the market. The start and end of the history leave \
             such dates out.",
            share(unusual.future)
        ));
    }
    (!sentences.is_empty()).then(|| Finding::failed(&HISTORY_READ, &sentences.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_says_how_many_commits_were_not_read_completely() {
        let history = History { commits: 5, ..History::default() };
        let message = |unusual_headers, future| {
            let unusual = UnusualCommits { unusual_headers, future };
            finding(history, unusual, "2026-03-01").map(|finding| finding.message)
        };
        assert_eq!(message(0, 0), None);
        let unusual = message(1, 0).unwrap();
        assert!(
            unusual.starts_with("1 of 5 commits has an author, a committer, or a date that is"),
            "{unusual}"
        );
        let future = message(0, 2).unwrap();
        assert!(
            future.starts_with("2 of 5 commits have a date after today, which is 2026-03-01"),
            "{future}"
        );
        let both = message(u64::MAX, u64::MAX).unwrap();
        assert!(both.contains("left out of the contributors") && both.ends_with("such dates out."), "{both}");
    }
}
