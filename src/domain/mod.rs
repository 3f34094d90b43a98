//! Business rules and plain data types of the marketplace. They use no database, no transport, and no clock.

pub mod asset_filters;
pub mod assets;
pub mod browse;
pub mod catalog;
pub mod estimations;
pub mod field_locks;
pub mod filters;
pub mod grants;
pub mod inventory;
pub mod jobs;
pub mod ledger;
pub mod listings;
pub mod money;
pub mod notifications;
pub mod opportunities;
pub mod purchases;
pub mod quality;
pub mod row_ids;
pub mod scale;
pub mod stages;
pub mod task_quality;
pub mod tasks;
pub mod taxonomy;
pub mod teams;
pub mod time;
pub mod uploads;
