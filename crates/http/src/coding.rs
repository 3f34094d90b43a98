//! Content codings of responses, and content that is encoded only once.

use std::{
    borrow::Cow,
    io::{Read, Write},
    sync::Arc,
};

use bytes::Bytes;
use poem::http::HeaderValue;
use tokio::sync::OnceCell;
use xxhash_rust::xxh3::xxh3_128;

/// Length in bytes from which compression runs on a blocking thread, since it would delay other requests of
/// the same thread.
const BLOCKING_LENGTH: usize = 256 * 1024;

/// A content coding. At equal weight, the first one is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Zstandard.
    Zstd,
    /// Brotli.
    Brotli,
    /// Gzip.
    Gzip,
}

/// All codings, in the order of preference.
pub const CODINGS: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

impl Coding {
    /// Returns the name in `Accept-Encoding` and `Content-Encoding`.
    pub const fn name(self) -> &'static str {
        match self {
            Coding::Zstd => "zstd",
            Coding::Brotli => "br",
            Coding::Gzip => "gzip",
        }
    }

    /// Compresses bytes; large ones on another thread, with a `permit` that is held meanwhile. Returns none if that fails, or
    /// if there is no permit.
    pub async fn encode<P: Send + 'static>(
        self,
        bytes: &Bytes,
        permit: impl Future<Output = Option<P>>,
    ) -> Option<Bytes> {
        let encoded = if bytes.len() < BLOCKING_LENGTH {
            self.encode_now(bytes)
        } else {
            let permit = permit.await?;
            let bytes = bytes.clone();
            let encode = move || {
                let _permit = permit;
                self.encode_now(&bytes)
            };
            tokio::task::spawn_blocking(encode).await.ok()?
        };
        encoded.ok().map(Bytes::from)
    }

    /// Compresses everything that `reader` returns.
    pub fn encode_stream(self, mut reader: impl Read, writer: impl Write) -> std::io::Result<()> {
        match self {
            Coding::Zstd => zstd::stream::copy_encode(reader, writer, 3),
            Coding::Brotli => {
                let mut encoder = brotli::CompressorWriter::new(writer, 4096, 4, 19);
                std::io::copy(&mut reader, &mut encoder)?;
                encoder.into_inner().flush()
            }
            Coding::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(writer, flate2::Compression::new(4));
                std::io::copy(&mut reader, &mut encoder)?;
                encoder.finish()?.flush()
            }
        }
    }

    /// Compresses bytes. At higher levels, compression would take longer than the smaller response saves in
    /// transfer.
    fn encode_now(self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Coding::Zstd => zstd::bulk::compress(bytes, 3),
            Coding::Brotli => {
                let mut encoder =
                    brotli::CompressorWriter::new(Vec::with_capacity(bytes.len() / 4), 4096, 4, 19);
                encoder.write_all(bytes)?;
                Ok(encoder.into_inner())
            }
            Coding::Gzip => {
                let encoded = Vec::with_capacity(bytes.len() / 4);
                let mut encoder = flate2::write::GzEncoder::new(encoded, flate2::Compression::new(4));
                encoder.write_all(bytes)?;
                encoder.finish()
            }
        }
    }
}

/// Decodes the first bytes, at most `max_bytes`, of content with this `Content-Encoding`. The content may be cut. Returns none
/// for an unknown coding, and for invalid content.
pub fn decode<'a>(encoding: Option<&[u8]>, bytes: &'a [u8], max_bytes: usize) -> Option<Cow<'a, [u8]>> {
    let Some(encoding) = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case(b"identity")) else {
        return Some(Cow::Borrowed(&bytes[..bytes.len().min(max_bytes)]));
    };
    let coding = CODINGS.iter().find(|coding| coding.name().as_bytes() == encoding)?;
    let mut reader: Box<dyn Read + 'a> = match coding {
        Coding::Zstd => Box::new(zstd::stream::read::Decoder::new(bytes).ok()?),
        Coding::Brotli => Box::new(brotli::Decompressor::new(bytes, 4096)),
        Coding::Gzip => Box::new(flate2::read::GzDecoder::new(bytes)),
    };
    let mut decoded = Vec::new();
    let mut chunk = [0; 4096];
    while decoded.len() < max_bytes {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => decoded.extend_from_slice(&chunk[..count.min(max_bytes - decoded.len())]),
            Err(_) if decoded.is_empty() => return None,
            // The end is missing.
            Err(_) => break,
        }
    }
    Some(Cow::Owned(decoded))
}

/// Returns the entity tag of bytes: a hash, in quotes.
pub fn entity_tag(bytes: &[u8]) -> HeaderValue {
    entity_tag_of_hash(xxh3_128(bytes))
}

/// Returns the entity tag of bytes with this XXH3 hash.
pub fn entity_tag_of_hash(hash: u128) -> HeaderValue {
    let tag = format!("\"{hash:032x}\"");
    HeaderValue::from_str(&tag).expect("the tag is hexadecimal")
}

/// The content of a response that is always the same. Its entity tag and each of its encodings are computed once.
///
/// As the data of a response, it saves `etag` and `compression` from computing them again.
#[derive(Clone, Debug)]
pub struct StaticContent(Arc<Content>);

#[derive(Debug)]
struct Content {
    bytes: Bytes,
    tag: HeaderValue,
    encoded: [OnceCell<Option<Bytes>>; CODINGS.len()],
}

impl StaticContent {
    /// Computes the entity tag of the content.
    pub fn new(bytes: impl Into<Bytes>) -> StaticContent {
        let bytes = bytes.into();
        let tag = entity_tag(&bytes);
        StaticContent(Arc::new(Content { bytes, tag, encoded: Default::default() }))
    }

    /// Returns the content.
    pub fn bytes(&self) -> Bytes {
        self.0.bytes.clone()
    }

    /// Returns the entity tag.
    pub fn tag(&self) -> HeaderValue {
        self.0.tag.clone()
    }

    /// Returns the content in this coding, which is compressed by the first call; others wait for it. Returns
    /// none if compression failed.
    pub async fn encoded(&self, coding: Coding) -> Option<Bytes> {
        let encoded = &self.0.encoded[coding as usize];
        encoded.get_or_init(|| coding.encode(&self.0.bytes, async { Some(()) })).await.clone()
    }
}
