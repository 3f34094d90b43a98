//! Files and directories as the marketplace creates and opens them.

pub mod private_files;
pub mod regular_files;
