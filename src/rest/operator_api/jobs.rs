//! Background jobs of the server.

use serde::Deserializer;

use crate::{
    domain::{
        jobs::{JobKind, JobState},
        row_ids::JobRowId,
    },
    operations::job_changes,
    rest::operator_api::prelude::*,
    store::records::jobs::JOBS,
};

/// An ID that no job has. Whether the demo market has jobs depends on the time.
const ABSENT: Target = Target::Absent("0");

/// A background job that has not completed.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Job")]
pub struct JobOut {
    /// ID of the job: its number.
    pub id: String,
    /// What the job does.
    pub kind: EnumValue<JobKind>,
    /// State of the job. A job that completes is deleted.
    pub state: EnumValue<JobState>,
    /// Kind of the record that the job works on; null if there is none.
    #[serde(deserialize_with = "read_subject_kind")]
    pub subject_kind: Option<String>,
    /// ID of the record that the job works on; null if there is none.
    pub subject_id: Option<Uuid>,
    /// ID of the team that the job works for; null for the platform's own work.
    pub team_id: Option<Uuid>,
    /// Number of attempts so far, including one that is running.
    pub attempts: u32,
    /// Time at which the job was enqueued.
    pub enqueued_at: UtcTime,
    /// Time from which the job can be started; null if it was given up or canceled.
    pub due_at: Option<UtcTime>,
    /// Time at which the job was given up or canceled; null unless it was.
    pub ended_at: Option<UtcTime>,
}

/// Reads the kind of a job that works on a record.
fn read_subject_kind<'de, D: Deserializer<'de>>(column: D) -> std::result::Result<Option<String>, D::Error> {
    let kind = Option::<EnumValue<JobKind>>::deserialize(column)?;
    Ok(kind.map(|kind| kind.0.subject_kind().to_owned()))
}

resource!(JobOut: JobRowId, JOBS, "job", id, team_id);

page_of! {
    /// A page of background jobs.
    JobPage, JobOut
}

/// What the list of jobs can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct JobFilters {
    /// What the job does.
    kind: Option<EnumValue<JobKind>>,
    /// State of the job.
    state: Option<EnumValue<JobState>>,
    /// ID of the team that the job works for.
    team_id: Option<Uuid>,
}

#[routes(prefix = "/operator/v1", tag = Market)]
impl JobsApi {
    /// List jobs
    ///
    /// Returns the background jobs that wait or run, and those of the last 30 days that were given up or canceled, newest
    /// first. Jobs that complete are deleted; their results are in the records that they work on.
    #[get("/jobs", routes::list(&["kind=sweep", "state=failed&limit=2"]))]
    async fn list_jobs(call: Call<Operator>, query: Params<ListQuery<JobFilters>>) -> JsonResult<JobPage> {
        pages::list(call, query).await
    }

    /// Get a job
    ///
    /// Returns a background job.
    #[get(
        "/jobs/{job_id}",
        routes::read(Contract::new(ABSENT)).with_parameter_examples(&[("job_id", "\"17\"")]),
    )]
    async fn get_job(call: Call<Operator>, job_id: Path<String>) -> JsonResult<JobOut> {
        resources::get(call, row_id(&job_id.0)).await
    }

    /// Retry a job
    ///
    /// Starts a waiting job as soon as possible, with all its attempts. A job that was given up or canceled is enqueued
    /// again: as a new job, which is returned. That is refused if what the job was for has ended for good, as quality
    /// runs, estimations, and imports have: start another one instead.
    #[post(
        "/jobs/{job_id}/retry",
        routes::transition_of(ABSENT, Actor::Platform, &[EventType::TaskQualityRefreshRequested])
            .with_parameter_examples(&[("job_id", "\"17\"")]),
    )]
    async fn retry_job(change: Change, job_id: Path<String>) -> JsonResult<JobOut> {
        changes::post(change, move |writer, platform| job_changes::retry(writer, platform, row_id(&job_id.0)))
            .await
    }

    /// Cancel a job
    ///
    /// Cancels a job that waits or runs, and ends what it was for as failed: the analysis of data, a quality run (canceled;
    /// its charge is returned unless it had begun), an import, a refresh, or an estimation. The cleanup cannot be canceled.
    #[post(
        "/jobs/{job_id}/cancel",
        routes::transition_of(
            ABSENT,
            Actor::Platform,
            &[
                EventType::AssetDataAnalyzed,
                EventType::QualityRunCancelled,
                EventType::WalletCredited,
                EventType::TracesImported,
                EventType::TaskQualityRefreshFailed,
                EventType::EstimationFailed,
            ],
        )
        .with_parameter_examples(&[("job_id", "\"17\"")]),
    )]
    async fn cancel_job(change: Change, job_id: Path<String>) -> JsonResult<JobOut> {
        let id = row_id(&job_id.0);
        changes::post(change, move |writer, platform| job_changes::cancel(writer, platform, id).map(|()| id))
            .await
    }
}

/// Returns the row ID of a job. No job has that of a text that is not a number.
fn row_id(id: &str) -> JobRowId {
    JobRowId(id.parse().unwrap_or(0))
}
