//! Worlds: private copies of a market, each with a clock and IDs of its own, so that every test can have one.
//!
//! A world is forked from a template: the files of a closed market. Files that never change are shared. A world ends when it is
//! deleted, or with the process. Its files are never synchronized with the disk.

mod current_market;
mod details;
mod disk_budget;
mod due_work;
mod error;
mod exports;
mod faults;
mod files;
mod import_checks;
mod imports;
mod inbox;
mod job_places;
pub mod journal;
mod live_copy;
mod market_file;
mod names;
mod new_world;
mod opener;
mod places;
mod registry;
mod request_order;
mod settings;
mod source;
mod template;
mod world;

pub use self::{
    details::WorldDetails,
    due_work::{DoneWork, DueWork, JobTiming, WorkKind, WorkOutcome},
    error::WorldError,
    faults::{
        ChosenFault, CutPlace, Fault, FaultAnswer, FaultRule, FaultTiming, Faults, Interruption, MAX_FAULTS,
        Moment, NewFault, RequestEffect, RequestFacts, RequestMatch, TextPattern, WebhookEffect,
        WebhookMatch,
    },
    imports::MAX_FILE_BYTES,
    inbox::{Inbox, InboxMessage},
    job_places::{JobPlace, JobPlaces},
    live_copy::copy_records,
    names::{MAX_NAME_LENGTH, is_name},
    new_world::{NewWorld, WebhookMode},
    opener::Opener,
    registry::{Worlds, WorldsOptions},
    request_order::Turn,
    source::Snapshot,
    template::{DEFAULT_SEED, MAX_ADVANCE_DAYS, START, Template, WorldKey, check_advance},
    world::{Receiver, World},
};
