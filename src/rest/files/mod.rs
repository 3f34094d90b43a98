//! Transfers of files: uploads, bundles with what describes and attests them, and the files of worlds.

pub mod attestations;
pub mod blobs;
pub mod bundles;
pub mod croissant;
pub mod world_transfers;
