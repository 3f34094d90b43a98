//! Processes responses before they are sent: entity tags, compression, temporary files for large ones, and bodies that are read
//! while they are sent.

pub mod compression;
pub mod etag;
pub mod parts;
pub mod spool;
