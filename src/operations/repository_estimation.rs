//! The background job of an estimation: copies the repository, measures the copy in a child process, and deletes
//! it. A job that was interrupted starts from the beginning.

use super::{
    access::Platform,
    data_analysis, estimations, repository_analysis,
    running_job::{self, JobResult, RunningJob},
};
use crate::{
    artifacts::{ReadError, analyses::RepositoryAnalysis},
    domain::{
        assets::Kind, estimation_requests::Reading, estimations::RepositoryMetrics,
        jobs::MAX_INTERRUPTED_STARTS,
    },
    error::{Error, Result},
    market::Writer,
    store,
};

/// Message for the vendor after the last attempt to reach the host.
const UNREACHABLE: &str = "The host of the repository could not be reached after several attempts. Request another estimation later.";

/// Message for the vendor if every attempt failed for another reason than the host or the repository.
const FAILED: &str = "The server could not read the repository. Request another estimation later.";

/// Message for the vendor if the job was interrupted too often.
const INTERRUPTED: &str = "Reading the repository was interrupted. Request another estimation.";

/// Copies and measures the repository of an estimation, and ends the estimation.
pub fn run(job: &RunningJob) -> JobResult {
    let market = job.market();
    let row_id = job.estimation_row_id();
    let found = market.read_blocking(|reader| store::estimations::find_pending(reader.rows, row_id))?;
    let Some(pending) = found else { return job.finish(|_| Ok(())) };
    let estimation = pending.estimation;
    let Some(channel) = estimation.channel.repository().filter(|_| estimation.kind == Kind::Codebase) else {
        return finish(job, |_| Ok(Reading::NoRates));
    };
    job.begin()?;
    let settings = &market.settings().repositories;
    let host = repository_analysis::host_for(market, channel);
    // Deleted at the end of the function, or at the next start if the process is killed.
    let staging_dir = market.blobs().staging_dir().map_err(Error::internal)?;
    let to = staging_dir.path().join("copy");
    let read = repository_analysis::fetch(job, &host, &estimation.repo_full_name, &to)
        .and_then(|_| repository_analysis::analyze_copy(job, &to));
    match read {
        Ok(found) => finish(job, |writer| measure(writer, found).map(Reading::Measured)),
        Err(ReadError::Io(cause)) => match Error::internal(cause) {
            error if !error.is_fault_of_storage() && job.job().attempts >= settings.attempts => {
                let address = host.remote_repository(&estimation.repo_full_name).address;
                repository_analysis::log_unreachable_host(&address, &error);
                finish(job, |_| Ok(Reading::Failed(UNREACHABLE.to_owned())))
            }
            error => Err(error.into()),
        },
        Err(error) => {
            let message = running_job::rejection(error)?.0;
            finish(job, |_| Ok(Reading::Failed(message)))
        }
    }
}

/// Ends an estimation that could not be read on any attempt. If the host could not be reached, [`run`] has ended it.
pub fn give_up(job: &RunningJob) -> JobResult {
    let is_interrupted = job.job().interrupted_starts >= MAX_INTERRUPTED_STARTS;
    let message = if is_interrupted { INTERRUPTED } else { FAILED };
    finish(job, |_| Ok(Reading::Failed(message.to_owned())))
}

fn finish(job: &RunningJob, read: impl FnOnce(&mut Writer) -> Result<Reading>) -> JobResult {
    job.finish(|writer| {
        let reading = read(writer)?;
        estimations::complete(writer, Platform::of_process(), job.estimation_row_id(), reading)
    })
}

fn measure(writer: &Writer, found: RepositoryAnalysis) -> Result<RepositoryMetrics> {
    let RepositoryAnalysis { files, history, .. } = found;
    Ok(RepositoryMetrics {
        lines_of_code: files.languages.lines,
        commits: history.commits,
        contributors: history.contributors,
        languages: data_analysis::languages_by_slug(
            &store::taxonomy::languages(writer.rows)?,
            files.languages.bytes,
        ),
    })
}
