//! Uploads under a grant: where the parts of a zip are sent, and what it becomes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use poem::web::Data;
use poem_openapi::{Object, OpenApi, Union, param::Path, registry::MetaSchema};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::codebases::shapes::Codebase;
use crate::{
    blobs::{Address, Received},
    domain::{uploads::Upload, vocabulary::vocabulary},
    error::{Error, Problem},
    market::Market,
    operations::{
        access::Vendor,
        grants::{self, FileIn},
    },
    rest::{
        App,
        auth::Access,
        bodies::{Body, Given},
        once::Once,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::{
            UtcTime,
            scalars::{Scalar, scalar},
            texts::{ContentType, FileName, PartTag, Sha256Digest},
        },
        vocabulary::Word,
    },
};

vocabulary! {
    /// How a piece is sent.
    UploadMethod {
        /// As the body of a PUT.
        Put = "PUT",
    }
}

/// The number of a part.
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

    fn read(value: &Value) -> Result<Self, String> {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.map(PartNumber).ok_or_else(|| "the number of a part is a whole number".to_owned())
    }

    fn write(&self) -> Value {
        Value::from(self.0)
    }
}

scalar!(PartNumber);

/// A zip that is to be uploaded.
#[derive(Debug, Object)]
pub struct UploadIn {
    /// What the file is called.
    file_name: FileName,
    /// Its size. Up to 100 MB go in one piece, more in parts.
    #[oai(validator(minimum(value = "22"), maximum(value = "5000000000000")))]
    size_bytes: i64,
    /// What it is; zips are taken whatever they are called.
    content_type: ContentType,
    /// Its SHA-256 digest in hexadecimal, which the zip is held against when it is whole.
    sha256: Option<Sha256Digest>,
}

/// Which parts are asked for.
#[derive(Debug, Object)]
pub struct PartsIn {
    /// The upload.
    upload_id: Uuid,
    /// Parts whose addresses are wanted; none for only learning what was received.
    #[oai(validator(max_items = 1000))]
    part_numbers: Vec<PartNumber>,
}

/// A part that was sent, as it was answered.
#[derive(Debug, Object)]
pub struct PartIn {
    /// Its number.
    part_number: PartNumber,
    /// The `ETag` that sending it was answered with.
    etag: PartTag,
}

/// An upload that is to be put together.
#[derive(Debug, Object)]
pub struct CompleteIn {
    /// The upload.
    upload_id: Uuid,
    /// Every part that was sent. An upload of one piece may leave it out.
    #[oai(validator(max_items = 10_000))]
    parts: Given<Vec<PartIn>>,
}

/// Where a zip of one piece is sent.
#[derive(Debug, Object, Serialize)]
pub struct SinglePlan {
    /// The upload.
    pub upload_id: Uuid,
    /// The method.
    pub method: Word<UploadMethod>,
    /// The address, which is signed.
    pub url: String,
    /// Headers that go with it.
    pub headers: BTreeMap<String, String>,
    /// Until when the address counts.
    pub expires_at: UtcTime,
}

/// Where a zip of many parts is sent.
#[derive(Debug, Object, Serialize)]
pub struct MultipartPlan {
    /// The upload.
    pub upload_id: Uuid,
    /// Bytes of each part but the last.
    pub part_size_bytes: u64,
    /// How many parts there are.
    pub part_count: u32,
    /// The parts, in order.
    pub parts: Vec<PartAddress>,
    /// Until when their addresses count.
    pub expires_at: UtcTime,
}

/// Where a part is sent.
#[derive(Debug, Object, Serialize)]
pub struct PartAddress {
    /// Its number, from 1.
    pub part_number: u32,
    /// The address, which is signed.
    pub url: String,
    /// Headers that go with it.
    pub headers: BTreeMap<String, String>,
    /// Until when the address counts.
    pub expires_at: UtcTime,
}

/// How a zip is sent.
#[derive(Debug, Union, Serialize)]
#[oai(discriminator_name = "mode", one_of)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum UploadPlan {
    /// In one piece.
    #[oai(mapping = "single")]
    Single(SinglePlan),
    /// In parts.
    #[oai(mapping = "multipart")]
    Multipart(MultipartPlan),
}

/// A part that was received.
#[derive(Debug, Object, Serialize)]
pub struct ReceivedPart {
    /// Its number.
    pub part_number: u32,
    /// Its tag.
    pub etag: String,
    /// Its size.
    pub size_bytes: u64,
}

/// Parts of an upload.
#[derive(Debug, Object, Serialize)]
pub struct UploadParts {
    /// The upload.
    pub upload_id: Uuid,
    /// Fresh addresses of the parts that were asked for.
    pub parts: Vec<PartAddress>,
    /// The parts that were received, in order, so that a sender can go on where it ended.
    pub received: Vec<ReceivedPart>,
}

impl From<(u32, Address)> for PartAddress {
    fn from((part_number, address): (u32, Address)) -> PartAddress {
        let Address { url, headers, expires_at } = address;
        PartAddress { part_number, url, headers, expires_at: expires_at.into() }
    }
}

impl From<Received> for ReceivedPart {
    fn from(part: Received) -> ReceivedPart {
        let Received { part_number, etag, size_bytes } = part;
        ReceivedPart { part_number, etag, size_bytes }
    }
}

impl UploadPlan {
    fn of(upload: &Upload, addresses: Vec<(u32, Address)>) -> Result<UploadPlan, Error> {
        let mut parts: Vec<PartAddress> = addresses.into_iter().map(PartAddress::from).collect();
        let expires_at =
            parts.first().map(|part| part.expires_at).ok_or_else(|| Error::internal("no part"))?;
        Ok(if upload.split.is_single() {
            let PartAddress { url, headers, expires_at, .. } = parts.remove(0);
            UploadPlan::Single(SinglePlan {
                upload_id: upload.id,
                method: Word(UploadMethod::Put),
                url,
                headers,
                expires_at,
            })
        } else {
            UploadPlan::Multipart(MultipartPlan {
                upload_id: upload.id,
                part_size_bytes: upload.split.part_bytes,
                part_count: upload.split.count(),
                parts,
                expires_at,
            })
        })
    }
}

pub struct UploadsApi;

#[OpenApi(prefix_path = "/v2/vendor/uploads", tag = "super::super::Tag::Uploads")]
impl UploadsApi {
    /// Plan an upload
    ///
    /// Says where a zip of a size is sent under a grant: in one piece, or in parts. The same size is planned the same each
    /// time, with fresh addresses; once bytes of it have come, another size is refused. Each address takes a PUT for an hour.
    #[oai(path = "/grants/:token", method = "post", operation_id = "plan_upload")]
    async fn plan(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// The token of the grant.
        #[oai(validator(min_length = 1, max_length = 128))]
        token: Path<String>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<UploadIn>,
    ) -> Answer<UploadPlan> {
        let UploadIn { file_name, size_bytes, sha256, .. } = body.value;
        let file = FileIn {
            file_name: file_name.0,
            size_bytes: size_bytes.unsigned_abs(),
            sha256: sha256.map(|digest| digest.0),
        };
        let (vendor, digest, token) = (access.0, body.digest, token.0);
        let (asked, wanted, kept) = (token.clone(), file.clone(), Arc::new(Mutex::new(None)));
        let noted = Arc::clone(&kept);
        let prepare = move |market: &Market, vendor: &Vendor| {
            let prepared = grants::prepare(market, vendor, &asked, &wanted)?;
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(prepared.clone());
            Ok(prepared)
        };
        let (market, base_url) = (app.market().clone(), app.base_url().to_owned());
        let answer = once.write_after(&app, vendor, digest, prepare, move |writer, vendor, prepared| {
            let upload = grants::plan(writer, vendor, &token, file, &prepared)?;
            let numbers = 1..=upload.split.count();
            UploadPlan::of(&upload, grants::addresses(&market, &base_url, &upload, numbers)?)
        });
        let answer = answer.await;
        let prepared = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(prepared) = prepared {
            app.market().work(move |market| grants::discard(market, prepared)).await?;
        }
        answer
    }

    /// Parts of an upload
    ///
    /// Fresh addresses of parts, and the parts that were received, so that an upload that was cut off goes on where it ended.
    #[oai(path = "/grants/:token/parts", method = "post", operation_id = "get_upload_parts")]
    async fn parts(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// The token of the grant.
        #[oai(validator(min_length = 1, max_length = 128))]
        token: Path<String>,
        _query: Params<NoParams>,
        _once: Once,
        body: Body<PartsIn>,
    ) -> Answer<UploadParts> {
        let PartsIn { upload_id, part_numbers } = body.value;
        let base_url = app.base_url().to_owned();
        let found = app.market().work(move |market| {
            let (upload, received) = grants::under_way(market, &access.0, &token.0, upload_id)?;
            let count = upload.split.count();
            let numbers: Vec<u32> = part_numbers.into_iter().map(|number| number.0).collect();
            if let Some(number) = numbers.iter().find(|number| **number > count) {
                let msg = format!("There is no part {number}: the upload has {count}.");
                return Err(Error::invalid(Problem::body(&["part_numbers"], "less_than_equal", msg)));
            }
            Ok((grants::addresses(market, &base_url, &upload, numbers)?, received))
        });
        let (parts, received) = found.await?;
        Ok(Raw::of(&UploadParts {
            upload_id,
            parts: parts.into_iter().map(PartAddress::from).collect(),
            received: received.into_iter().map(ReceivedPart::from).collect(),
        }))
    }

    /// Complete an upload
    ///
    /// Puts the parts together, holds the zip against its announced size and digest, makes a codebase of it and ends the
    /// grant. Where a part is missing or another one, nothing is lost: send it, and complete the upload again.
    #[oai(path = "/grants/:token/complete", method = "post", operation_id = "complete_upload")]
    async fn complete(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// The token of the grant.
        #[oai(validator(min_length = 1, max_length = 128))]
        token: Path<String>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<CompleteIn>,
    ) -> Answer<Codebase> {
        let (vendor, digest, token) = (access.0, body.digest, token.0);
        let CompleteIn { upload_id, parts } = body.value;
        let tagged = |part: PartIn| (part.part_number.0, part.etag.0.trim_matches('"').to_owned());
        let parts: Vec<(u32, String)> = parts.0.unwrap_or_default().into_iter().map(tagged).collect();
        let asked = token.clone();
        let prepare =
            move |market: &Market, vendor: &Vendor| grants::join(market, vendor, &asked, upload_id, &parts);
        let base_url = app.base_url().to_owned();
        once.write_after(&app, vendor, digest, prepare, move |writer, vendor, joined| {
            let asset = grants::complete(writer, vendor, &token, &base_url, upload_id, joined.as_ref())?;
            Ok(Codebase::from(&asset))
        })
        .await
    }
}
