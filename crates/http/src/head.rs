//! `HEAD` requests: the response to `GET` without its body.

use std::sync::Arc;

use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, Method, header},
};

use crate::response_body;

/// Handles `HEAD` as `GET` of the whole representation, since only `GET` has ranges (RFC 9110, 14.2). Then replaces the body by its
/// `Content-Length`.
pub async fn layer<E: Endpoint<Output = Response>>(
    inner: Arc<E>,
    mut request: Request,
) -> poem::Result<Response> {
    if request.method() != Method::HEAD {
        return inner.as_ref().call(request).await;
    }
    request.set_method(Method::GET);
    request.headers_mut().remove(header::RANGE);
    let mut response = inner.as_ref().call(request).await?;
    let in_memory = response_body::take_in_memory(&mut response).await;
    if let Some(bytes) = in_memory.filter(|bytes| !bytes.is_empty()) {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    }
    response.set_body(());
    Ok(response)
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, RouteMethod, endpoint::make_sync, test::TestClient};

    use super::*;

    #[tokio::test]
    async fn head_has_the_headers_of_get_and_no_body() {
        let routes = RouteMethod::new().get(make_sync(|request| {
            assert!(!request.headers().contains_key(header::RANGE));
            "four".with_header("x-a", "b")
        }));
        let response =
            TestClient::new(routes.around(layer)).head("/").header(header::RANGE, "bytes=0-1").send().await;
        response.assert_header("x-a", "b");
        response.assert_header("content-length", "4");
        response.assert_text("").await;
    }

    use poem::IntoResponse as _;
}
