//! Tests of rules that hold for the whole program, whichever resource is involved.

mod backups;
mod bodies;
mod body_memory;
mod body_problems;
mod buyer_cases;
pub mod cases;
mod concurrent_processes;
mod documents;
mod fair_sharing;
mod kill;
mod kill_jobs;
mod layering;
mod limits;
mod listed_writes;
mod logs;
mod operations;
mod prefilled;
mod received_ids;
mod responses;
mod schema;
mod schemas;
mod statement_counts;
pub mod vendor_cases;
mod write_operations;
