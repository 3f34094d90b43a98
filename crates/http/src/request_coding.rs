//! Decodes the content codings of request bodies (RFC 9110, section 8.4): gzip, as it arrives. Reading a body in another
//! coding fails.
//!
//! Limits on size, memory, and time apply to the decoded bytes, which are produced only as far as they are read.

use std::{
    io::{self, Write},
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use flate2::write::MultiGzDecoder;
use futures_util::stream;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{StreamBody, combinators::BoxBody};
use poem::{
    Body, Request,
    http::{HeaderMap, header},
};

use crate::{Refusal, coding::Coding};

type InnerBody = BoxBody<Bytes, io::Error>;

/// Memory in bytes of a decoder: its buffer, the window of 32 KB, and its tables.
pub const DECODER_BYTES: usize = 96 << 10;

/// Data of a request whose body is decoded.
#[derive(Clone, Copy, Debug)]
pub struct IsDecoded;

/// Replaces the body of a request by its decoded content, as its `Content-Encoding` says. Afterwards, no header describes
/// the encoded body.
///
/// This never fails, so that other problems of the request are reported first.
pub fn decode_body(request: &mut Request) {
    if !request.headers().contains_key(header::CONTENT_ENCODING) {
        return;
    }
    let codings = codings(request.headers());
    let body: InnerBody = request.take_body().into();
    let body = match codings.as_deref() {
        _ if body.is_end_stream() => body,
        Some([]) => body,
        Some([coding]) if is_gzip(coding) => {
            request.set_data(IsDecoded);
            BoxBody::new(GzipBody::new(body))
        }
        Some(codings) => unsupported(&codings.join(", ")),
        None => unsupported("not ASCII"),
    };
    request.set_body(Body::from(body));
    let headers = request.headers_mut();
    headers.remove(header::CONTENT_ENCODING);
    if codings.is_none_or(|codings| !codings.is_empty()) {
        headers.remove(header::CONTENT_LENGTH);
    }
}

/// Returns the codings of a body in lower case, in the order in which they were applied, without `identity`. Returns none
/// if the header is not text.
fn codings(headers: &HeaderMap) -> Option<Vec<String>> {
    let mut codings = Vec::new();
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let names = value.to_str().ok()?.split(',').map(|name| name.trim().to_ascii_lowercase());
        codings.extend(names.filter(|name| !name.is_empty() && name != "identity"));
    }
    Some(codings)
}

/// Whether this is the name of gzip, or its former one (RFC 9110, section 8.4.1.3).
fn is_gzip(coding: &str) -> bool {
    coding == Coding::Gzip.name() || coding == "x-gzip"
}

/// Returns a body that cannot be read because of its codings.
fn unsupported(codings: &str) -> InnerBody {
    let error = io::Error::other(Refusal::UnsupportedCoding(codings.to_owned()));
    BoxBody::new(StreamBody::new(stream::iter([Err(error)])))
}

/// A body that decodes the gzip members of another one.
struct GzipBody {
    encoded: InnerBody,
    /// What arrived and is not decoded.
    rest: Bytes,
    decoder: Decoder,
}

enum Decoder {
    /// Nothing has arrived, so there is none yet.
    Unused,
    /// Writes what it decodes into memory.
    Decoding(Box<MultiGzDecoder<Vec<u8>>>),
    /// The body has ended.
    Ended,
}

impl GzipBody {
    fn new(encoded: InnerBody) -> GzipBody {
        GzipBody { encoded, rest: Bytes::new(), decoder: Decoder::Unused }
    }

    /// Decodes as much of the received data as fits into the decoder's buffer of 32 KB.
    fn decode(&mut self) -> io::Result<Bytes> {
        if matches!(self.decoder, Decoder::Unused) {
            self.decoder = Decoder::Decoding(Box::new(MultiGzDecoder::new(Vec::new())));
        }
        let Decoder::Decoding(decoder) = &mut self.decoder else { return Ok(Bytes::new()) };
        let count = decoder.write(&self.rest).map_err(not_gzip)?;
        if count == 0 && decoder.get_ref().is_empty() {
            return Err(not_gzip("the decoder takes no more"));
        }
        self.rest.advance(count);
        Ok(std::mem::take(decoder.get_mut()).into())
    }

    /// Returns the rest of the decoded data. Fails if the last member is not complete.
    fn finish(&mut self) -> io::Result<Bytes> {
        match std::mem::replace(&mut self.decoder, Decoder::Ended) {
            Decoder::Decoding(decoder) => decoder.finish().map(Bytes::from).map_err(not_gzip),
            Decoder::Unused => Err(not_gzip("it is empty")),
            Decoder::Ended => Ok(Bytes::new()),
        }
    }
}

/// Returns the error of a body that is not in the coding that its header states.
fn not_gzip(cause: impl std::fmt::Display) -> io::Error {
    tracing::debug!(%cause, "request body not decoded");
    let message = "The body is not valid gzip, as its `Content-Encoding` says. Compress all of it, or send it without \
                   this header.";
    io::Error::other(Refusal::Malformed(message.to_owned()))
}

impl http_body::Body for GzipBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        // Other tasks of the thread run between the parts of a body that decodes to much more than arrives.
        let progress = ready!(tokio::task::coop::poll_proceed(context));
        loop {
            if matches!(this.decoder, Decoder::Ended) {
                return Poll::Ready(None);
            }
            let decoded = if this.rest.is_empty() {
                match ready!(Pin::new(&mut this.encoded).poll_frame(context)) {
                    Some(Ok(frame)) => {
                        this.rest = frame.into_data().unwrap_or_default();
                        continue;
                    }
                    Some(Err(error)) => Err(error),
                    None => this.finish(),
                }
            } else {
                this.decode()
            };
            progress.made_progress();
            match decoded {
                Ok(decoded) if decoded.is_empty() => {}
                Ok(decoded) => return Poll::Ready(Some(Ok(Frame::data(decoded)))),
                Err(error) => {
                    this.decoder = Decoder::Ended;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.decoder, Decoder::Ended)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, write::GzEncoder};
    use http_body_util::{BodyExt, Full};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns a request with a body that arrives in chunks.
    fn request(codings: &[&str], chunks: &[&[u8]]) -> Request {
        let mut request = Request::builder().header(header::CONTENT_LENGTH, "1").finish();
        for coding in codings {
            request.headers_mut().append(header::CONTENT_ENCODING, coding.parse().unwrap());
        }
        let chunks: Vec<io::Result<Frame<Bytes>>> =
            chunks.iter().map(|chunk| Ok(Frame::data(Bytes::copy_from_slice(chunk)))).collect();
        let stream = StreamBody::new(stream::iter(chunks));
        request.set_body(Body::from(BoxBody::new(stream)));
        request
    }

    /// Returns what reading the body gives, or the error.
    async fn read(mut request: Request) -> Result<Vec<u8>, Refusal> {
        decode_body(&mut request);
        let body: InnerBody = request.take_body().into();
        match body.collect().await {
            Ok(bytes) => Ok(bytes.to_bytes().to_vec()),
            Err(error) => Err(error.downcast().unwrap()),
        }
    }

    #[tokio::test]
    async fn body_is_decoded_as_its_header_says() {
        let (first, second) = (gzip(b"one "), gzip(b"two"));
        let both = [first.clone(), second.clone()].concat();
        let bytes: Vec<&[u8]> = both.chunks(1).collect();
        for codings in [&["gzip"][..], &["x-gzip"], &["GZIP"], &["identity, gzip"], &["", "gzip,"]] {
            for chunks in [&[&both[..]][..], &[&first, &second], &bytes] {
                assert_eq!(read(request(codings, chunks)).await.unwrap(), b"one two", "{codings:?}");
            }
        }
        for codings in [&[][..], &["identity"], &[""]] {
            assert_eq!(read(request(codings, &[&first])).await.unwrap(), first, "{codings:?}");
        }
    }

    #[tokio::test]
    async fn body_in_another_coding_cannot_be_read() {
        for codings in [&["br"][..], &["deflate"], &["zstd"], &["gzip, gzip"], &["gzip", "br"], &["\"gzip\""]]
        {
            let error = read(request(codings, &[b"{}"])).await.unwrap_err();
            assert!(matches!(error, Refusal::UnsupportedCoding(_)), "{codings:?}: {error:?}");
        }
    }

    #[tokio::test]
    async fn body_that_is_not_gzip_is_malformed() {
        let whole = gzip(b"{\"title\": \"A title\"}");
        let mut damaged = whole.clone();
        let checksum = damaged.len() - 8;
        damaged[checksum] ^= 1;
        for bytes in [&b"{}"[..], &whole[..whole.len() - 1], &damaged, &[&whole[..], b"rest"].concat()] {
            let error = read(request(&["gzip"], &[bytes])).await.unwrap_err();
            assert!(matches!(error, Refusal::Malformed(_)), "{bytes:?}: {error:?}");
        }
    }

    #[tokio::test]
    async fn small_body_is_decoded_only_as_far_as_it_is_read() {
        let bomb = gzip(&vec![0; 64 << 20]);
        let full = BoxBody::new(Full::new(Bytes::from(bomb)).map_err(|never| match never {}));
        let mut body = GzipBody::new(full);
        for _ in 0..100 {
            let part = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(part.len() <= 64 << 10, "{}", part.len());
        }
    }

    #[tokio::test]
    async fn request_without_a_body_may_state_any_coding() {
        let mut request = Request::builder().header(header::CONTENT_ENCODING, "br").finish();
        decode_body(&mut request);
        assert!(!request.headers().contains_key(header::CONTENT_ENCODING));
        assert_eq!(request.take_body().into_vec().await.unwrap(), b"");
    }

    #[test]
    fn headers_no_longer_describe_the_encoded_body() {
        let mut decoded = request(&["gzip"], &[b""]);
        decode_body(&mut decoded);
        assert!(decoded.headers().is_empty());
        let mut same = request(&["identity"], &[b"a"]);
        decode_body(&mut same);
        assert_eq!(same.header(header::CONTENT_LENGTH), Some("1"));
    }
}
