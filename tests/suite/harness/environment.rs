//! Numbers with which `.ci/run` lets tests do more than usual.

use std::str::FromStr;

/// Returns the number that an environment variable states, or else this one.
pub fn number_or<T: FromStr>(name: &str, usual: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, which is no such number")),
        Err(_) => usual,
    }
}
