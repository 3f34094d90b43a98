//! Settings for Git hosts, and for copies of repositories.

use serde::{Deserialize, Serialize};

use super::secret::Secret;

/// The value for the URL of a Git host that refers to the repositories of the world itself.
pub const REPOSITORIES_OF_WORLD: &str = "file:///world";

/// Hosts of linked repositories, and limits for copies of repositories.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RepositorySettings {
    /// Base URL of repositories on GitHub, without a trailing slash.
    pub github_url: String,
    /// Base URL of the GitHub API. Empty to not use the API.
    pub github_api_url: String,
    /// Access token for private repositories on GitHub.
    pub github_token: Secret,
    /// Base URL of repositories on GitLab, without a trailing slash.
    pub gitlab_url: String,
    /// Base URL of the GitLab API. Empty to not use the API.
    pub gitlab_api_url: String,
    /// Access token for private repositories on GitLab.
    pub gitlab_token: Secret,
    /// Base URL of repositories on Bitbucket, without a trailing slash.
    pub bitbucket_url: String,
    /// Base URL of the Bitbucket API. Empty to not use the API.
    pub bitbucket_api_url: String,
    /// Access token for private repositories on Bitbucket.
    pub bitbucket_token: Secret,
    /// Whether these hosts may have private network addresses.
    pub private_hosts: bool,
    /// Maximum size in bytes of a repository copy.
    pub max_bytes: u64,
    /// Maximum number of files and directories in the newest commit.
    pub max_files: u64,
    /// Maximum size in bytes of a file in any commit.
    pub max_file_bytes: u64,
    /// Maximum time in seconds to copy a repository, and then to analyze it.
    pub max_seconds: u32,
    /// Seconds without data from a host after which a copy is aborted.
    pub idle_seconds: u32,
    /// Number of attempts to request a repository from a host that cannot be reached.
    pub attempts: u32,
}
