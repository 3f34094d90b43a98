//! Background jobs that copy linked repositories and analyze the copies. The results become properties of the
//! codebase.

use std::{cell::Cell, fs::File, io::ErrorKind, path::Path};

use super::{
    asset_changes,
    child_processes::TimeLimit,
    data_analysis::{self, finish_with, write_progress},
    data_structures,
    running_job::{self, JobResult, RunningJob},
    world_repositories,
};
use crate::{
    artifacts::{
        ReadError,
        analyses::RepositoryAnalysis,
        child::{Input, Task},
        git::{self, CopyResult, IndexedPack, Limits, PackToIndex},
        hosts::{self, GitHost, RepositoryMetadata},
    },
    config::{REPOSITORIES_OF_WORLD, RepositorySettings},
    domain::{
        assets::RepositoryChannel,
        field_locks,
        inventory::Asset,
        jobs::{JobKind, MAX_INTERRUPTED_STARTS},
        row_ids::AssetRowId,
        time::Timestamp,
    },
    error::{Error, ErrorChain, Result},
    market::{Market, Writer},
    store::{
        self,
        assets::{DataProgress, LinkedRepository},
    },
};

/// Message for the vendor while a repository cannot be fetched and another attempt is pending.
const RETRY_PENDING: &str =
    "The host of the repository cannot be reached. The server will try again shortly.";

/// Message for the vendor while the disk is full and another attempt is pending.
const DISK_FULL: &str = "The server has no space for the repository. It will try again shortly.";

/// Message for the vendor while no file can be written or opened and another attempt is pending.
const STORAGE_UNAVAILABLE: &str =
    "The server cannot store the repository at the moment. It will try again shortly.";

/// Message for the vendor if every attempt failed for another reason than the host or the repository.
const FAILED: &str =
    "The server could not copy the repository. Detach the repository, then link it again later.";

/// Message for the vendor if copying was interrupted too often.
const INTERRUPTED: &str =
    "The copy of the repository was interrupted. Detach the repository, then link it again.";

/// Message for the vendor if a copy could not be analyzed on any attempt.
const UNREADABLE: &str =
    "The copy of the repository could not be read. Detach the repository, then link it again.";

/// Copies the repository that is linked to an asset, and enqueues the analysis of the copy.
pub fn copy(job: &RunningJob) -> JobResult {
    let Some(linked) = find_linked(job)? else { return job.finish(|_| Ok(())) };
    let (market, asset_row_id) = (job.market(), job.asset_row_id());
    let settings = &market.settings().repositories;
    job.begin()?;
    write_progress(job, &DataProgress::copying())?;
    let staging_dir = market.blobs().staging_dir().map_err(Error::internal)?;
    let to = staging_dir.path().join("copy");
    let host = host_for(market, linked.channel);
    match fetch(job, &host, &linked.full_name, &to) {
        Ok(copied) => {
            let metadata = if api_host_name(linked.channel).is_none_or(|name| market.can_reach(name)) {
                hosts::fetch_metadata(&host, &linked.full_name, &|| job.renew_and_continue())
            } else {
                RepositoryMetadata::default()
            };
            let metadata = serde_json::to_string(&metadata).map_err(Error::internal)?;
            market
                .blobs()
                .store_repository(&to, linked.asset_id, linked.attached_at)
                .map_err(Error::internal)?;
            job.finish(|writer| {
                store::assets::record_copy(
                    writer.rows,
                    asset_row_id,
                    copied.bytes,
                    copied.is_private,
                    &metadata,
                )?;
                store::assets::set_progress(writer.rows, asset_row_id, &DataProgress::copied())?;
                writer.enqueue(JobKind::AnalyzeRepository, asset_row_id)
            })
        }
        Err(ReadError::Io(cause)) => match Error::internal(cause) {
            error if error.is_fault_of_storage() => {
                let is_full = matches!(error, Error::StorageFull { .. });
                let message = if is_full { DISK_FULL } else { STORAGE_UNAVAILABLE };
                write_progress(job, &DataProgress::copy_retry_pending(message))?;
                Err(error.into())
            }
            error if job.job().attempts >= settings.attempts => {
                let address = host.remote_repository(&linked.full_name).address;
                log_unreachable_host(&address, &error);
                job.give_up();
                let message = unreachable_host(host_name(market, linked.channel).as_deref());
                finish_with(job, &DataProgress::copy_failed(&message))
            }
            error => {
                write_progress(job, &DataProgress::copy_retry_pending(RETRY_PENDING))?;
                Err(error.into())
            }
        },
        Err(error) => finish_with(job, &DataProgress::copy_failed(&running_job::rejection(error)?.0)),
    }
}

/// Copies a repository into a directory that does not exist yet. The time and the size of the copy are limited by
/// the settings. A full disk is a [`ReadError::Io`] of the kind [`ErrorKind::StorageFull`].
pub fn fetch(
    job: &RunningJob,
    host: &GitHost,
    full_name: &str,
    to: &Path,
) -> std::result::Result<CopyResult, ReadError> {
    let (market, settings) = (job.market(), &job.market().settings().repositories);
    let source = host.remote_repository(full_name);
    if host_name(market, host.channel).is_some_and(|name| !market.can_reach(&name)) {
        return Err(ReadError::Io(ErrorKind::HostUnreachable.into()));
    }
    if host.url == world_repositories::base_url(market) {
        world_repositories::provide(market, full_name).map_err(ReadError::Io)?;
    }
    let limit = TimeLimit { seconds: settings.max_seconds, what: "The repository" };
    // The size of the copy is not known before it is complete.
    let is_disk_full = Cell::new(false);
    let has_space = || {
        is_disk_full.set(market.ensure_space(0).is_err());
        !is_disk_full.get()
    };
    let copied = job.with_time_limit(limit, |keep_running| {
        let should_continue = || has_space() && keep_running();
        if !should_continue() {
            return Err(ReadError::Canceled);
        }
        git::copy_repository(&source, to, limits(settings), &should_continue, |received| {
            index_pack(job, received, limits(settings), limit)
        })
    });
    if is_disk_full.get() { Err(ReadError::Io(ErrorKind::StorageFull.into())) } else { copied }
}

/// Analyzes the copy of a repository in a child process.
pub fn analyze_copy(
    job: &RunningJob,
    directory: &Path,
) -> std::result::Result<RepositoryAnalysis, ReadError> {
    let (market, settings) = (job.market(), &job.market().settings().repositories);
    let task = Task::AnalyzeRepository { limits: limits(settings), now_secs: market.clock().now().seconds() };
    let limit = TimeLimit { seconds: settings.max_seconds, what: "The repository" };
    let (found, _) = job.run_child::<RepositoryAnalysis>(&task, Input::Directory(directory), limit)?;
    Ok(found)
}

/// Tells the operator why a host cannot be reached, and how to do without it.
pub fn log_unreachable_host(address: &str, cause: &Error) {
    tracing::warn!(
        address,
        cause = %ErrorChain(cause),
        "the host of a repository cannot be reached; docs/sell.md describes local repositories"
    );
}

/// Indexes a received pack in a child process.
fn index_pack(
    job: &RunningJob,
    received: &PackToIndex,
    limits: Limits,
    limit: TimeLimit,
) -> std::result::Result<IndexedPack, ReadError> {
    let pack = File::open(&received.pack).map_err(ReadError::Io)?;
    let task = Task::IndexPack { head: received.head.clone(), limits, origin: received.origin };
    let (indexed, _) = job.run_child(&task, Input::File(pack, &received.directory), limit)?;
    Ok(indexed)
}

/// Analyzes the copy of the repository that is linked to an asset.
pub fn analyze(job: &RunningJob) -> JobResult {
    let Some(linked) = find_linked(job)? else { return job.finish(|_| Ok(())) };
    let (market, asset_row_id) = (job.market(), job.asset_row_id());
    let directory = market.blobs().repository_path(linked.asset_id, linked.attached_at);
    if !directory.is_dir() {
        // The copy was lost with a disk or is not part of a restored backup, but it can be fetched again.
        return job.finish(|writer| {
            store::assets::set_progress(
                writer.rows,
                asset_row_id,
                &DataProgress::copy_retry_pending(RETRY_PENDING),
            )?;
            writer.enqueue(JobKind::CopyRepository, asset_row_id)
        });
    }
    job.wait_and_begin()?;
    write_progress(job, &DataProgress::analyzing())?;
    match analyze_copy(job, &directory) {
        Ok(found) => {
            let metadata =
                linked.host_metadata.as_deref().and_then(|metadata| serde_json::from_str(metadata).ok());
            let metadata = metadata.unwrap_or_default();
            job.finish(|writer| {
                store_analysis(writer, asset_row_id, linked.channel, found, metadata, writer.now)
            })
        }
        Err(error) => finish_with(job, &DataProgress::analysis_failed(&running_job::rejection(error)?.0)),
    }
}

/// Returns the message for the vendor if the host of a repository could not be reached.
fn unreachable_host(name: Option<&str>) -> String {
    let host = name.unwrap_or("of the repository");
    format!("The host {host} could not be reached. Detach the repository, then link it again later.")
}

/// Records that the repository of an asset could not be copied, after the last attempt failed. If the host could not be reached,
/// [`copy`] has recorded that.
pub fn give_up_copying(job: &RunningJob) -> JobResult {
    let is_interrupted = job.job().interrupted_starts >= MAX_INTERRUPTED_STARTS;
    finish_with(job, &DataProgress::copy_failed(if is_interrupted { INTERRUPTED } else { FAILED }))
}

/// Records that the repository of an asset could not be analyzed, after the last attempt failed.
pub fn give_up_analyzing(job: &RunningJob) -> JobResult {
    finish_with(job, &DataProgress::analysis_failed(UNREADABLE))
}

fn find_linked(job: &RunningJob) -> Result<Option<LinkedRepository>> {
    // The repository may have been detached.
    job.market().read_blocking(|reader| store::assets::find_repository(reader.rows, job.asset_row_id()))
}

/// Returns the limits for copying and analyzing repositories.
pub fn limits(settings: &RepositorySettings) -> Limits {
    Limits {
        bytes: settings.max_bytes,
        files: settings.max_files,
        file_bytes: settings.max_file_bytes,
        idle_seconds: settings.idle_seconds,
    }
}

/// Returns the name of the host of a channel: in a world with its own repositories, the one that the host has elsewhere.
/// `None` for repositories in files.
fn host_name(market: &Market, channel: RepositoryChannel) -> Option<String> {
    let settings = &market.settings().repositories;
    let (url, name) = match channel {
        RepositoryChannel::Github => (&settings.github_url, "github.com"),
        RepositoryChannel::Gitlab => (&settings.gitlab_url, "gitlab.com"),
        RepositoryChannel::Bitbucket => (&settings.bitbucket_url, "bitbucket.org"),
    };
    if url == REPOSITORIES_OF_WORLD {
        return Some(name.to_owned());
    }
    url::Url::parse(url).ok()?.host_str().map(str::to_owned)
}

/// Returns the usual name of the host of a channel's API, if it is not that of the repositories.
const fn api_host_name(channel: RepositoryChannel) -> Option<&'static str> {
    match channel {
        RepositoryChannel::Github => Some("api.github.com"),
        RepositoryChannel::Gitlab => None,
        RepositoryChannel::Bitbucket => Some("api.bitbucket.org"),
    }
}

/// Returns the host of a channel with its settings.
pub fn host_for(market: &Market, channel: RepositoryChannel) -> GitHost {
    let settings = &market.settings().repositories;
    let (url, api_url, token) = match channel {
        RepositoryChannel::Github => (&settings.github_url, &settings.github_api_url, &settings.github_token),
        RepositoryChannel::Gitlab => (&settings.gitlab_url, &settings.gitlab_api_url, &settings.gitlab_token),
        RepositoryChannel::Bitbucket => {
            (&settings.bitbucket_url, &settings.bitbucket_api_url, &settings.bitbucket_token)
        }
    };
    // The API of the host knows nothing about local repositories.
    let is_local = url.starts_with("file:");
    GitHost {
        channel,
        url: if url == REPOSITORIES_OF_WORLD { world_repositories::base_url(market) } else { url.clone() },
        api_url: if is_local { String::new() } else { api_url.clone() },
        token: token.reveal().map(str::to_owned),
        may_be_private: settings.private_hosts,
        idle_seconds: settings.idle_seconds,
    }
}

/// Stores the result of an analysis, and locks the fields that it sets. A description that the vendor wrote
/// is kept.
pub fn store_analysis(
    writer: &Writer,
    asset_row_id: AssetRowId,
    channel: RepositoryChannel,
    found: RepositoryAnalysis,
    metadata: RepositoryMetadata,
    at: Timestamp,
) -> Result<()> {
    let Some(mut asset) = store::assets::find_by_row_id(writer.rows, asset_row_id)? else { return Ok(()) };
    let before = asset.clone();
    set_fields(&mut asset, channel, &found, metadata);
    let RepositoryAnalysis { commit_sha, files, .. } = found;
    data_structures::store(writer, asset_row_id, &files.structure)?;
    let languages =
        data_analysis::languages_by_slug(&store::taxonomy::languages(writer.rows)?, files.languages.bytes);
    store::assets::record_commit(writer.rows, asset_row_id, &commit_sha, &languages)?;
    data_analysis::store_fields(writer, &before, &asset, at)
}

/// Sets the fields of a codebase that its repository states, and locks them.
pub fn set_fields(
    asset: &mut Asset,
    channel: RepositoryChannel,
    found: &RepositoryAnalysis,
    metadata: RepositoryMetadata,
) {
    let RepositoryAnalysis { files, history, .. } = found;
    let codebase = &mut asset.codebase;
    codebase.lines_of_code = Some(files.languages.lines as i64);
    codebase.commits = Some(history.commits as i64);
    codebase.contributors = Some(history.contributors as i64);
    // The count of the host is more reliable than one derived from commit messages.
    let merged_prs = metadata.merged_prs.unwrap_or(history.merged_prs);
    codebase.merged_prs = Some(i64::try_from(merged_prs).unwrap_or(i64::MAX));
    codebase.ci_on_prs = Some(files.ci_on_prs);
    let mut fields = vec!["lines_of_code", "commits", "contributors", "merged_prs", "ci_on_prs"];
    if let Some((first, last)) = history.span {
        let day = |seconds: i64| Timestamp(seconds.saturating_mul(1_000_000)).day();
        (codebase.history_start, codebase.history_end) = (Some(day(first)), Some(day(last)));
        fields.extend(["history_start", "history_end"]);
    }
    field_locks::lock_extracted(&mut asset.locks, channel.into(), fields);
    let description = files.readme.clone().or(metadata.description).or_else(|| files.manifest.clone());
    asset_changes::set_description_from_data(asset, channel.into(), description);
}
