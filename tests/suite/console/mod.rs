//! The web app, used as by a browser without scripts.

mod access;
mod attacks;
mod buying;
mod catalog;
mod opportunities;
mod sessions;
mod settings;
mod wallet;
