//! The sandbox API: worlds, which are private copies of a market for tests. One file per resource.

mod access;
mod coverage;
mod coverage_page;
mod coverage_report;
mod expectations;
mod fault_bodies;
mod fault_checks;
mod faults;
mod journal;
mod journal_files;
mod page_or_file;
mod repositories;
mod snapshots;
mod webhooks;
mod world_clock;
mod worlds;

pub use self::{access::WorldOperator, worlds::WorldOut};

/// The handlers of all routes of the sandbox API.
pub type Apis = (
    (worlds::WorldsApi, world_clock::WorldClockApi, snapshots::SnapshotsApi),
    (webhooks::WorldWebhooksApi, repositories::RepositoriesApi, faults::FaultsApi),
    (journal::JournalApi, expectations::ExpectationsApi, coverage::CoverageApi),
);
