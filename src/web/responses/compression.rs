//! Response compression: zstd, brotli, or gzip, according to `Accept-Encoding`.
//!
//! The framework's own middleware is not used: it compresses with encodings that `q=0` rules out, has no
//! minimum size, sends no `Vary`, misspells zstd, and decompresses request bodies without a limit.

use std::sync::Arc;

use bytes::Bytes;
use poem::{
    Endpoint, Request, Response,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};

use crate::{
    http_server::{
        coding::{CODINGS, Coding, StaticContent},
        response_body,
    },
    web::{
        responses::{etag::OmittedBody, spool::Spool},
        shares::transfer_limits::{self, RequestTransfers},
    },
};

/// Minimum length in bytes to compress. A shorter response fits into one packet anyway.
const MIN_LENGTH: usize = 1024;

/// The client's `Accept-Encoding`, with weights in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AcceptEncoding {
    /// The weight of each of [`CODINGS`]; 0 if not accepted.
    codings: [u16; 3],
    /// The weight of the uncompressed form. None if the client does not mention it, which means that it is
    /// acceptable.
    identity: Option<u16>,
}

impl AcceptEncoding {
    fn from_headers(headers: &HeaderMap) -> AcceptEncoding {
        let mut codings = [None; 3];
        let (mut identity, mut wildcard) = (None, None);
        let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|list| list.to_str().ok());
        for (name, weight) in lists.flat_map(|list| list.split(',')).filter_map(parse_entry) {
            let index = CODINGS.iter().position(|coding| {
                name.eq_ignore_ascii_case(coding.name())
                    || (*coding == Coding::Gzip && name.eq_ignore_ascii_case("x-gzip"))
            });
            match index {
                Some(index) => codings[index] = Some(weight),
                None if name.eq_ignore_ascii_case("identity") => identity = Some(weight),
                None if name == "*" => wildcard = Some(weight),
                None => {}
            }
        }
        // `*` matches everything that is not named, but applies to identity only if its weight is 0.
        let identity = identity.or(wildcard.filter(|weight| *weight == 0));
        AcceptEncoding { codings: codings.map(|weight| weight.or(wildcard).unwrap_or(0)), identity }
    }

    /// Chooses the coding for a response of `length` bytes, if one is accepted and worthwhile. If the client
    /// accepts nothing at all, the response is sent uncompressed, which RFC 9110 prefers over a response
    /// without content.
    fn choose(self, length: usize) -> Option<Coding> {
        if length == 0 || (length < MIN_LENGTH && self.identity != Some(0)) {
            return None;
        }
        let rank = |index: usize| (self.codings[index], CODINGS.len() - index);
        let best = (0..CODINGS.len()).max_by_key(|index| rank(*index))?;
        let weight = self.codings[best];
        (weight > 0 && weight >= self.identity.unwrap_or(0)).then(|| CODINGS[best])
    }
}

/// Parses a coding and its weight, such as `br;q=0.5`. Returns none if the weight is invalid.
fn parse_entry(entry: &str) -> Option<(&str, u16)> {
    let mut parts = entry.split(';');
    let name = parts.next().unwrap_or_default().trim();
    let weight = match parts.next().map(str::trim) {
        None => 1.0,
        Some(parameter) => {
            let (key, value) = parameter.split_once('=')?;
            let value: f32 = value.trim().parse().ok()?;
            (key.trim().eq_ignore_ascii_case("q") && (0.0..=1.0).contains(&value)).then_some(value)?
        }
    };
    (!name.is_empty()).then_some((name, (weight * 1000.0) as u16))
}

/// Middleware that compresses the response of `inner` where that is worthwhile.
pub async fn layer<E: Endpoint<Output = Response>>(
    inner: Arc<E>,
    request: Request,
) -> poem::Result<Response> {
    let accepted = AcceptEncoding::from_headers(request.headers());
    let transfers = transfer_limits::of_request(&request).cloned();
    let mut response = inner.as_ref().call(request).await?;
    let is_incompressible = !is_compressible(response.headers())
        || response.headers().contains_key(header::CONTENT_ENCODING)
        || response.status() == StatusCode::PARTIAL_CONTENT;
    if is_incompressible {
        return Ok(response);
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if response.status() == StatusCode::NOT_MODIFIED {
        if response.data::<OmittedBody>().is_some_and(|omitted| accepted.choose(omitted.length).is_some()) {
            weaken_etag(response.headers_mut());
        }
        response.headers_mut().remove(header::CONTENT_TYPE);
        return Ok(response);
    }
    let coding = if let Some(spool) = response.data::<Spool>().cloned() {
        Box::pin(encode_spool(&spool, accepted, &mut response)).await
    } else if let Some(bytes) = response_body::take_in_memory(&mut response).await {
        let (bytes, coding) = match accepted.choose(bytes.len()) {
            Some(coding) => {
                let content = response.data::<StaticContent>().cloned();
                Box::pin(encode(bytes, content.as_ref(), coding, transfers.as_ref())).await
            }
            None => (bytes, None),
        };
        response.set_body(bytes);
        if coding.is_some() {
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }
        coding
    } else {
        None
    };
    if let Some(coding) = coding {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        weaken_etag(headers);
    }
    Ok(response)
}

/// Replaces a response in a temporary file by a compressed one. If that is not possible, it is sent as it is.
async fn encode_spool(spool: &Spool, accepted: AcceptEncoding, response: &mut Response) -> Option<Coding> {
    let coding = accepted.choose(spool.length() as usize)?;
    match spool.convert(move |reader, writer| coding.encode_stream(reader, writer)).await {
        Ok(encoded) => {
            encoded.send(response);
            Some(coding)
        }
        Err(error) => {
            tracing::debug!(%error, "large response not compressed");
            None
        }
    }
}

/// Encodes the body of a response, if the result is worthwhile.
async fn encode(
    bytes: Bytes,
    content: Option<&StaticContent>,
    coding: Coding,
    transfers: Option<&RequestTransfers>,
) -> (Bytes, Option<Coding>) {
    let encoded = match content {
        Some(content) => content.encoded(coding).await,
        None => {
            let permit = async {
                match transfers {
                    Some(transfers) => transfers.heavy_work().await.ok().map(Some),
                    None => Some(None),
                }
            };
            coding.encode(&bytes, permit).await
        }
    };
    match encoded {
        Some(encoded) => (encoded, Some(coding)),
        None => (bytes, None),
    }
}

/// Whether a response has a compressible content type. Event streams are excluded, since each event must be
/// sent at once.
fn is_compressible(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind != "text/event-stream"
        && (kind.starts_with("text/") || kind == "application/json" || kind.ends_with("+json"))
}

/// Makes a strong ETag weak, since two encodings of the same bytes may share only a weak one.
fn weaken_etag(headers: &mut HeaderMap) {
    let strong =
        headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).filter(|tag| tag.starts_with('"'));
    if let Some(weak) = strong.and_then(|tag| HeaderValue::from_str(&format!("W/{tag}")).ok()) {
        headers.insert(header::ETAG, weak);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use poem::{EndpointExt, IntoResponse, Route, endpoint::make_sync, get, test::TestClient};

    use super::*;
    use crate::web::responses::etag;

    const TEXT: &str = "{\"a\":\"some words that come again and again\"}";

    fn client() -> TestClient<impl Endpoint<Output = Response>> {
        let json = |times: usize, kind: &'static str| {
            get(make_sync(move |_| TEXT.repeat(times).with_content_type(kind).into_response()))
        };
        let routes = Route::new()
            .at("/long", json(100, "application/json; charset=utf-8"))
            .at("/huge", json(10_000, "application/problem+json"))
            .at("/short", json(1, "application/json"))
            .at("/events", json(100, "text/event-stream"))
            .at("/image", json(100, "image/png"));
        TestClient::new(routes.around(etag::layer).around(layer))
    }

    async fn coding(path: &str, accepted: &str) -> Option<String> {
        let response = client().get(path).header(header::ACCEPT_ENCODING, accepted).send().await;
        response.0.headers().get(header::CONTENT_ENCODING).map(|coding| coding.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn coding_is_chosen_by_weight() {
        for (accepted, expected) in [
            ("gzip, deflate, br, zstd", Some("zstd")),
            ("gzip, deflate, br", Some("br")),
            ("GZip", Some("gzip")),
            ("x-gzip", Some("gzip")),
            ("gzip;q=1, br;q=0.5", Some("gzip")),
            ("gzip; Q=0.8 , zstd ;q = 0.2", Some("gzip")),
            ("*", Some("zstd")),
            ("*, zstd;q=0", Some("br")),
            ("br;q=0, *;q=0.1", Some("zstd")),
            ("gzip;q=0.5, identity", None),
            ("gzip;q=0", None),
            ("*;q=0", None),
            ("identity", None),
            ("identity;q=0, gzip;q=0.001", Some("gzip")),
            ("gzip;q=2", None),
            ("gzip;q=x", None),
            ("gzip;level=9", None),
            (";;;,,,q=", None),
            ("", None),
        ] {
            assert_eq!(coding("/long", accepted).await.as_deref(), expected, "{accepted:?}");
        }
    }

    #[tokio::test]
    async fn only_compressible_responses_are_encoded() {
        assert_eq!(coding("/short", "gzip").await, None);
        assert_eq!(coding("/short", "gzip, identity;q=0").await.as_deref(), Some("gzip"));
        assert_eq!(coding("/events", "gzip").await, None);
        assert_eq!(coding("/image", "gzip").await, None);
        client().get("/image").send().await.assert_header_is_not_exist(header::VARY);
        client().get("/long").send().await.assert_header(header::VARY, "Accept-Encoding");
    }

    #[tokio::test]
    async fn every_coding_round_trips() {
        for (path, times) in [("/long", 100), ("/huge", 10_000)] {
            for coding in CODINGS {
                let client = client();
                let request = client.get(path).header(header::ACCEPT_ENCODING, coding.name());
                let encoded = request.send().await.0.into_body().into_vec().await.unwrap();
                let mut decoded = Vec::new();
                let read = match coding {
                    Coding::Zstd => zstd::stream::copy_decode(&encoded[..], &mut decoded).map(|()| 0),
                    Coding::Brotli => brotli::Decompressor::new(&encoded[..], 4096).read_to_end(&mut decoded),
                    Coding::Gzip => flate2::read::GzDecoder::new(&encoded[..]).read_to_end(&mut decoded),
                };
                read.unwrap();
                assert!(encoded.len() * 10 < decoded.len());
                assert_eq!(decoded, TEXT.repeat(times).as_bytes());
            }
        }
    }

    #[tokio::test]
    async fn etag_of_encoded_response_is_weak_and_matches_across_encodings() {
        let strong = client().get("/long").send().await.0.headers()[header::ETAG].clone();
        let encoded = client().get("/long").header(header::ACCEPT_ENCODING, "br").send().await;
        let weak = encoded.0.headers()[header::ETAG].clone();
        assert_eq!(weak.to_str().unwrap(), format!("W/{}", strong.to_str().unwrap()));
        for (etag, accepted, expected) in
            [(&weak, "gzip", &weak), (&weak, "", &strong), (&strong, "br", &weak)]
        {
            let client = client();
            let request = client.get("/long").header(header::IF_NONE_MATCH, etag);
            let response = request.header(header::ACCEPT_ENCODING, accepted).send().await;
            response.assert_status(StatusCode::NOT_MODIFIED);
            response.assert_header(header::ETAG, expected);
            response.assert_header(header::VARY, "Accept-Encoding");
            response.assert_header_is_not_exist(header::CONTENT_ENCODING);
        }
    }
}
