//! Transfers of files: uploads, bundles with their descriptions and attestations, and the files of worlds.

pub mod attestations;
pub mod blobs;
pub mod bundles;
pub mod croissant;
pub mod world_transfers;
