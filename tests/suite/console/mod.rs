//! The web app, used as by a browser without scripts.

mod access;
mod adding;
mod assets;
mod attacks;
mod bulk_changes;
mod buying;
mod catalog;
mod inventory;
mod opportunities;
mod requests;
mod selling;
mod sessions;
mod settings;
mod wallet;
