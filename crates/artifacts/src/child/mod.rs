//! Reading untrusted files in a child process, so that a parser that never ends, crashes, or uses up the memory
//! harms only its own process.
//!
//! The parent starts the same program again with a hidden subcommand ([`process`]). The child limits its own
//! resources ([`limits`]) and what it can reach ([`confinement`]) before it opens anything, executes one
//! [`Task`], and writes one length-prefixed JSON reply to its standard output ([`reply`]). The parent validates
//! the reply like any other untrusted input ([`validation`]).

mod confinement;
mod limits;
mod process;
mod reply;
mod task;
mod validation;
mod worker;

pub use confinement::SelfTest;
pub use limits::ResourceLimits;
pub use process::{ChildEnd, ChildProcess, Input, Launcher};
pub use reply::{Reply, ReplyBytes, TaskResult};
pub use task::{SUBCOMMAND, Task};
pub use validation::Validate;
pub use worker::run;
