//! Uploads under a grant: planning where the parts of a zip are sent, and turning the complete zip into a
//! codebase.

use std::collections::BTreeMap;

use poem_openapi::{Union, registry::MetaSchema};
use serde_json::Value;

use super::codebases::types::Codebase;
use crate::{
    blobs::PresignedUrl,
    domain::{problems::Problems, uploads::Upload},
    market::{Market, Writer},
    operations::{
        grant_uploads::{self, FileInput, JoinedUpload, PreparedUpload},
        upload_requests::{self, StatedPart},
    },
    rest::{
        arguments::request_body::Omittable,
        prelude::*,
        shapes::{
            scalars::{Scalar, impl_scalar},
            strings::{ContentType, FileName, PartETag, Sha256Digest},
            uploads::{PartAddress, ReceivedPart},
        },
    },
    string_enum::string_enum,
    web::served_market::LinkBaseUrl,
};

string_enum! {
    /// HTTP method of an upload.
    UploadMethod {
        /// The bytes are the body of a PUT request.
        Put = "PUT",
    }
}

/// Number of a part, starting at 1.
#[derive(Clone, Copy, Debug)]
pub struct PartNumber(u32);

impl Scalar for PartNumber {
    fn schema() -> MetaSchema {
        MetaSchema {
            minimum: Some(1.0),
            maximum: Some(10_000.0),
            ..MetaSchema::new_with_format("integer", "int32")
        }
    }

    fn parse_value(value: &Value) -> Result<Self, String> {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.map(PartNumber).ok_or_else(|| "expected a whole number".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::from(self.0)
    }
}

impl_scalar!(PartNumber);

/// A zip to upload.
#[derive(Debug, Object)]
pub struct UploadIn {
    /// Name of the file.
    file_name: MaybeInvalid<FileName>,
    /// Size of the zip in bytes. Up to 100 MB (100,000,000 bytes) are sent in one piece, more in parts.
    #[oai(validator(minimum(value = "22"), maximum(value = "5000000000000")))]
    size_bytes: MaybeInvalid<i64>,
    /// Content type of the file. Any type is accepted, but the file must be a zip.
    content_type: MaybeInvalid<ContentType>,
    /// SHA-256 digest of the zip, 64 lowercase hexadecimal digits. If set, the complete upload must match it.
    sha256: Option<Sha256Digest>,
}

/// The parts to get URLs for.
#[derive(Debug, Object)]
pub struct PartsIn {
    /// ID of the upload, from its plan.
    upload_id: MaybeInvalid<Uuid>,
    /// Numbers of the parts that need a URL; may be empty to only list the received parts.
    #[oai(validator(max_items = 1000))]
    part_numbers: MaybeInvalid<Vec<MaybeInvalid<PartNumber>>>,
}

/// A part that was uploaded.
#[derive(Debug, Object)]
pub struct PartIn {
    /// Number of the part, starting at 1.
    part_number: MaybeInvalid<PartNumber>,
    /// `ETag` header of the response to the PUT request of the part, with or without quotes.
    etag: MaybeInvalid<PartETag>,
}

/// An upload to complete.
#[derive(Debug, Object)]
pub struct CompleteIn {
    /// ID of the upload, from its plan.
    upload_id: MaybeInvalid<Uuid>,
    /// All parts of the upload. Only for an upload in one piece, they can be omitted.
    #[oai(validator(max_items = 10_000))]
    parts: Omittable<Vec<MaybeInvalid<PartIn>>>,
}

impl UploadIn {
    /// Returns the file to upload, unless a part of its description is invalid.
    fn into_file(self) -> Option<FileInput> {
        Some(FileInput {
            file_name: self.file_name.0?.0,
            size_bytes: self.size_bytes.0?.unsigned_abs(),
            sha256: self.sha256.map(String::from),
        })
    }
}

impl PartIn {
    /// Returns the number and the ETag without quotes.
    fn into_numbered_etag(part: MaybeInvalid<PartIn>) -> StatedPart {
        let Some(part) = part.0 else { return (None, None) };
        let etag = part.etag.0.map(|etag| etag.0.trim_matches('"').to_owned());
        (part.part_number.0.map(|number| number.0), etag)
    }
}

/// Plan of an upload in one piece.
#[derive(Debug, Object, Serialize)]
pub struct SinglePlan {
    /// ID of the upload.
    pub upload_id: Uuid,
    /// HTTP method to send the zip with.
    pub method: EnumValue<UploadMethod>,
    /// Signed URL to send the zip to.
    pub url: String,
    /// Headers to send with the request, by name.
    pub headers: BTreeMap<String, String>,
    /// Time at which the URL expires.
    pub expires_at: UtcTime,
}

/// Plan of an upload in several parts.
#[derive(Debug, Object, Serialize)]
pub struct MultipartPlan {
    /// ID of the upload.
    pub upload_id: Uuid,
    /// Size of each part except the last, in bytes.
    pub part_size_bytes: u64,
    /// Number of parts.
    pub part_count: u32,
    /// The parts, in order.
    pub parts: Vec<PartAddress>,
    /// Time at which the URLs of the parts expire.
    pub expires_at: UtcTime,
}

/// Plan of an upload: in one piece or in several parts.
#[derive(Debug, Union, Serialize)]
#[oai(discriminator_name = "mode", one_of)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum UploadPlan {
    /// The zip is sent in one piece.
    #[oai(mapping = "single")]
    Single(SinglePlan),
    /// The zip is sent in several parts.
    #[oai(mapping = "multipart")]
    Multipart(MultipartPlan),
}

/// URLs for parts of an upload, and the parts received so far.
#[derive(Debug, Object, Serialize)]
pub struct UploadParts {
    /// ID of the upload.
    pub upload_id: Uuid,
    /// New URLs for the requested parts.
    pub parts: Vec<PartAddress>,
    /// Parts received so far, in order of their numbers, so that a client can resume the upload.
    pub received: Vec<ReceivedPart>,
}

impl UploadPlan {
    fn new(upload: &Upload, addresses: Vec<(u32, PresignedUrl)>) -> Result<UploadPlan, Error> {
        let mut parts: Vec<PartAddress> = addresses.into_iter().map(PartAddress::from).collect();
        let expires_at =
            parts.first().map(|part| part.expires_at).ok_or_else(|| Error::internal("no parts"))?;
        Ok(if upload.layout.is_single() {
            let PartAddress { url, headers, expires_at, .. } = parts.remove(0);
            UploadPlan::Single(SinglePlan {
                upload_id: upload.id,
                method: EnumValue(UploadMethod::Put),
                url,
                headers,
                expires_at,
            })
        } else {
            UploadPlan::Multipart(MultipartPlan {
                upload_id: upload.id,
                part_size_bytes: upload.layout.part_bytes,
                part_count: upload.layout.part_count(),
                parts,
                expires_at,
            })
        })
    }
}

/// The attributes of all operations on the upload under a grant.
const CHANGE_OF_UPLOAD: RouteAttributes =
    RouteAttributes::change(Contract::new(Target::UploadGrant)).with_budget(Budget::Uploads);

#[routes(prefix = "/v2/vendor/uploads", tag = Uploads)]
impl UploadsApi {
    /// Plan an upload
    ///
    /// Returns where to send a zip of the given size under a grant: in one piece, or in parts. Repeating the
    /// request with the same size returns the same plan with new URLs; once bytes have arrived, another size
    /// is rejected. Each URL accepts a PUT request for one hour.
    #[post("/grants/{token}", CHANGE_OF_UPLOAD)]
    async fn plan_upload(
        call: Call<Vendor>,
        /// Token of the grant.
        #[oai(validator(min_length = 1, max_length = 128))]
        token: Path<String>,
        link_base: LinkBaseUrl,
        idempotent: Idempotent,
        #[example(json!({
                        "file_name": "billing-core.zip",
                        "size_bytes": 48_213_004,
                        "content_type": "application/zip",
                        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    }))]
        body: Body<UploadIn>,
    ) -> JsonResult<UploadPlan> {
        let (vendor, token) = (call.access, token.0);
        let (checked_token, size) = (token.clone(), body.value.size_bytes.0.map(i64::unsigned_abs));
        let file = body.value.into_file();
        let prepare = move |market: &Market, vendor: &Vendor, problems: Problems| {
            let file = upload_requests::check_plan(market, vendor, &checked_token, (file, size), problems)?;
            let prepared = grant_uploads::prepare(market, vendor, &checked_token, &file)?;
            Ok((file, prepared))
        };
        let (market, base_url) = (call.served.market().clone(), link_base.0);
        let plan = move |writer: &mut Writer, vendor: &Vendor, prepared: &(FileInput, PreparedUpload)| {
            let (file, prepared) = prepared;
            let upload = grant_uploads::plan(&market, writer, vendor, &token, file.clone(), prepared)?;
            let numbers = 1..=upload.layout.part_count();
            UploadPlan::new(&upload, grant_uploads::part_urls(&market, &base_url, &upload, numbers)?)
        };
        let finish = |market: &Market, (_, prepared): (FileInput, PreparedUpload)| {
            grant_uploads::finish_plan(market, prepared);
        };
        idempotent.prepare_and_write(&call.served, vendor, body.source, prepare, plan, finish).await
    }

    /// Get the parts of an upload
    ///
    /// Returns new URLs for the requested parts, and the parts received so far, so that a client can resume
    /// an interrupted upload.
    #[post("/grants/{token}/parts", CHANGE_OF_UPLOAD.without_change())]
    async fn get_upload_parts(
        call: Call<Vendor>,
        /// Token of the grant.
        #[oai(validator(min_length = 1, max_length = 128))]
        token: Path<String>,
        link_base: LinkBaseUrl,
        _idempotent: Idempotent,
        #[example(json!({
            "upload_id": "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11",
            "part_numbers": [1],
        }))]
        body: Body<PartsIn>,
    ) -> JsonResult<UploadParts> {
        let PartsIn { upload_id, part_numbers } = body.value;
        let numbers = part_numbers.0.unwrap_or_default().into_iter();
        let numbers: Vec<Option<u32>> = numbers.map(|number| number.0.map(|number| number.0)).collect();
        let base_url = link_base.0;
        let problems = body.source.problems();
        let found = call.served.market().spawn_blocking(move |market| {
            let (vendor, token) = (&call.access, &token.0);
            let requested = (upload_id.0, numbers.as_slice());
            let (upload_id, numbers) =
                upload_requests::check_parts(market, vendor, token, requested, problems)?;
            let (upload, received) = grant_uploads::upload_in_progress(market, vendor, token, upload_id)?;
            let count = upload.layout.part_count();
            upload_requests::check_part_numbers(numbers.iter().copied().map(Some), count)?;
            let parts = grant_uploads::part_urls(market, &base_url, &upload, numbers)?;
            Json::<UploadParts>::render(&UploadParts {
                upload_id,
                parts: parts.into_iter().map(PartAddress::from).collect(),
                received: received.into_iter().map(ReceivedPart::from).collect(),
            })
        });
        Ok(Json::from_bytes(body.source.sort_problems(&call.served, found.await).await?))
    }

    /// Complete an upload
    ///
    /// Joins the parts, verifies size and digest of the zip, creates a codebase from it and consumes the
    /// grant. If a part is missing, is not listed, or differs, the upload is kept: send that part again, then
    /// repeat this request. If the digest differs, upload the whole zip again.
    #[post("/grants/{token}/complete", CHANGE_OF_UPLOAD.with_conflicts(&[Code::PartsMissing]))]
    async fn complete_upload(
        call: Call<Vendor>,
        /// Token of the grant.
        #[oai(validator(min_length = 1, max_length = 128))]
        token: Path<String>,
        idempotent: Idempotent,
        #[example(json!({
                        "upload_id": "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11",
                        "parts": [{"part_number": 1, "etag": "\"99aa06d3014798d86001c324468d497f\""}],
                    }))]
        body: Body<CompleteIn>,
    ) -> JsonResult<Codebase> {
        let token = token.0;
        let CompleteIn { upload_id, parts } = body.value;
        let parts = parts.0.unwrap_or_default().into_iter().map(PartIn::into_numbered_etag).collect();
        let checked_token = token.clone();
        let prepare = move |market: &Market, vendor: &Vendor, problems: Problems| {
            let (token, stated) = (&checked_token, (upload_id.0, parts));
            let (upload, parts) = upload_requests::check_completion(market, vendor, token, stated, problems)?;
            Ok((upload, grant_uploads::join(market, vendor, token, upload, &parts)?))
        };
        let base_url = call.served.base_url().to_owned();
        let complete = move |writer: &mut Writer, vendor: &Vendor, joined: &(Uuid, Option<JoinedUpload>)| {
            let (upload, joined) = (joined.0, joined.1.as_ref());
            let asset = grant_uploads::complete(writer, vendor, &token, &base_url, upload, joined)?;
            Ok(Codebase::from(&asset))
        };
        let finish = |market: &Market, (_, joined)| grant_uploads::finish_completion(market, joined);
        idempotent.prepare_and_write(&call.served, call.access, body.source, prepare, complete, finish).await
    }
}
