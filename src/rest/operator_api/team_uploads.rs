//! Zips that operators upload for teams, in parts.

use super::{
    pages::TeamFilter,
    part_uploads::{self, PlannedUpload, UploadBody, UploadResponse, missing_parts},
};
use crate::{
    blobs::UploadedPart,
    market::Market,
    operations::{
        operator_uploads::{JoinedFile, UploadPurpose},
        team_uploads,
    },
    rest::{
        arguments::request_body::BodySource,
        operator_api::prelude::*,
        shapes::{
            strings::{FileName, Sha256Digest},
            uploads::{PartAddress, ReceivedPart},
        },
    },
    store::{operator_uploads::OperatorUpload, records::operator_uploads::ZipUploadRecord, uploads},
    web::served_market::LinkBaseUrl,
};

/// An ID that nothing has. The demo market has no uploads in progress.
const ABSENT: Target = Target::Absent("00000000-0000-0000-0000-000000000000");

/// A zip that is being uploaded for a team: where to send its parts, and which have arrived.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "TeamUpload")]
pub struct TeamUploadOut {
    #[oai(flatten)]
    #[serde(flatten)]
    pub upload: PlannedUpload,
    /// The parts that were not received yet, in order.
    pub parts: Vec<PartAddress>,
    /// The parts that were received, in order.
    pub received: Vec<ReceivedPart>,
}

/// A zip that was uploaded for a team.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "CompletedUpload")]
pub struct CompletedUploadOut {
    /// ID of the upload.
    pub id: Uuid,
    /// ID of the team.
    pub team_id: Uuid,
    /// Name of the file.
    pub file_name: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest of the file.
    pub sha256: String,
    /// URL with which the team can attach the zip to raw data. Nothing is served there.
    pub url: String,
    /// Time at which the upload was completed.
    pub completed_at: UtcTime,
}

/// What the records of uploads are called in the audit.
const KIND: &str = "upload";

subject!(PlannedUpload, KIND, id, team_id);

subject!(TeamUploadOut, KIND, upload.id, upload.team_id);

subject!(CompletedUploadOut, KIND, id, team_id);

impl Resource for PlannedUpload {
    type Record = ZipUploadRecord;

    fn new(ZipUploadRecord(found): ZipUploadRecord, _: &CheckContext) -> PlannedUpload {
        found.into()
    }
}

impl UploadResponse for TeamUploadOut {
    fn new(
        market: &Market,
        base_url: &str,
        found: OperatorUpload,
        received: Vec<UploadedPart>,
    ) -> Result<TeamUploadOut> {
        let parts = missing_parts(market, base_url, &found.upload, &received)?;
        let received = received.into_iter().map(ReceivedPart::from).collect();
        Ok(TeamUploadOut { upload: found.into(), parts, received })
    }
}

impl From<uploads::CompletedUpload> for CompletedUploadOut {
    fn from(upload: uploads::CompletedUpload) -> CompletedUploadOut {
        let uploads::CompletedUpload { id, team, file_name, size_bytes, sha256, url, completed_at } = upload;
        CompletedUploadOut {
            id,
            team_id: team,
            file_name,
            size_bytes,
            sha256,
            url,
            completed_at: completed_at.into(),
        }
    }
}

page_of! {
    /// A page of uploads in progress.
    TeamUploadPage, PlannedUpload
}

/// A zip to upload for a team.
#[derive(Debug, Object)]
pub struct TeamUploadIn {
    /// Name of the file.
    file_name: MaybeInvalid<FileName>,
    /// Size of the zip in bytes, at most `blobs.max_upload_bytes` of the settings.
    #[oai(validator(minimum(value = "22"), maximum(value = "5000000000000")))]
    size_bytes: MaybeInvalid<i64>,
    /// SHA-256 digest of the zip, 64 lowercase hexadecimal digits. If set, the uploaded file must match it.
    sha256: Option<Sha256Digest>,
}

impl UploadBody for TeamUploadIn {
    fn into_parts(self) -> (MaybeInvalid<FileName>, MaybeInvalid<i64>, Option<Sha256Digest>) {
        (self.file_name, self.size_bytes, self.sha256)
    }
}

#[routes(prefix = "/operator/v1", tag = Uploads)]
impl TeamUploadsApi {
    /// Plan an upload
    ///
    /// Returns where to send a zip for a team: in one piece, or in parts of `part_size_bytes`. Each URL accepts a PUT
    /// request with the bytes of its part, for one hour. `get_team_upload` returns which parts have arrived, with new URLs
    /// for the others. When all have, complete the upload. It expires after a day. Its bytes count for the quota of the
    /// team, and at most 10 uploads by operators can be in progress for it.
    #[post("/teams/{team_id}/uploads", routes::change("teams", Actor::Platform, &[]))]
    async fn plan_team_upload(
        call: Call<ActingOperator>,
        team_id: Path<Uuid>,
        link_base: LinkBaseUrl,
        idempotent: Idempotent,
        #[example(json!({"file_name": "scans-2026.zip", "size_bytes": 48_213}))] body: Body<TeamUploadIn>,
    ) -> JsonResult<TeamUploadOut, 201> {
        part_uploads::plan(Change { call, idempotent }, link_base, body, UploadPurpose::Zip(team_id.0)).await
    }

    /// List uploads
    ///
    /// Returns the uploads in progress that operators have planned for teams, newest first, without their parts.
    #[get("/uploads", routes::list(&["team_id=00000000-0000-0000-0000-000000000000"]))]
    async fn list_team_uploads(
        call: Call<Operator>,
        query: Params<ListQuery<TeamFilter>>,
    ) -> JsonResult<TeamUploadPage> {
        let ListQuery { page, filters } = query.0;
        let in_progress = pages::filters_of(&filters).with("in_progress", true);
        pages::list_rows(call, page, &filters, in_progress).await
    }

    /// Get an upload
    ///
    /// Returns an upload in progress: the parts that have arrived, and new URLs for the others.
    #[get("/uploads/{upload_id}", routes::read(Contract::new(ABSENT)))]
    async fn get_team_upload(
        call: Call<Operator>,
        upload_id: Path<Uuid>,
        link_base: LinkBaseUrl,
    ) -> JsonResult<TeamUploadOut> {
        let platform = call.access.platform();
        let find = move |market: &Market| team_uploads::find_with_parts(market, platform, upload_id.0);
        part_uploads::get(call, link_base, find).await
    }

    /// Complete an upload
    ///
    /// Joins the parts, verifies size and digest of the zip, and returns the URL with which the team can attach it to raw
    /// data. If a part is missing or damaged, the upload is kept: send that part again, then repeat this request. If the
    /// digest differs, plan another upload. Completing an upload again returns the same.
    #[post(
        "/uploads/{upload_id}/complete",
        routes::change_of(ABSENT, Actor::Platform, &[EventType::UploadCompleted])
            .with_conflicts(&[Code::PartsMissing]),
    )]
    async fn complete_team_upload(
        call: Call<ActingOperator>,
        upload_id: Path<Uuid>,
        idempotent: Idempotent,
    ) -> JsonResult<CompletedUploadOut> {
        let (upload, base_url) = (upload_id.0, call.served.base_url().to_owned());
        let join = move |market: &Market, platform: Platform, ()| {
            Ok((upload, team_uploads::join(market, platform, upload)?))
        };
        let complete = move |writer: &mut Writer, platform: Platform, joined: &(Uuid, Option<JoinedFile>)| {
            let (upload, joined) = (joined.0, joined.1.as_ref());
            let completed = team_uploads::complete(writer, platform, &base_url, upload, joined)?;
            Ok(CompletedUploadOut::from(completed))
        };
        let body = Body { value: (), source: BodySource::empty() };
        changes::post_prepared(Change { call, idempotent }, body, join, complete, |_, _| {}).await
    }

    /// Cancel an upload
    ///
    /// Cancels an upload in progress. What has arrived of it is deleted.
    #[delete(
        "/uploads/{upload_id}",
        routes::change_of(ABSENT, Actor::Platform, &[]),
    )]
    async fn cancel_team_upload(
        call: Call<ActingOperator>,
        upload_id: Path<Uuid>,
    ) -> std::result::Result<NoContent, ApiError> {
        let cancel = move |writer: &mut Writer, platform: Platform| {
            team_uploads::cancel(writer, platform, upload_id.0).map(PlannedUpload::from)
        };
        changes::delete(call, cancel).await
    }
}
