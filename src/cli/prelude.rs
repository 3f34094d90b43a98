//! Items that many commands for operators use, imported by one line: `use super::prelude::*`.

pub(super) use clap::{Args, Subcommand};
pub(super) use serde_json::{Value, json};
pub(super) use uuid::Uuid;

pub(super) use super::{
    CHANGE_GROUP, CommandError, CommandResult,
    operator::{ApiCommand, Client, ListLimit, Records, body_of, names::TEAMS, parse_id, parse_value},
    print_note,
};
