//! Compressed answers, in the coding that the client likes best of those that we have.

use std::io::Write;

use poem::{
    Endpoint, Middleware, Request, Response, Result,
    http::{HeaderValue, header},
};

/// Bodies below this many bytes are sent as they are: compressing them saves nothing.
const LEAST_BYTES: usize = 1024;

/// A way to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Brotli,
    Zstd,
    Gzip,
}

impl Coding {
    /// Those that we have, the one that we like best first.
    const ALL: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

    const fn name(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
            Coding::Gzip => "gzip",
        }
    }

    /// Levels are the quick ones: the answer is made for one request.
    fn encode(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Coding::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(4));
                encoder.write_all(body)?;
                encoder.finish()
            }
            Coding::Zstd => zstd::bulk::compress(body, 3),
            Coding::Brotli => {
                let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 4, 22);
                encoder.write_all(body)?;
                Ok(encoder.into_inner())
            }
        }
    }
}

/// Compresses answers where the client takes it.
pub struct Compression;

impl<E: Endpoint<Output = Response>> Middleware<E> for Compression {
    type Output = CompressionEndpoint<E>;

    fn transform(&self, inner: E) -> CompressionEndpoint<E> {
        CompressionEndpoint { inner }
    }
}

/// An endpoint whose answers may be compressed.
pub struct CompressionEndpoint<E> {
    inner: E,
}

impl<E: Endpoint<Output = Response>> Endpoint for CompressionEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let accepted = request.headers().get(header::ACCEPT_ENCODING).cloned();
        let mut response = self.inner.call(request).await?;
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
        let Some(coding) = accepted.as_ref().and_then(|value| value.to_str().ok()).and_then(choose) else {
            return Ok(response);
        };
        let body = response.take_body().into_bytes().await.map_err(poem::Error::from)?;
        if body.len() < LEAST_BYTES {
            response.set_body(body);
            return Ok(response);
        }
        let encoded = coding.encode(&body).map_err(poem::error::InternalServerError)?;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        headers.remove(header::CONTENT_LENGTH);
        // The bytes are others than the tag's, so the tag is a weak one from here on.
        if let Some(weak) = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(|tag| format!("W/{tag}")) {
            headers.insert(header::ETAG, HeaderValue::from_str(&weak).map_err(poem::error::InternalServerError)?);
        }
        response.set_body(encoded);
        Ok(response)
    }
}

/// The coding that an `Accept-Encoding` likes best (RFC 9110 section 12.5.3); nothing where plain bytes are liked as much
/// as any.
fn choose(accepted: &str) -> Option<Coding> {
    let mut any = None;
    let mut weights: [Option<f32>; 3] = [None; 3];
    let mut identity = None;
    for part in accepted.split(',') {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(1.0, |weight| weight.trim().parse().unwrap_or(0.0));
        let name = name.trim();
        match name {
            "*" => any = Some(weight),
            _ if name.eq_ignore_ascii_case("identity") => identity = Some(weight),
            _ => {
                let known = Coding::ALL.iter().position(|coding| name.eq_ignore_ascii_case(coding.name()));
                if let Some(index) = known {
                    weights[index] = Some(weight);
                }
            }
        }
    }
    let best = Coding::ALL.into_iter().zip(weights).fold(None, |best: Option<(Coding, f32)>, (coding, weight)| {
        let weight = weight.or(any).unwrap_or(0.0);
        let is_better = weight > 0.0 && best.is_none_or(|(_, best)| weight > best);
        if is_better { Some((coding, weight)) } else { best }
    });
    best.filter(|(_, weight)| identity.is_none_or(|identity| *weight >= identity)).map(|(coding, _)| coding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_chooses() {
        for (accepted, expected) in [
            ("gzip", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("gzip, br", Some(Coding::Brotli)),
            ("br;q=0.5, gzip", Some(Coding::Gzip)),
            ("*", Some(Coding::Zstd)),
            ("*, zstd;q=0", Some(Coding::Brotli)),
            ("identity", None),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0, GZIP;q=0.1", Some(Coding::Gzip)),
            ("gzip;q=0", None),
            ("gzip;q=x", None),
            ("deflate", None),
            ("", None),
        ] {
            assert_eq!(choose(accepted), expected, "{accepted}");
        }
    }

    #[test]
    fn what_is_encoded_can_be_decoded() {
        let body = b"some words that come again and again and again".repeat(40);
        for coding in Coding::ALL {
            let encoded = coding.encode(&body).unwrap();
            assert!(encoded.len() < body.len() / 4, "{coding:?}");
        }
        let zstd = Coding::Zstd.encode(&body).unwrap();
        assert_eq!(zstd::bulk::decompress(&zstd, body.len()).unwrap(), body);
    }
}
