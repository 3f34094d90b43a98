//! Samples that the message of a finding names: the first few locations, and the total number.

use marketplace_domain::named::Named;

/// Maximum number of samples that a message names.
const MAX_SAMPLES: usize = 3;

/// Locations of a problem: the total number, and descriptions of the first few.
pub type Samples = Named<MAX_SAMPLES>;

/// Masks a secret or personal data for use in a message: shows a few of the first characters, followed by
/// `****`.
pub fn masked(value: &str) -> String {
    let visible = (value.chars().count() / 3).min(4);
    format!(
        "{}****",
        value.chars().take(visible).filter(|character| !character.is_control()).collect::<String>()
    )
}

/// Returns a share in whole percent, rounded down. Returns 0 if `total` is 0.
pub fn percent(part: u64, total: u64) -> u64 {
    (u128::from(part) * 100 / u128::from(total.max(1))) as u64
}

/// Formats a count with the singular or plural form of a noun.
pub fn with_noun(count: u64, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_values_show_few_characters() {
        assert_eq!(masked("ghp_abcdefghijklmnop"), "ghp_****");
        assert_eq!(masked("jo@x.de"), "jo****");
        assert_eq!(masked("ab"), "****");
        assert_eq!((percent(1, 3), percent(0, 0), percent(u64::MAX, u64::MAX)), (33, 0, 100));
    }
}
