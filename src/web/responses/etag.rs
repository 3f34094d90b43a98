//! Conditional requests: adds an `ETag` to responses of GET, and responds 304 if the client already has the
//! content.
//!
//! The tag is a hash of the bytes before compression. This layer must therefore be inside `compression`,
//! which weakens the tag of a response that it compresses. In a world, it does not depend on the address by which the client
//! reached the server, since two worlds that are made alike respond alike except for that.

use std::sync::Arc;

use poem::{
    Endpoint, Request, Response,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
};

use crate::{
    http_server::{
        coding::{StaticContent, entity_tag, entity_tag_of_hash},
        response_body,
    },
    web::{key_headers, responses::spool::Spool},
    worlds::Turn,
};

/// Describes the body that a 304 omits. `compression` needs it to send the same headers as for the full
/// response.
#[derive(Clone, Copy, Debug)]
pub struct OmittedBody {
    /// Length of the omitted body in bytes.
    pub length: usize,
}

/// Middleware that tags the `GET` responses that are in memory or spooled, and omits a body that the client
/// already has.
pub async fn layer<E: Endpoint<Output = Response>>(
    inner: Arc<E>,
    request: Request,
) -> poem::Result<Response> {
    let is_get = request.method() == Method::GET;
    let is_keyed = key_headers::has_key_header(request.headers());
    let if_none_match: Vec<HeaderValue> =
        request.headers().get_all(header::IF_NONE_MATCH).iter().cloned().collect();
    let origin = world_origin(&request);
    let mut response = inner.as_ref().call(request).await?;
    set_cache_control(response.headers_mut(), is_keyed);
    if !is_get || response.status() != StatusCode::OK || response.headers().contains_key(header::ETAG) {
        return Ok(response);
    }
    let spooled =
        response.data::<Spool>().map(|spool| (entity_tag_of_hash(spool.hash()), spool.length() as usize));
    let (tag, length, bytes) = match spooled {
        Some((tag, length)) => (tag, length, None),
        None => match response_body::take_in_memory(&mut response).await {
            Some(bytes) => {
                let tag = match (response.data::<StaticContent>(), &origin) {
                    (Some(content), _) => content.tag(),
                    (None, Some(origin)) => entity_tag(&without(&bytes, origin.as_bytes())),
                    (None, None) => entity_tag(&bytes),
                };
                (tag, bytes.len(), Some(bytes))
            }
            None => return Ok(response),
        },
    };
    if if_none_match.iter().any(|list| matches_tag(list, &tag)) {
        response.set_status(StatusCode::NOT_MODIFIED);
        response.set_data(OmittedBody { length });
        response.set_body(());
        response.headers_mut().remove(header::CONTENT_LENGTH);
    } else if let Some(bytes) = bytes {
        response.set_body(bytes);
    }
    response.headers_mut().insert(header::ETAG, tag);
    Ok(response)
}

/// Returns the origin with which addresses begin in the response to a request to a world.
fn world_origin(request: &Request) -> Option<String> {
    request.data::<Turn>()?;
    let host = request.headers().get(header::HOST)?.to_str().ok()?;
    Some(format!("http://{}", host.to_ascii_lowercase()))
}

/// Returns bytes without all occurrences of a text, which is not empty.
fn without(bytes: &[u8], text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for position in memchr::memmem::find_iter(bytes, text) {
        kept.extend_from_slice(&bytes[start..position]);
        start = position + text.len();
    }
    kept.extend_from_slice(&bytes[start..]);
    kept
}

/// Makes caches revalidate each response. A response to a request with a key may be stored only in a private
/// cache.
fn set_cache_control(headers: &mut HeaderMap, is_keyed: bool) {
    let rule = if is_keyed { "private, no-cache" } else { "no-cache" };
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static(rule));
}

/// Whether the value of `If-None-Match` or `If-Match` matches a tag, by weak comparison (RFC 9110, 13.1.2). Entries may lack
/// their quotes.
pub fn matches_tag(list: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(list), Ok(tag)) = (list.to_str(), tag.to_str()) else { return false };
    // Our tags contain no comma, so an entry that contains one, and is split here, cannot match anyway.
    let is_match =
        |entry: &str| entry.trim().trim_start_matches("W/").trim_matches('"') == tag.trim_matches('"');
    list.trim() == "*" || list.split(',').any(is_match)
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, IntoResponse, Route, endpoint::make_sync, get, test::TestClient};

    use super::*;

    fn client() -> TestClient<impl Endpoint<Output = Response>> {
        let stream = || poem::Body::from_async_read(&b"abc"[..]);
        let routes = Route::new()
            .at("/a", get(make_sync(|_| "abc")).post(make_sync(|_| "abc")))
            .at("/b", get(make_sync(|_| "abd")))
            .at("/lost", get(make_sync(|_| StatusCode::NOT_FOUND.into_response())))
            .at("/stream", get(make_sync(move |_| stream())));
        TestClient::new(routes.around(layer))
    }

    async fn tag(path: &str) -> Option<String> {
        let response = client().get(path).send().await;
        response.0.headers().get(header::ETAG).map(|tag| tag.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn tag_depends_on_content() {
        assert_eq!(tag("/a").await, tag("/a").await);
        assert_ne!(tag("/a").await, tag("/b").await);
        assert_eq!(tag("/lost").await, None);
        assert_eq!(tag("/stream").await, None);
        client().get("/stream").send().await.assert_text("abc").await;
        client().post("/a").send().await.assert_header_is_not_exist(header::ETAG);
    }

    #[tokio::test]
    async fn matching_tag_gets_304() {
        let tag = tag("/a").await.unwrap();
        let unquoted = tag.trim_matches('"').to_owned();
        let several = format!("\"x\", W/{tag} ,\"y\"");
        for list in [
            tag.clone(),
            format!("W/{tag}"),
            unquoted.clone(),
            format!("x, {unquoted}"),
            several,
            "*".to_owned(),
        ] {
            let response = client().get("/a").header(header::IF_NONE_MATCH, list).send().await;
            response.assert_status(StatusCode::NOT_MODIFIED);
            response.assert_header(header::ETAG, &tag);
            response.assert_text("").await;
        }
        for list in ["\"x\"", "", ",,", "W/", "x*"] {
            client().get("/a").header(header::IF_NONE_MATCH, list).send().await.assert_status_is_ok();
        }
        client().post("/a").header(header::IF_NONE_MATCH, "*").send().await.assert_status_is_ok();
    }

    #[tokio::test]
    async fn response_to_keyed_request_is_private() {
        client().get("/a").send().await.assert_header(header::CACHE_CONTROL, "no-cache");
        let keyed = client().get("/a").header("X-API-Key", "k").send().await;
        keyed.assert_header(header::CACHE_CONTROL, "private, no-cache");
    }
}
