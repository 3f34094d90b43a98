//! Receives forms with a file, as browsers send them: the texts of their fields, and the file, which is written to disk as it
//! arrives.

use std::{
    fs::File,
    io::{self, Seek, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::Poll,
};

use bytes::Bytes;
use futures_util::{Stream, stream};
use http_body_util::combinators::BoxBody;
use multer::{Constraints, Field, Multipart, SizeLimit};
use poem::Request;

use super::{body::WRITE_BYTES, part_uploads};
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

/// Memory that is counted for each byte of a text: the byte itself, and the values that are parsed from it.
const MEMORY_PER_BYTE: u64 = 3;

/// Maximum number of bytes in memory from which the parser has not read anything, such as the head of a field.
const UNREAD_BYTES: u64 = 64 << 10;

/// Memory that a field takes besides its name and its text.
const FIELD_BYTES: u64 = 64;

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
    let max_bytes = limits.file_bytes + limits.text_bytes + FRAME_BYTES;
    let body: BoxBody<Bytes, io::Error> = body.into();
    let chunks = Chunks::new(body, &market.settings().server.connections(), None);
    let length = chunks.remaining_bytes();
    if length > max_bytes {
        return Err(Error::PayloadTooLarge { max_bytes: limits.file_bytes });
    }
    if let Some(transfers) = transfers {
        let text_bytes = if length > 0 { limits.text_bytes.min(length) } else { limits.text_bytes };
        let mut memory = transfers.memory();
        memory.grow(2 * WRITE_BYTES + MEMORY_PER_BYTE * text_bytes).await?;
        transfers.keep(memory);
    }
    let stream = stream::unfold(chunks, |mut chunks| async {
        let chunk = match chunks.next().await {
            Ok(chunk) => Ok(chunk?),
            Err(_) => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        };
        Some((chunk, chunks))
    });
    let sizes = SizeLimit::new().whole_stream(max_bytes);
    let unread = Arc::new(Unread::default());
    let stream = Unread::limit(&unread, stream);
    let constraints = Constraints::new().size_limit(sizes);
    let multipart = Multipart::with_constraints(stream, boundary, constraints);
    let received = Slot::release_during(request, collect(market, multipart, &unread, limits)).await??;
    drop(slot);
    Ok(received)
}

/// The bytes of a form that have arrived since the parser last read something. Without a limit, a field head that never ends
/// would be kept in memory up to the size of a file.
#[derive(Debug, Default)]
struct Unread {
    bytes: AtomicU64,
    /// Whether the parser was asked to read what it has, before it gets more.
    has_paused: AtomicBool,
}

impl Unread {
    /// Passes more of a stream to a parser only after the parser has read most of the earlier bytes.
    fn limit<E: From<io::Error>>(
        unread: &Arc<Unread>,
        stream: impl Stream<Item = std::result::Result<Bytes, E>> + Send,
    ) -> impl Stream<Item = std::result::Result<Bytes, E>> + Send {
        let (unread, mut stream) = (Arc::clone(unread), Box::pin(stream));
        stream::poll_fn(move |context| {
            if unread.bytes.load(Ordering::Relaxed) > UNREAD_BYTES {
                if unread.has_paused.swap(true, Ordering::Relaxed) {
                    return Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::InvalidData).into())));
                }
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let polled = stream.as_mut().poll_next(context);
            if let Poll::Ready(Some(Ok(chunk))) = &polled {
                unread.bytes.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            }
            polled
        })
    }

    /// Says that something was read.
    fn reset(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.has_paused.store(false, Ordering::Relaxed);
    }
}

async fn collect(
    market: &Market,
    mut multipart: Multipart<'_>,
    unread: &Unread,
    limits: FormLimits,
) -> Result<FormWithFile> {
    let mut form = FormWithFile::default();
    let (mut text_bytes, mut has_file) = (0, false);
    while let Some(mut field) = multipart.next_field().await.map_err(|error| form_error(&error, limits))? {
        unread.reset();
        if let Some(file_name) = field.file_name() {
            let name = file_name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
            if has_file {
                return Err(malformed("Choose one file."));
            }
            has_file = true;
            let file = receive_file(market, field, name, (unread, limits)).await?;
            form.file = Some(file).filter(|file| !file.name.is_empty() || file.size_bytes > 0);
            continue;
        }
        let name = field.name().unwrap_or_default().to_owned();
        let mut text = Vec::new();
        text_bytes += FIELD_BYTES + name.len() as u64;
        if text_bytes > limits.text_bytes + FRAME_BYTES {
            return Err(Error::PayloadTooLarge { max_bytes: limits.text_bytes });
        }
        while let Some(chunk) = field.chunk().await.map_err(|error| form_error(&error, limits))? {
            unread.reset();
            text_bytes += chunk.len() as u64;
            if text_bytes > limits.text_bytes + FRAME_BYTES {
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
    (unread, limits): (&Unread, FormLimits),
) -> Result<ReceivedFile> {
    let mut content =
        market.spawn_blocking(|market| market.blobs().temporary_file().map_err(Error::internal)).await?;
    let (mut size_bytes, mut buffer) = (0, Vec::new());
    while let Some(chunk) = field.chunk().await.map_err(|error| form_error(&error, limits))? {
        unread.reset();
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

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    /// Returns how many bytes a parser took of a form that goes on with `filler` after its beginning, and whether it failed.
    async fn take(beginning: &str, filler: &'static str) -> (u64, bool) {
        let taken = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&taken);
        let first = Bytes::from(beginning.to_owned());
        let chunks = stream::iter([first]).chain(stream::repeat(Bytes::from_static(filler.as_bytes())));
        let chunks = chunks.take(10_000).map(move |chunk| {
            count.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            Ok::<_, io::Error>(chunk)
        });
        let unread = Arc::new(Unread::default());
        let mut multipart = Multipart::new(Unread::limit(&unread, chunks), "x");
        loop {
            unread.reset();
            let mut field = match multipart.next_field().await {
                Ok(Some(field)) => field,
                ended => return (taken.load(Ordering::Relaxed), ended.is_err()),
            };
            loop {
                unread.reset();
                match field.chunk().await {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(_) => return (taken.load(Ordering::Relaxed), true),
                }
            }
        }
    }

    #[tokio::test]
    async fn what_never_ends_is_not_kept() {
        const CHUNK: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        let (taken, has_failed) = take("--x\r\nContent-Disposition: form-data; name=\"", CHUNK).await;
        assert!(has_failed && taken < 2 * UNREAD_BYTES, "{taken} bytes of the head of a field");
        let (taken, has_failed) = take("no form", CHUNK).await;
        assert!(has_failed && taken < 3 * UNREAD_BYTES, "{taken} bytes before the first field");
        let field = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n";
        assert!(take(field, CHUNK).await.0 > 900_000, "a long text is read");
    }
}
