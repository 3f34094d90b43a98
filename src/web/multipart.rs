//! Receives forms with a file, as browsers send them: the texts of their fields, and the file, which is written to disk as it
//! arrives.

use std::{
    fs::File,
    io::{Seek, Write},
};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use multer::{Constraints, Field, Multipart, SizeLimit};
use poem::Request;

use super::part_uploads::{self, WRITE_BYTES};
use crate::{
    error::{Error, Result},
    http_server::chunks::Chunks,
    market::Market,
    web::shares::{
        capacity::Slot,
        transfer_limits::{self, RequestTransfers},
    },
};

/// Maximum number of bytes of a form besides its texts and its file.
const FRAME_BYTES: u64 = 64 << 10;

/// Limits of a form.
#[derive(Clone, Copy, Debug)]
pub struct FormLimits {
    /// Maximum number of bytes of all texts.
    pub text_bytes: u64,
    /// Maximum number of bytes of the file.
    pub file_bytes: u64,
}

/// A form with a file.
#[derive(Debug, Default)]
pub struct FormWithFile {
    /// Names and texts of the fields, in their order.
    pub fields: Vec<(String, String)>,
    /// The file, if one was chosen.
    pub file: Option<ReceivedFile>,
}

/// A file of a form.
#[derive(Debug)]
pub struct ReceivedFile {
    /// Name of the file, without a directory.
    pub name: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its content, at the start. It is deleted when it is closed.
    pub content: File,
}

/// Receives a form with at most one file. The request may take any time while its data keeps arriving.
pub async fn receive(
    market: &Market,
    request: &Request,
    body: poem::Body,
    limits: FormLimits,
) -> Result<FormWithFile> {
    let boundary = multer::parse_boundary(request.content_type().unwrap_or_default()).map_err(|_| {
        malformed("This is not a form of a page. Open the page of this market, and send the form from there.")
    })?;
    part_uploads::allow_any_time(request);
    let transfers = transfer_limits::of_request(request);
    let slot = transfers.map(RequestTransfers::body_slot).transpose()?;
    if let Some(transfers) = transfers {
        transfers.keep_more(2 * WRITE_BYTES + limits.text_bytes).await?;
    }
    let max_bytes = limits.file_bytes + limits.text_bytes + FRAME_BYTES;
    let body: BoxBody<Bytes, std::io::Error> = body.into();
    let chunks = Chunks::new(body, &market.settings().server.connections(), None);
    if chunks.remaining_bytes() > max_bytes {
        return Err(Error::PayloadTooLarge { max_bytes });
    }
    let stream = stream::unfold(chunks, |mut chunks| async {
        let chunk = match chunks.next().await {
            Ok(chunk) => Ok(chunk?),
            Err(_) => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
        };
        Some((chunk, chunks))
    });
    let sizes = SizeLimit::new().whole_stream(max_bytes);
    let multipart =
        Multipart::with_constraints(Box::pin(stream), boundary, Constraints::new().size_limit(sizes));
    let received = Slot::release_during(request, collect(market, multipart, limits)).await??;
    drop(slot);
    Ok(received)
}

async fn collect(market: &Market, mut multipart: Multipart<'_>, limits: FormLimits) -> Result<FormWithFile> {
    let mut form = FormWithFile::default();
    let mut text_bytes = 0;
    while let Some(mut field) = multipart.next_field().await.map_err(|error| form_error(&error, limits))? {
        if let Some(file_name) = field.file_name() {
            let name = file_name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
            if form.file.is_some() {
                return Err(malformed("Choose one file."));
            }
            let file = receive_file(market, field, name, limits).await?;
            form.file = Some(file).filter(|file| !file.name.is_empty() || file.size_bytes > 0);
            continue;
        }
        let name = field.name().unwrap_or_default().to_owned();
        let mut text = Vec::new();
        while let Some(chunk) = field.chunk().await.map_err(|error| form_error(&error, limits))? {
            text_bytes += chunk.len() as u64;
            if text_bytes > limits.text_bytes {
                return Err(Error::PayloadTooLarge { max_bytes: limits.text_bytes });
            }
            text.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(text)
            .map_err(|_| malformed("The form cannot be read. Send it from the page again."))?;
        form.fields.push((name, text));
    }
    Ok(form)
}

/// Writes a file to disk as it arrives.
async fn receive_file(
    market: &Market,
    mut field: Field<'_>,
    name: String,
    limits: FormLimits,
) -> Result<ReceivedFile> {
    let mut content =
        market.spawn_blocking(|market| market.blobs().temporary_file().map_err(Error::internal)).await?;
    let (mut size_bytes, mut buffer) = (0, Vec::new());
    while let Some(chunk) = field.chunk().await.map_err(|error| form_error(&error, limits))? {
        size_bytes += chunk.len() as u64;
        if size_bytes > limits.file_bytes {
            return Err(Error::PayloadTooLarge { max_bytes: limits.file_bytes });
        }
        buffer.extend_from_slice(&chunk);
        if buffer.len() as u64 >= WRITE_BYTES {
            (content, buffer) = write(market, content, buffer).await?;
        }
    }
    let (mut content, _) = write(market, content, buffer).await?;
    content.rewind().map_err(Error::internal)?;
    Ok(ReceivedFile { name, size_bytes, content })
}

/// Writes a buffer to a file, and returns it empty.
async fn write(market: &Market, mut file: File, mut buffer: Vec<u8>) -> Result<(File, Vec<u8>)> {
    let write = move |market: &Market| {
        let _reservation = market.reserve_space(buffer.len() as u64)?;
        file.write_all(&buffer).map_err(Error::internal)?;
        buffer.clear();
        Ok((file, buffer))
    };
    market.spawn_blocking(write).await
}

fn form_error(error: &multer::Error, limits: FormLimits) -> Error {
    match error {
        multer::Error::StreamSizeExceeded { .. } | multer::Error::FieldSizeExceeded { .. } => {
            Error::PayloadTooLarge { max_bytes: limits.file_bytes }
        }
        _ => malformed("The form did not arrive completely. Send it from the page again."),
    }
}

fn malformed(message: &str) -> Error {
    Error::Malformed(message.to_owned())
}
