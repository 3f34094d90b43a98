//! Entity tags: an answer that a client holds already is not sent again.

use poem::{
    Endpoint, Middleware, Request, Response, Result,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
};
use xxhash_rust::xxh3::xxh3_128;

/// Tags the answers to GET, and answers 304 where the client holds the same.
pub struct EntityTags;

impl<E: Endpoint<Output = Response>> Middleware<E> for EntityTags {
    type Output = EntityTagsEndpoint<E>;

    fn transform(&self, inner: E) -> EntityTagsEndpoint<E> {
        EntityTagsEndpoint { inner }
    }
}

/// An endpoint whose answers are tagged.
pub struct EntityTagsEndpoint<E> {
    inner: E,
}

impl<E: Endpoint<Output = Response>> Endpoint for EntityTagsEndpoint<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        let is_head = request.method() == Method::HEAD;
        if !is_head && request.method() != Method::GET {
            return self.inner.call(request).await;
        }
        if is_head {
            // The answer must carry what the answer to a GET would, so it is made; the outermost layer drops its body.
            request.set_method(Method::GET);
        }
        let held = request.headers().get(header::IF_NONE_MATCH).cloned();
        let mut response = self.inner.call(request).await?;
        if response.status() != StatusCode::OK {
            return Ok(response);
        }
        let body = response.take_body().into_bytes().await.map_err(poem::Error::from)?;
        let tag = format!("\"{:032x}\"", xxh3_128(&body));
        let headers = response.headers_mut();
        headers.insert(header::ETAG, HeaderValue::from_str(&tag).map_err(poem::error::InternalServerError)?);
        // Answers depend on the key, and a client asks again each time; the tag makes that cheap.
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
        if held.is_some_and(|held| holds(&held, &tag)) {
            response.set_status(StatusCode::NOT_MODIFIED);
            forget_body(response.headers_mut());
            return Ok(response);
        }
        response.set_body(body);
        Ok(response)
    }
}

fn forget_body(headers: &mut HeaderMap) {
    headers.remove(header::CONTENT_TYPE);
    headers.remove(header::CONTENT_LENGTH);
}

/// Whether an `If-None-Match` names the tag. The comparison is weak, as RFC 9110 section 13.1.2 has it, and forgives the
/// suffix that a compressed answer's tag carries.
fn holds(held: &HeaderValue, tag: &str) -> bool {
    let Ok(held) = held.to_str() else { return false };
    held.split(',').map(str::trim).any(|one| {
        let one = one.strip_prefix("W/").unwrap_or(one);
        one == "*" || one == tag
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_weakly() {
        for (held, expected) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
            ("", false),
        ] {
            assert_eq!(holds(&HeaderValue::from_static(held), "\"a\""), expected, "{held}");
        }
    }
}
