//! Backups of a market: a consistent copy of the database, of finished uploads, and of repository copies,
//! made while a server runs. The search index is not copied, since it is rebuilt from the database.
//!
//! A backup is a directory (or a prefix in a bucket) of objects, which are named by their digest and never changed, and a manifest,
//! which is replaced when all objects that it names are there. So a backup over an earlier one writes only
//! what is new, and an interrupted one leaves the earlier one as it was. Dated backups have manifests of their own, and
//! share the objects.

mod copied;
mod create;
mod data_directory;
mod files;
mod free_space;
mod last;
mod lock;
mod manifest;
mod objects;
mod place;
mod repository_files;
mod restore;
mod snapshots;
mod source;
mod state;

pub use self::{
    copied::Copied,
    create::{BackupOptions, create},
    last::{BackupCheck, LastBackup, record_check},
    place::{Place, bucket_settings},
    restore::{RestoreOptions, restore},
    snapshots::{BackupContents, KeptBackup, list},
    source::BackupSource,
    state::Replace,
};
