//! The web app, used as by a browser without scripts.

mod access;
mod adding;
mod assets;
mod attacks;
mod bulk_changes;
mod bulk_jobs;
mod buying;
mod catalog;
mod estimations;
mod figures;
mod forms;
mod inventory;
mod maintenance;
mod meanwhile;
mod operators;
mod opportunities;
mod own_listings;
mod quality_runs;
mod requests;
mod review;
mod selling;
mod sessions;
mod settings;
mod wallet;
mod words;
