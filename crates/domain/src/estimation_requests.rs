//! Requests of estimations, and what ends them.

use uuid::Uuid;

use super::{
    assets::{Kind, RepositoryChannel},
    estimations::RepositoryMetrics,
    patterns::is_repository_name,
    problems::Problems,
    repository_addresses::find_name_fault,
};
use crate::problem::Problem;

/// Maximum number of pending estimations of a team.
pub const MAX_PENDING: u64 = 20;

/// A request of an estimation.
#[derive(Clone, Debug)]
pub struct EstimationRequest {
    /// Asset kind that the source would be sold as.
    pub sku: Kind,
    /// Host of the source.
    pub channel: RepositoryChannel,
    /// Full name of the source repository, as `owner/name`.
    pub repo_full_name: String,
    /// ID of one of the team's assets, of the kind `sku`, that the source belongs to.
    pub inventory_asset_id: Option<Uuid>,
}

/// What an estimation found.
#[derive(Clone, Debug)]
pub enum Reading {
    /// The measurements of the source.
    Measured(RepositoryMetrics),
    /// There are no rates for the asset kind.
    NoRates,
    /// The source could not be read. The message is for the vendor.
    Failed(String),
}

impl EstimationRequest {
    /// Adds what is wrong with the request to `problems`.
    pub fn check(&self, problems: &mut Problems) {
        let path = ["repo_full_name"];
        if !is_repository_name(&self.repo_full_name) {
            let message = "`repo_full_name` must have the pattern owner/name, and 3 to 200 characters.";
            problems.push(Problem::body(&path, "string_pattern_mismatch", message));
        } else if let Some(fault) = find_name_fault(self.channel, &self.repo_full_name) {
            problems.push(Problem::body(&path, "value_error", format!("`repo_full_name` {fault}.")));
        }
    }

    /// Returns the name of the repository without its owner.
    pub fn name(&self) -> &str {
        self.repo_full_name.rsplit('/').next().unwrap_or_default()
    }
}
