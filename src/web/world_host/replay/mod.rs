//! Replays: a world's start and its requests as one file, and the same requests in a new world of this program, whose answers
//! are compared.

mod addresses;
mod bodies;
mod compare;
mod file;
mod read;
mod run;
mod write;

pub use self::{
    compare::Difference,
    read::RecordedReplay,
    run::{OwnPortWorld, ReplayOutcome, Replayer},
    write::{ReplaySource, write},
};
