//! What tests of codebases share.

/// Fields that a codebase needs apart from those that are required to create it, in the order of `missing`.
pub const COMPLETING_FIELDS: [&str; 10] = [
    "description",
    "domain_tags",
    "price_usd",
    "lines_of_code",
    "commits",
    "contributors",
    "merged_prs",
    "history_start",
    "history_end",
    "ci_on_prs",
];
