//! Tests of rules that hold for the whole program, whichever resource is involved.

mod backup_states;
mod backups;
mod bodies;
mod body_checks;
mod body_memory;
mod body_problems;
pub mod cases;
mod concurrent_processes;
mod damaged_backups;
mod documents;
mod fair_sharing;
mod kill;
mod kill_jobs;
mod layering;
mod limits;
mod logs;
mod many_markets;
mod operations;
mod prefilled;
mod received_ids;
mod responses;
mod schema;
mod schemas;
mod statement_counts;
mod targets;
mod trial_api;
mod write_operations;
