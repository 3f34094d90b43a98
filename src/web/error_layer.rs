//! Middleware that converts errors of handlers, errors of the framework, and panics to responses.
//!
//! It is inside all layers that process responses, so that these see an error as a response, too.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use poem::{Endpoint, Request, Response};

use crate::{
    error::Error,
    web::{problem, request_id::RequestId},
};

/// Middleware that converts each error or panic of `inner` to a response.
pub async fn layer<E: Endpoint<Output = Response>>(
    inner: Arc<E>,
    request: Request,
) -> poem::Result<Response> {
    let id = RequestId::from_request(&request);
    // A panic leaves no inconsistent state behind: the code that locks shared state ignores poisoning, and
    // the database rolls back.
    let error = match AssertUnwindSafe(inner.as_ref().call(request)).catch_unwind().await {
        Ok(Ok(response)) => return Ok(response),
        Ok(Err(error)) => problem::from_framework_error(error),
        Err(panic) => Error::internal(format!("panicked: {}", panic_message(panic.as_ref()))),
    };
    Ok(problem::error_response(&error, id.as_str()))
}

/// Returns the message of a panic payload.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use poem::{
        EndpointExt, IntoResponse, Route, endpoint::make_sync, error::NotFoundError, get, http::StatusCode,
        test::TestClient,
    };
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        http_server::trusted_proxies::TrustedProxies,
        web::{problem::ApiError, request_id},
    };

    fn failing_endpoint(error: fn() -> poem::Error) -> impl Endpoint {
        make_sync(move |_| Err::<(), _>(error()))
    }

    async fn send(path: &str) -> (StatusCode, Value) {
        let routes = Route::new()
            .at("/fine", get(make_sync(|_| "fine".into_response())))
            .at("/conflict", failing_endpoint(|| ApiError(Error::Conflict("It is there.".to_owned())).into()))
            .at("/internal", failing_endpoint(|| ApiError(Error::internal("/etc/secret")).into()))
            .at(
                "/teapot",
                failing_endpoint(|| poem::Error::from_string("/etc/secret", StatusCode::IM_A_TEAPOT)),
            )
            .at("/response", failing_endpoint(|| poem::Error::from_response("/etc/secret".into_response())))
            .at(
                "/io",
                failing_endpoint(|| poem::error::InternalServerError(std::io::Error::other("/etc/secret"))),
            )
            .at("/not-found", failing_endpoint(|| NotFoundError.into()))
            .at("/panic", make_sync(|_| -> &str { panic!("/etc/{}", "secret") }));
        let client = TestClient::new(routes.around(layer).around(|inner, request| {
            let (clock, proxies) = (Arc::new(crate::clock::Clock::System), TrustedProxies::default());
            request_id::layer(clock, proxies, None, inner, request)
        }));
        let response = client.get(path).header("x-request-id", "r1").send().await;
        response.assert_header("x-request-id", "r1");
        let status = response.0.status();
        let bytes = response.0.into_body().into_vec().await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    #[tokio::test]
    async fn errors_have_the_error_body() {
        let (status, body) = send("/conflict").await;
        assert_eq!(status, StatusCode::CONFLICT);
        let detail =
            json!({"code": "conflict", "message": "It is there.", "request_id": "r1", "details": null});
        assert_eq!(body, json!({"error": detail}));
        for path in ["/nowhere", "/not-found"] {
            let (status, body) = send(path).await;
            assert_eq!((status, &body["error"]["code"]), (StatusCode::NOT_FOUND, &json!("not_found")));
        }
        assert_eq!(send("/fine").await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn unexpected_error_is_internal_and_hides_its_cause() {
        for path in ["/internal", "/teapot", "/response", "/io", "/panic"] {
            let (status, body) = send(path).await;
            assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{path}");
            assert_eq!(body["error"]["code"], "internal_error", "{path}");
            assert!(!body.to_string().contains("secret"), "{path}");
        }
    }
}
