//! The `marketplace` command.
fn main() {}
