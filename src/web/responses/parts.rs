//! Bodies that are read while they are sent, one part after another, so that no more than a part of each is in memory.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt};

use bytes::Bytes;
use futures_util::stream;
use poem::Body;
use tokio::task::{JoinHandle, spawn_blocking};

/// Returns a body with a range of bytes. `read` begins to read a part at the start of a range, which has at least one byte. The
/// body ends with the first failure. `held` is kept until then.
///
/// The length of the body belongs in the header of the response. It is not in the size hint, so that no layer mistakes the body
/// for one in memory.
pub fn body(
    range: Range<u64>,
    held: impl Send + 'static,
    read: impl Fn(Range<u64>) -> JoinHandle<io::Result<Bytes>> + Send + 'static,
) -> Body {
    let parts = stream::unfold((range, held, read), |(range, held, read)| async move {
        if range.is_empty() {
            return None;
        }
        let reading = read(range.clone());
        let part = reading.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let start = part.as_ref().map_or(range.end, |part| range.start + part.len() as u64);
        Some((part, (start..range.end, held, read)))
    });
    Body::from_bytes_stream(parts)
}

/// Like [`body`], with the first `length` bytes of a file, of which at most `part_bytes` are read at a time.
pub fn file_body(
    file: impl AsRef<File> + Clone + Send + 'static,
    length: u64,
    part_bytes: u64,
    held: impl Send + 'static,
) -> Body {
    body(0..length, held, move |range| {
        let file = file.clone();
        spawn_blocking(move || {
            let mut part = vec![0; part_bytes.min(range.end - range.start) as usize];
            file.as_ref().read_exact_at(&mut part, range.start)?;
            Ok(Bytes::from(part))
        })
    })
}
