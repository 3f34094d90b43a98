//! Cross-origin resource sharing (CORS): lets web pages of the configured origins read responses, except
//! those of APIs that only the server's own pages can use.
//!
//! The framework's own middleware is not used: it responds 403 to every origin that is not listed, including
//! the server's own, and it overwrites the `Vary` header of the response.

use std::sync::Arc;

use poem::{
    Endpoint, IntoResponse, Request, Response,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
};

/// Which web pages can use an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorsPolicy {
    /// Pages of the origins in `server.cors_origins`, and the server's own.
    ConfiguredOrigins,
    /// Only the server's own pages.
    SameOrigin,
}

/// Methods that a page may use.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");

/// Request headers that a page may send.
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, platform-api-key, x-api-key, content-type, content-encoding, if-match, if-none-match, if-range, range, \
     idempotency-key, market-position, x-request-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, mcp-text, \
     x-mcp-toolsets, x-mcp-tools, last-event-id",
);

/// Response headers that a page may read, in addition to the CORS-safelisted ones.
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static(
    "etag, market-position, x-request-id, retry-after, location, allow, content-range, accept-ranges, content-disposition, \
     www-authenticate, ratelimit, ratelimit-policy, x-sandbox-fault",
);

/// Seconds for which a browser may cache a preflight response.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// The allowed origins, and the paths to which they do not apply.
#[derive(Clone)]
pub struct Cors {
    origins: Arc<[HeaderValue]>,
    is_same_origin_only: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Cors {
    /// Takes the origins from `server.cors_origins`, such as `https://example.com`; `*` allows any origin.
    /// `is_same_origin_only` says whether a path belongs to an API that no page of another origin can use.
    pub fn new(
        origins: &[String],
        is_same_origin_only: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Cors {
        let origins = origins
            .iter()
            .filter_map(|origin| HeaderValue::from_str(origin.trim_end_matches('/')).ok())
            .collect();
        Cors { origins, is_same_origin_only: Arc::new(is_same_origin_only) }
    }

    fn allows_any(&self) -> bool {
        self.origins.iter().any(|origin| origin == "*")
    }

    /// Returns the value of `Access-Control-Allow-Origin` for a request, or none if its origin is not
    /// allowed.
    fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        if self.allows_any() {
            return Some(HeaderValue::from_static("*"));
        }
        self.origins.contains(origin).then(|| origin.clone())
    }

    /// Middleware that responds to preflight requests and adds CORS headers to the responses of `inner`.
    pub async fn layer<E: Endpoint<Output = Response>>(
        self,
        inner: Arc<E>,
        request: Request,
    ) -> poem::Result<Response> {
        if self.origins.is_empty() || (self.is_same_origin_only)(request.uri().path()) {
            return inner.as_ref().call(request).await;
        }
        let allowed = self.allowed_origin(request.headers());
        let is_preflight = request.method() == Method::OPTIONS
            && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        let mut response = match &allowed {
            Some(_) if is_preflight => preflight_response(),
            _ => inner.as_ref().call(request).await?,
        };
        let headers = response.headers_mut();
        if !self.allows_any() {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        if let Some(origin) = allowed {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        }
        Ok(response)
    }
}

fn preflight_response() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
    response
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, endpoint::make_sync, get, test::TestClient};

    use super::*;

    fn client(origins: &[&str]) -> TestClient<impl Endpoint<Output = Response>> {
        let origins: Vec<String> = origins.iter().map(ToString::to_string).collect();
        let cors = Cors::new(&origins, |path| path == "/internal");
        let page = make_sync(|_| "a".with_header(header::VARY, "Accept-Encoding"));
        TestClient::new(get(page).around(move |inner, request| cors.clone().layer(inner, request)))
    }

    #[tokio::test]
    async fn listed_origin_gets_cors_headers_and_preflight() {
        let client = client(&["https://a.example", "https://b.example"]);
        let response = client.get("/").header("origin", "https://b.example").send().await;
        response.assert_header("access-control-allow-origin", "https://b.example");
        assert_eq!(response.0.headers().get_all(header::VARY).iter().count(), 2);
        let preflight = client.options("/").header("origin", "https://a.example");
        let response = preflight.header("access-control-request-method", "GET").send().await;
        response.assert_status(StatusCode::NO_CONTENT);
        response.assert_header("access-control-max-age", "7200");
    }

    #[tokio::test]
    async fn unlisted_origin_gets_response_without_cors_headers() {
        let client = client(&["https://a.example"]);
        for origin in ["https://evil.example", "null", "https://a.example.evil"] {
            let response = client.get("/").header("origin", origin).send().await;
            response.assert_status_is_ok();
            response.assert_header_is_not_exist("access-control-allow-origin");
        }
        let preflight = client.options("/").header("origin", "https://evil.example");
        let response = preflight.header("access-control-request-method", "GET").send().await;
        response.assert_status(StatusCode::METHOD_NOT_ALLOWED);
    }

    #[tokio::test]
    async fn no_cors_headers_without_configured_origins() {
        let response = client(&[]).get("/").header("origin", "https://a.example").send().await;
        response.assert_header("vary", "Accept-Encoding");
        response.assert_header_is_not_exist("access-control-allow-origin");
        let response = client(&["*"]).get("/").header("origin", "https://a.example").send().await;
        response.assert_header("access-control-allow-origin", "*");
    }

    #[tokio::test]
    async fn no_origin_is_allowed_where_only_own_pages_are() {
        for origins in [&["https://a.example"][..], &["*"]] {
            let client = client(origins);
            let response = client.get("/internal").header("origin", "https://a.example").send().await;
            response.assert_status_is_ok();
            response.assert_header("vary", "Accept-Encoding");
            response.assert_header_is_not_exist("access-control-allow-origin");
            let preflight = client.options("/internal").header("origin", "https://a.example");
            let response = preflight.header("access-control-request-method", "POST").send().await;
            response.assert_status(StatusCode::METHOD_NOT_ALLOWED);
        }
    }
}
