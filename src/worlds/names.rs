//! Names of worlds and snapshots.

/// Maximum number of characters of a name.
pub const MAX_NAME_LENGTH: usize = 40;

/// Names of what worlds can be forked from in any case.
pub const RESERVED: [&str; 3] = [DEMO, EMPTY, MARKET];

/// The demo market.
pub const DEMO: &str = "demo";

/// A market without teams.
pub const EMPTY: &str = "empty";

/// The market of the server.
pub const MARKET: &str = "market";

/// Whether a text can be the name of a world or of a snapshot: 1 to 40 characters of `a-z`, `0-9`, and `-`.
pub fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_NAME_LENGTH).contains(&text.len()) && text.bytes().all(is_allowed)
}
