//! The received bytes of an upload: its parts, or one file after the parts were joined.

use std::io;

use super::{Blobs, UploadedPart};
use crate::domain::uploads::{PartLayout, Upload};

/// The received bytes of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceivedBytes {
    /// The received parts, ordered by part number; empty if nothing was received.
    Parts(Vec<UploadedPart>),
    /// All parts, which were joined into a file. The steps after the join can be repeated if they failed.
    Joined,
}

impl ReceivedBytes {
    /// Returns the parts, ordered by part number. `joined_etags` are the entity tags of the parts of a joined file, in the same
    /// order. Unknown tags are empty.
    pub fn parts(&self, layout: PartLayout, joined_etags: Vec<String>) -> Vec<UploadedPart> {
        let parts = match self {
            ReceivedBytes::Parts(parts) => return parts.clone(),
            ReceivedBytes::Joined => 1..=layout.part_count(),
        };
        let etags = joined_etags.into_iter().chain(std::iter::repeat_with(String::new));
        let part = |(part_number, etag)| {
            let (_, size_bytes) = layout.part(part_number)?;
            Some(UploadedPart { part_number, etag, size_bytes })
        };
        parts.zip(etags).filter_map(part).collect()
    }
}

impl Blobs {
    /// Returns the received bytes of an upload, or `None` if an S3-compatible store no longer has the upload and accepts no more
    /// bytes.
    pub fn received_bytes(&self, upload: &Upload) -> io::Result<Option<ReceivedBytes>> {
        // Read before the file, since another request may join the parts in between.
        let parts = match &self.s3 {
            Some(s3) => s3.received_parts(upload)?,
            None => Some(self.staging.received_parts(upload.id)?),
        };
        // This server refuses parts of a joined upload. An S3-compatible store accepts an upload in one piece again while its
        // signed URL is valid. A part in the store is then newer than the file.
        let is_newer = self.s3.is_some() && parts.as_ref().is_some_and(|parts| !parts.is_empty());
        if !is_newer && self.is_joined(upload)? {
            return Ok(Some(ReceivedBytes::Joined));
        }
        Ok(parts.map(ReceivedBytes::Parts))
    }

    /// Whether the parts of an upload were joined.
    pub fn is_joined(&self, upload: &Upload) -> io::Result<bool> {
        Ok(self.upload_size(upload.id)? == Some(upload.layout.size_bytes))
    }

    /// Whether an S3-compatible store no longer has an upload.
    pub fn is_dropped(&self, upload: &Upload) -> io::Result<bool> {
        // Only a multipart upload exists in the store before its first byte.
        Ok(upload.store_upload_id.is_some() && self.received_bytes(upload)?.is_none())
    }
}
