//! Vendors' bids on project opportunities: the state machine of a bid, and the rules of its fields.

use super::{
    opportunities::{Attachment, BidStatus},
    problems::Problems,
    state_machine::state_machine,
    texts,
};
use crate::{problem::Problem, string_enum::string_enum};

/// Maximum number of tasks that a bid offers.
pub const MAX_TASKS: u32 = 1_000_000;

/// Maximum number of days that a vendor expects to need.
pub const MAX_TIMELINE_DAYS: u32 = 3_650;

/// Maximum number of files that are attached to a bid.
pub const MAX_ATTACHMENTS: usize = 20;

/// Maximum number of tasksets of one delivery.
pub const MAX_DELIVERY_TASKSETS: usize = 100;

/// Maximum size in bytes of an attached file, 1 TB.
const MAX_FILE_BYTES: u64 = 1_000_000_000_000;

string_enum! {
    /// An operation on a bid that exists.
    BidOperation {
        /// The vendor withdraws the bid.
        Withdraw = "withdraw",
        /// The buyer accepts the bid.
        Accept = "accept",
        /// The buyer declines the bid.
        Decline = "decline",
        /// The vendor delivers.
        Deliver = "deliver",
        /// The buyer accepts the delivery.
        Complete = "complete",
    }
}

state_machine! {
    /// An accepted bid cannot be withdrawn, because the buyer relies on it.
    BidStatus by BidOperation;
    Submitted: Withdraw => Withdrawn, Accept => Accepted, Decline => Declined;
    Accepted: Deliver => Delivered;
    Delivered: Complete => Completed;
}

impl BidStatus {
    /// Whether the bid is in effect: it was neither declined nor withdrawn. A team has at most one on an opportunity.
    pub const fn is_in_effect(self) -> bool {
        !matches!(self, BidStatus::Declined | BidStatus::Withdrawn)
    }
}

/// What a vendor offers in a bid.
#[derive(Clone, Debug, Default)]
pub struct BidFields {
    /// Number of tasks, 1 to [`MAX_TASKS`].
    pub num_tasks: u32,
    /// Number of days that the vendor expects to need, 1 to [`MAX_TIMELINE_DAYS`].
    pub expected_timeline_days: Option<u32>,
    /// Files that the vendor attached, at most [`MAX_ATTACHMENTS`].
    pub attachments: Vec<Attachment>,
}

impl BidFields {
    /// Adds what is wrong with the fields to `problems`.
    pub fn check(&self, problems: &mut Problems) {
        if !(1..=MAX_TASKS).contains(&self.num_tasks) {
            let message = format!("`num_tasks` must be 1 to {MAX_TASKS}.");
            problems.push(Problem::body(&["num_tasks"], "less_than_equal", message));
        }
        if self.expected_timeline_days.is_some_and(|days| !(1..=MAX_TIMELINE_DAYS).contains(&days)) {
            let message = format!("`expected_timeline_days` must be 1 to {MAX_TIMELINE_DAYS}.");
            problems.push(Problem::body(&["expected_timeline_days"], "less_than_equal", message));
        }
        if self.attachments.len() > MAX_ATTACHMENTS {
            let message = format!("A bid can have at most {MAX_ATTACHMENTS} attachments.");
            problems.push(Problem::body(&["attachments"], "too_long", message));
            return;
        }
        for (index, file) in self.attachments.iter().enumerate() {
            let path = ["attachments", &index.to_string(), "file_name"];
            if let Some(problem) = texts::find_problem(&path, &file.file_name, texts::FILE_NAME) {
                problems.push(problem);
            } else if file.file_name.contains(['/', '\\']) {
                let message = "`file_name` must be a file name without directories.";
                problems.push(Problem::body(&path, "string_pattern_mismatch", message));
            }
            if file.size_bytes > MAX_FILE_BYTES {
                let message = format!("`size_bytes` must be at most {MAX_FILE_BYTES}.");
                problems.push(Problem::body(&[path[0], path[1], "size_bytes"], "less_than_equal", message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{state_machine, string_enum::StringEnum};

    /// Compares the result of every operation in every status with a committed snapshot.
    #[test]
    fn every_operation_in_every_status() {
        insta::assert_snapshot!(state_machine::table(BidStatus::ALL, |status| {
            let standing = if status.is_in_effect() { " (standing)" } else { "" };
            format!("{}{standing}", status.as_str())
        }));
    }

    #[test]
    fn all_problems_of_a_bid_are_found() {
        let file = |name: &str, size_bytes| Attachment { file_name: name.to_owned(), size_bytes };
        let mut problems = Problems::default();
        let valid = BidFields { num_tasks: 1, expected_timeline_days: None, attachments: vec![file("a", 0)] };
        valid.check(&mut problems);
        assert!(problems.is_empty());
        let invalid = BidFields {
            num_tasks: 0,
            expected_timeline_days: Some(0),
            attachments: vec![file("../a", u64::MAX), file("\n", 1)],
        };
        invalid.check(&mut problems);
        let found = problems.into_vec();
        assert_eq!(found.len(), 5, "{found:#?}");
    }
}
