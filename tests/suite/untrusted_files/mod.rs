//! Tests of reading untrusted files: the child processes that do it, and the files that attack them.

pub mod child_processes;
mod random_files;
mod scans;
