//! How much random tests do.

/// Environment variable with which the gate makes random tests do more rounds than `cargo test`.
const THOROUGH: &str = "THOROUGH";

/// Returns the number of rounds of a random test: a few, or many in the gate.
pub fn rounds(few: u64, many: u64) -> u64 {
    if std::env::var_os(THOROUGH).is_some() { many } else { few }
}
