//! Parts of uploads: where they are sent, and which have arrived.

use std::collections::BTreeMap;

use poem_openapi::Object;
use serde::Serialize;

use super::UtcTime;
use crate::blobs::{PresignedUrl, UploadedPart};

/// Signed URL of one part of an upload.
#[derive(Debug, Object, Serialize)]
pub struct PartAddress {
    /// Number of the part, starting at 1.
    pub part_number: u32,
    /// Signed URL to PUT the part to.
    pub url: String,
    /// Headers to send with the request, by name.
    pub headers: BTreeMap<String, String>,
    /// Time at which the URL expires.
    pub expires_at: UtcTime,
}

/// A part that the server has received.
#[derive(Debug, Object, Serialize)]
pub struct ReceivedPart {
    /// Number of the part, starting at 1.
    pub part_number: u32,
    /// ETag of the part in quotes, needed to complete the upload; empty if the store does not report it.
    pub etag: String,
    /// Size of the part in bytes.
    pub size_bytes: u64,
}

impl From<(u32, PresignedUrl)> for PartAddress {
    fn from((part_number, address): (u32, PresignedUrl)) -> PartAddress {
        let PresignedUrl { url, headers, expires_at } = address;
        PartAddress { part_number, url, headers, expires_at: expires_at.into() }
    }
}

impl From<UploadedPart> for ReceivedPart {
    fn from(part: UploadedPart) -> ReceivedPart {
        let UploadedPart { part_number, etag, size_bytes } = part;
        let etag = if etag.is_empty() { etag } else { format!("\"{etag}\"") };
        ReceivedPart { part_number, etag, size_bytes }
    }
}
