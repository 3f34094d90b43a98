//! The patterns of strings, and their descriptions in words.

use std::sync::LazyLock;

use regex::Regex;

/// One non-blank line. Control characters and bidirectional formatting characters are rejected.
pub const LINE_PATTERN: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$";

/// One line that begins and ends with a character other than white space. Otherwise, it is like [`LINE_PATTERN`].
pub const NAME_PATTERN: &str = "^[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]([^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069])?$";

/// Any number of lines, possibly empty. Tabs and line breaks are the only control characters allowed.
pub const MULTILINE_PATTERN: &str =
    "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$";

/// `owner/name`, with subgroups in between where the channel has them. No segment can be `..`.
pub const REPOSITORY_PATTERN: &str = "^\\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*(/\\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$";

/// A SHA-256 digest: 64 lowercase hexadecimal digits.
pub const SHA256_PATTERN: &str = "^[0-9a-f]{64}$";

/// A file name without a directory.
pub const FILE_NAME_PATTERN: &str = "^[^/\\\\\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]+$";

/// A media type without parameters.
pub const CONTENT_TYPE_PATTERN: &str = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$";

/// The ETag of a part, with or without quotes.
pub const ETAG_PATTERN: &str = "^\"?[!#-~]+\"?$";

/// An HTTP or HTTPS URL.
pub const URL_PATTERN: &str = "^https?://[!-~]+$";

/// A taxonomy slug.
pub const SLUG_PATTERN: &str = "^[a-z0-9]+([_-][a-z0-9]+)*$";

/// A duration: numbers with units, each at most once, and the longest first. It also matches no text at all.
pub const DURATION_PATTERN: &str =
    "^([0-9]{1,9}d)?([0-9]{1,9}h)?([0-9]{1,9}m)?([0-9]{1,9}s)?([0-9]{1,9}ms)?$";

/// Name of a world or of a snapshot.
pub const WORLD_NAME_PATTERN: &str = "^[a-z0-9-]+$";

/// A name with underscores, such as that of an operation or an error code.
pub const IDENTIFIER_PATTERN: &str = "^[a-z][a-z0-9_]*$";

/// A path, with `*` at the end for all that begin so.
pub const PATH_PATTERN: &str = "^/[!-~]*$";

/// The name of a host.
pub const HOST_PATTERN: &str = "^[A-Za-z0-9.-]+$";

/// Text without spaces and control characters.
pub const VISIBLE_PATTERN: &str = "^[!-~]+$";

/// An amount of money with two decimals.
pub const AMOUNT_PATTERN: &str = "^[0-9]{1,12}\\.[0-9]{2}$";

/// An amount of money with two decimals, which may be negative.
pub const SIGNED_AMOUNT_PATTERN: &str = "^-?[0-9]{1,12}\\.[0-9]{2}$";

/// Whether a text is the full name of a repository: [`REPOSITORY_PATTERN`], and at most 200 characters.
pub fn is_repository_name(text: &str) -> bool {
    static REGEX: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(REPOSITORY_PATTERN).expect("the pattern is well-formed"));
    (3..=200).contains(&text.chars().count()) && REGEX.is_match(text)
}

/// Describes a pattern in words, for messages about strings that do not match it.
pub fn describe_pattern(pattern: &str) -> String {
    let description = match pattern {
        LINE_PATTERN => "must be one non-blank line without control characters",
        NAME_PATTERN => {
            "must be one line without control characters that begins and ends with a visible character"
        }
        MULTILINE_PATTERN => "must have no control characters other than tabs and line breaks",
        REPOSITORY_PATTERN => "must have the pattern owner/name",
        URL_PATTERN => {
            "must be a URL that starts with http:// or https://, in ASCII characters without spaces"
        }
        SHA256_PATTERN => "must be a SHA-256 digest: 64 lowercase hexadecimal digits",
        FILE_NAME_PATTERN => "must be a file name without directories and control characters",
        CONTENT_TYPE_PATTERN => "must be a content type without parameters, such as application/zip",
        ETAG_PATTERN => "must be the ETag that uploading the part returned",
        AMOUNT_PATTERN => {
            "must be an amount that is not negative, with at most 12 digits before the point and exactly two \
             decimals, such as 12.50"
        }
        SIGNED_AMOUNT_PATTERN => {
            "must be an amount with at most 12 digits before the point and exactly two decimals, such as \
             12.50 or -12.50"
        }
        DURATION_PATTERN => {
            "must be numbers with the units d, h, m, s, and ms, each once and the longest first, as in 1d12h"
        }
        WORLD_NAME_PATTERN => "must have only lowercase letters, digits, and hyphens",
        IDENTIFIER_PATTERN => {
            "must have only lowercase letters, digits, and underscores, and begin with a letter"
        }
        PATH_PATTERN => "must be a path that begins with `/`",
        HOST_PATTERN => "must be the name of a host, such as github.com",
        VISIBLE_PATTERN => "must have only visible ASCII characters",
        SLUG_PATTERN => "must be a slug: lowercase letters and digits, separated by hyphens or underscores",
        _ => return format!("must match the pattern {pattern}"),
    };
    description.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_has_an_owner_and_a_name() {
        for name in ["a/b", "acme/.github", "group/sub-group/x_y.z"] {
            assert!(is_repository_name(name), "{name}");
        }
        let long = format!("a/{}", "b".repeat(199));
        for name in
            ["", "ab", "acme", "/a", "a/", "a//b", "../a", "a/..", "a/b?c", "a/b c", "a/\u{e4}", &long]
        {
            assert!(!is_repository_name(name), "{name}");
        }
    }
}
