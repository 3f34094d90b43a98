//! The operations of the marketplace. Each operation checks access, applies the rules, and runs in one
//! transaction.
//!
//! Read operations take a [`Reader`](crate::market::Reader) and write operations take a
//! [`Writer`](crate::market::Writer). They don't depend on a transport (HTTP, MCP, CLI).

pub mod access;
pub mod archive_analysis;
pub mod asset_changes;
mod asset_events;
pub mod asset_types;
pub mod assets;
pub mod background;
pub mod backups;
pub mod browse;
pub mod certifications;
pub mod child_processes;
pub mod cleanup;
pub mod codebases;
pub mod data_analysis;
pub mod data_files;
pub mod data_structures;
pub mod discarded_uploads;
pub mod due_steps;
pub mod earnings;
pub mod estimations;
pub mod grant_uploads;
pub mod grants;
pub mod groups;
pub mod idempotency;
pub mod job_threads;
pub mod jobs;
pub mod keys;
pub mod linked_data;
pub mod listed_parts;
pub mod listing_assets;
pub mod listing_changes;
pub mod listing_lifecycle;
pub mod listing_quality;
pub mod listings;
pub mod notifications;
pub mod offers;
pub mod opportunities;
pub mod purchases;
pub mod quality_checks;
pub mod quality_reports;
pub mod quality_runs;
pub mod quotas;
pub mod raw_data;
pub mod references;
pub mod repository_analysis;
pub mod running_job;
pub mod sales;
pub mod task_changes;
pub mod task_quality_refreshes;
pub mod tasks;
pub mod tasksets;
pub mod taxonomy;
pub mod team_closures;
pub mod teams;
pub mod trace_imports;
pub mod trace_lines;
pub mod turns;
pub mod upload_reading;
pub mod upload_requests;
pub mod uploads;
pub mod verify;
mod walks;
pub mod wallet;
