//! Common parts of uploads by operators for all purposes: planning, and the addresses for their parts.

use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

use super::{
    changes::{self, Change},
    resources::Subject,
};
use crate::{
    blobs::UploadedPart,
    domain::uploads::Upload,
    error::Result,
    market::{Market, Writer},
    operations::{
        access::Platform,
        grant_uploads::{self, FileInput},
        operator_uploads::{self, UploadPurpose},
    },
    rest::{
        arguments::request_body::{Body, MaybeInvalid},
        json::{Json, JsonResult},
        route::Call,
        shapes::{
            UtcTime,
            strings::{FileName, Sha256Digest},
            uploads::PartAddress,
        },
    },
    store::operator_uploads::OperatorUpload,
    web::{problem::ApiError, served_market::LinkBaseUrl},
};

/// A file that is being uploaded.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "TeamUploadSummary")]
pub struct PlannedUpload {
    /// ID of the upload.
    pub id: Uuid,
    /// ID of the team.
    pub team_id: Uuid,
    /// Name of the file.
    pub file_name: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// Announced SHA-256 digest of the file; null if none was.
    pub sha256: Option<String>,
    /// Size of each part except the last, in bytes.
    pub part_size_bytes: u64,
    /// Number of parts.
    pub part_count: u32,
    /// Time at which the upload was planned.
    pub created_at: UtcTime,
    /// Time at which the upload expires.
    pub expires_at: UtcTime,
}

impl From<OperatorUpload> for PlannedUpload {
    fn from(found: OperatorUpload) -> PlannedUpload {
        let layout = found.upload.layout;
        PlannedUpload {
            id: found.upload.id,
            team_id: found.team_id,
            file_name: found.file_name,
            size_bytes: layout.size_bytes,
            sha256: found.sha256,
            part_size_bytes: layout.part_bytes,
            part_count: layout.part_count(),
            created_at: found.created_at.into(),
            expires_at: found.expires_at.into(),
        }
    }
}

/// The response about an upload in progress.
pub trait UploadResponse: Subject {
    /// Creates the response. `received` are the parts that have arrived; URLs of the others start with `base_url`.
    fn new(
        market: &Market,
        base_url: &str,
        found: OperatorUpload,
        received: Vec<UploadedPart>,
    ) -> Result<Self>;
}

/// The body of a request that plans an upload.
pub trait UploadBody: Send + 'static {
    /// Returns the name, the size in bytes, and the announced digest of the file.
    fn into_parts(self) -> (MaybeInvalid<FileName>, MaybeInvalid<i64>, Option<Sha256Digest>);
}

/// Plans an upload, and responds with where to send its parts.
pub async fn plan<T: UploadResponse, B: UploadBody>(
    change: Change,
    link_base: LinkBaseUrl,
    body: Body<B>,
    purpose: UploadPurpose,
) -> JsonResult<T, 201> {
    let (base_url, market) = (link_base.0, change.call.served.market().clone());
    let prepare = move |market: &Market, platform: Platform, body: B| {
        let (file_name, size_bytes, sha256) = body.into_parts();
        let file = FileInput {
            file_name: file_name.into_valid()?.into(),
            size_bytes: size_bytes.into_valid()?.unsigned_abs(),
            sha256: sha256.map(String::from),
        };
        let upload = operator_uploads::prepare(market, platform, purpose, &file)?;
        Ok((file, upload))
    };
    let plan = move |writer: &mut Writer, platform: Platform, (file, upload): &(FileInput, Upload)| {
        let planned = operator_uploads::plan(writer, platform, purpose, file, upload)?;
        T::new(&market, &base_url, planned, Vec::new())
    };
    let finish = |market: &Market, (_, upload): (FileInput, Upload)| {
        operator_uploads::finish_plan(market, &upload);
    };
    changes::post_prepared(change, body, prepare, plan, finish).await
}

/// Responds with an upload that `find` returns with the parts that have arrived.
pub async fn get<A, T: UploadResponse>(
    call: Call<A>,
    link_base: LinkBaseUrl,
    find: impl FnOnce(&Market) -> Result<(OperatorUpload, Vec<UploadedPart>)> + Send + 'static,
) -> JsonResult<T> {
    let base_url = link_base.0;
    let render = move |market: &Market| {
        let (found, received) = find(market)?;
        Json::<T>::render(&T::new(market, &base_url, found, received)?)
    };
    let found = call.served.market().spawn_blocking(render).await.map_err(ApiError)?;
    Ok(Json::from_bytes(found))
}

/// Returns where to send the parts of an upload that are not among those that were received.
pub fn missing_parts(
    market: &Market,
    base_url: &str,
    upload: &Upload,
    received: &[UploadedPart],
) -> Result<Vec<PartAddress>> {
    let is_missing = |number: &u32| received.iter().all(|part| part.part_number != *number);
    let missing = (1..=upload.layout.part_count()).filter(is_missing);
    let addresses = grant_uploads::part_urls(market, base_url, upload, missing)?;
    Ok(addresses.into_iter().map(PartAddress::from).collect())
}
