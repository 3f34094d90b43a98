//! Imports of graded traces into tasksets, and the uploads of their files.

use super::part_uploads::{self, PlannedUpload, UploadBody, UploadResponse, missing_parts};
use crate::{
    blobs::UploadedPart,
    domain::trace_imports::TraceImportStatus,
    market::Market,
    operations::{
        operator_uploads::{JoinedFile, UploadPurpose},
        trace_uploads,
    },
    rest::{
        operator_api::prelude::*,
        shapes::{
            strings::{FileName, Sha256Digest},
            uploads::PartAddress,
        },
    },
    store::{operator_uploads::OperatorUpload, records::tasksets::TRACE_IMPORTS},
    web::served_market::LinkBaseUrl,
};

/// An ID that nothing has. The demo market has no imports, and no uploads in progress.
const ABSENT: Target = Target::Absent("00000000-0000-0000-0000-000000000000");

/// An import of traces, and what was imported so far.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "TraceImport")]
pub struct TraceImportOut {
    /// ID of the import.
    pub id: Uuid,
    /// ID of the taskset.
    pub taskset_id: Uuid,
    /// ID of the team of the taskset.
    pub team_id: Uuid,
    /// Status of the import.
    pub status: EnumValue<TraceImportStatus>,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// Number of lines so far, without blank ones.
    pub lines: u64,
    /// Number of traces that were added.
    pub inserted: u64,
    /// Number of traces that had been added before.
    pub existing: u64,
    /// Number of lines that were rejected.
    pub rejected: u64,
    /// The first 100 lines that were rejected.
    #[oai(validator(max_items = 100))]
    pub problems: Vec<TraceProblem>,
    /// Why the import failed; null unless it failed. What was imported stays.
    pub error: Option<String>,
    /// Time of the request.
    pub requested_at: UtcTime,
    /// Time of the start; null if it has not started.
    pub started_at: Option<UtcTime>,
    /// Time at which it ended; null if it has not.
    pub finished_at: Option<UtcTime>,
}

/// A line that was rejected.
#[derive(Debug, Object, Serialize, Deserialize)]
pub struct TraceProblem {
    /// Number of the line, from 1.
    pub line: u64,
    /// What was wrong.
    pub message: String,
}

resource!(TraceImportOut: Uuid, TRACE_IMPORTS, "trace_import", id, team_id);

page_of! {
    /// A page of imports of traces.
    TraceImportPage, TraceImportOut
}

/// What the list of the imports of a taskset can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct TraceImportFilters {
    /// Status of the import.
    status: Option<EnumValue<TraceImportStatus>>,
}

/// An upload of a file with traces: where to send its parts.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "TraceUpload")]
pub struct TraceUploadOut {
    #[oai(flatten)]
    #[serde(flatten)]
    pub upload: PlannedUpload,
    /// ID of the taskset.
    pub taskset_id: Uuid,
    /// The parts that were not received yet, in order.
    pub parts: Vec<PartAddress>,
}

subject!(TraceUploadOut, "trace_upload", upload.id, upload.team_id);

impl UploadResponse for TraceUploadOut {
    fn new(
        market: &Market,
        base_url: &str,
        found: OperatorUpload,
        received: Vec<UploadedPart>,
    ) -> Result<TraceUploadOut> {
        let taskset = found.taskset.ok_or_else(|| Error::internal("the upload has no taskset"))?;
        let parts = missing_parts(market, base_url, &found.upload, &received)?;
        Ok(TraceUploadOut { taskset_id: taskset.id, parts, upload: found.into() })
    }
}

/// A file with traces to upload.
#[derive(Debug, Object)]
pub struct TraceUploadIn {
    /// Name of the file.
    file_name: MaybeInvalid<FileName>,
    /// Size of the file in bytes, at most `blobs.max_upload_bytes` of the settings.
    #[oai(validator(minimum(value = "1"), maximum(value = "1000000000000")))]
    size_bytes: MaybeInvalid<i64>,
    /// SHA-256 digest of the file, 64 lowercase hexadecimal digits. If set, the uploaded file must match it.
    sha256: Option<Sha256Digest>,
}

impl UploadBody for TraceUploadIn {
    fn into_parts(self) -> (MaybeInvalid<FileName>, MaybeInvalid<i64>, Option<Sha256Digest>) {
        (self.file_name, self.size_bytes, self.sha256)
    }
}

/// An import to start.
#[derive(Debug, Object)]
pub struct TraceImportIn {
    /// ID of an upload for this taskset, all parts of which were sent.
    upload_id: MaybeInvalid<Uuid>,
}

#[routes(prefix = "/operator/v1", tag = Tasksets)]
impl TracesApi {
    /// Plan an upload of traces
    ///
    /// Returns where to send a file of JSON Lines, in one part or several. Each URL accepts one PUT request with the bytes
    /// of its part, for one hour. When all parts were sent, `create_trace_import` imports the file. The upload expires
    /// after a day. At most 10 uploads by operators can be in progress for a team.
    #[post("/tasksets/{taskset_id}/trace-uploads", routes::change("tasksets", Actor::Platform, &[]))]
    async fn create_trace_upload(
        call: Call<ActingOperator>,
        taskset_id: Path<Uuid>,
        link_base: LinkBaseUrl,
        idempotent: Idempotent,
        #[example(json!({"file_name": "traces.jsonl", "size_bytes": 48_213}))] body: Body<TraceUploadIn>,
    ) -> JsonResult<TraceUploadOut, 201> {
        part_uploads::plan(Change { call, idempotent }, link_base, body, UploadPurpose::Traces(taskset_id.0))
            .await
    }

    /// Get an upload of traces
    ///
    /// Returns an upload in progress, with new URLs for the parts that were not received yet.
    #[get("/trace-uploads/{upload_id}", routes::read(Contract::new(ABSENT)))]
    async fn get_trace_upload(
        call: Call<Operator>,
        upload_id: Path<Uuid>,
        link_base: LinkBaseUrl,
    ) -> JsonResult<TraceUploadOut> {
        let platform = call.access.platform();
        let find = move |market: &Market| {
            let ((found, _), received) = trace_uploads::find_with_parts(market, platform, upload_id.0)?;
            Ok((found, received))
        };
        part_uploads::get(call, link_base, find).await
    }

    /// List the imports of traces of a taskset
    ///
    /// Returns the imports of traces of a taskset, newest first, each with its progress.
    #[get(
        "/tasksets/{taskset_id}/traces",
        routes::list_of(Target::RecordOf("tasksets"), &["status=completed"]),
    )]
    async fn list_trace_imports(
        call: Call<Operator>,
        taskset_id: Path<Uuid>,
        query: Params<ListQuery<TraceImportFilters>>,
    ) -> JsonResult<TraceImportPage> {
        pages::list_of(call, ("taskset_id", taskset_id.0), query).await
    }

    /// Import traces
    ///
    /// Completes an upload, and imports its traces in the background; `get_trace_import` returns the progress. Each line
    /// of the file is a JSON object with `trace_id` (a UUID), the version of a task of the taskset (`task_version_id`, or
    /// the task's `external_id` with `version`), `build_version`, and optionally `model`, `reward` with `graded_at`, and
    /// `qa`. A trace whose ID exists is not added again, so a file can be imported any number of times. Lines that cannot
    /// be imported are counted, and the first ones are listed. The file is deleted afterwards.
    #[post(
        "/tasksets/{taskset_id}/traces",
        routes::change("tasksets", Actor::Platform, &[EventType::TracesImported])
            .with_conflicts(&[Code::PartsMissing]),
    )]
    async fn create_trace_import(
        call: Call<ActingOperator>,
        taskset_id: Path<Uuid>,
        idempotent: Idempotent,
        #[example(json!({"upload_id": "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11"}))] body: Body<TraceImportIn>,
    ) -> JsonResult<TraceImportOut, 201> {
        let prepare = move |market: &Market, platform: Platform, body: TraceImportIn| {
            trace_uploads::join(market, platform, taskset_id.0, body.upload_id.into_valid()?)
        };
        let start = |writer: &mut Writer, platform: Platform, joined: &JoinedFile| {
            let id = trace_uploads::start_import(writer, platform, joined)?;
            TraceImportOut::find(&writer.check_context(), platform, &id)
        };
        changes::post_prepared(Change { call, idempotent }, body, prepare, start, |_, _| {}).await
    }

    /// Get an import of traces
    ///
    /// Returns an import with its progress.
    #[get("/trace-imports/{trace_import_id}", routes::read(Contract::new(ABSENT)))]
    async fn get_trace_import(
        call: Call<Operator>,
        /// ID of the import.
        trace_import_id: Path<Uuid>,
    ) -> JsonResult<TraceImportOut> {
        resources::get(call, trace_import_id.0).await
    }
}
