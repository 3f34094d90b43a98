//! Processes responses before they are sent: entity tags, compression, and temporary files for large ones.

pub mod compression;
pub mod etag;
pub mod spool;
