//! Transfers of files: uploads, bundles, and the files of worlds.

pub mod blobs;
pub mod bundles;
pub mod world_transfers;
