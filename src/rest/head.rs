//! `HEAD` requests: the response to `GET` without its body.

use std::sync::Arc;

use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, Method, header},
};

use super::body;

/// Handles `HEAD` as `GET`, then replaces the body by its `Content-Length`.
pub async fn layer<E: Endpoint<Output = Response>>(
    inner: Arc<E>,
    mut request: Request,
) -> poem::Result<Response> {
    if request.method() != Method::HEAD {
        return inner.call(request).await;
    }
    request.set_method(Method::GET);
    let mut response = inner.call(request).await?;
    let whole = body::take_whole(&mut response).await;
    if let Some(bytes) = whole.filter(|bytes| !bytes.is_empty()) {
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
    async fn a_head_has_the_headers_of_a_get() {
        let routes = RouteMethod::new().get(make_sync(|_| "four".with_header("x-a", "b")));
        let answer = TestClient::new(routes.around(layer)).head("/").send().await;
        answer.assert_header("x-a", "b");
        answer.assert_header("content-length", "4");
        answer.assert_text("").await;
    }

    use poem::IntoResponse as _;
}
