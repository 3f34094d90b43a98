//! The framework's names for path parameters, which are positions: `param0`, `param1`, and so on. Only this
//! module knows them. The framework does not document them, so they are checked at startup.

use std::collections::HashMap;

use futures_util::FutureExt;
use poem::{Endpoint, Request, Response, Route, http::Method};
use poem_openapi::{OpenApi, error::ParsePathError, param::Path, payload::PlainText};

/// The prefix of the names.
const PREFIX: &str = "param";

/// A path with two parameters, of which the second one is a number, and that path in the framework's form.
const PROBE: [&str; 2] = ["/probe/{first}/{second}", "/probe/:param0/:param1"];

/// Converts a documented path to the framework's form: `/a/{b}` becomes `/a/:param0`.
pub fn framework_path(path: &str) -> String {
    let mut count = 0;
    let segments = path.split('/').map(|segment| {
        if !segment.starts_with('{') {
            return segment.to_owned();
        }
        count += 1;
        format!(":{PREFIX}{}", count - 1)
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns the first path parameter of a request, decoded.
pub fn first(request: &Request) -> Option<String> {
    value(request, 0)
}

/// Returns all path parameters of a request, decoded, in their order. One that is not UTF-8 is empty.
pub fn values(request: &Request) -> Vec<String> {
    (0..).map_while(|position| value(request, position)).collect()
}

fn value(request: &Request, position: usize) -> Option<String> {
    request.raw_path_param(&format!("{PREFIX}{position}")).and_then(decode_segment)
}

/// Decodes a segment of a path.
pub fn decode_segment(segment: &str) -> Option<String> {
    // The decoder reads plus signs as spaces, but in a path they are plus signs.
    let pair = format!("v={}", segment.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned())
}

/// Returns the number of a path parameter by its name, counted from 1.
pub fn number(name: &str) -> Option<usize> {
    name.strip_prefix(PREFIX)?.parse().ok().map(|position: usize| position + 1)
}

/// Returns the position of the path parameter that an error is about.
pub fn position(error: &ParsePathError) -> Option<usize> {
    error.name.strip_prefix(PREFIX)?.parse().ok()
}

/// Panics if the framework has other names than this module expects. A test request with two path parameters
/// is routed through the framework.
pub fn check() {
    let mut resources = HashMap::new();
    Probe.add_routes(&mut resources);
    let mut paths: Vec<String> = resources.keys().cloned().collect();
    paths.sort();
    assert_eq!(
        paths,
        [framework_path(PROBE[0])],
        "the web framework names path parameters in another way: adapt rest/path_params.rs"
    );
    let routes = resources
        .into_values()
        .flatten()
        .fold(Route::new(), |routes, (_, endpoint)| routes.at(PROBE[1], endpoint));
    let send = |path: &str| -> Option<poem::Result<Response>> {
        let request = Request::builder().method(Method::GET).uri(path.parse().ok()?).finish();
        routes.call(request).now_or_never()
    };
    let echoed = send("/probe/a/1")
        .and_then(Result::ok)
        .and_then(|response| response.into_body().into_string().now_or_never()?.ok());
    assert_eq!(
        echoed.as_deref(),
        Some("a"),
        "the web framework does not find the first path parameter by its name: adapt rest/path_params.rs"
    );
    let failed = send("/probe/a/x").and_then(Result::err);
    assert_eq!(
        failed.and_then(|error| position(error.downcast_ref::<ParsePathError>()?)),
        Some(1),
        "the web framework reports invalid path parameters in another way: adapt rest/path_params.rs"
    );
}

/// The API of the test request.
struct Probe;

#[OpenApi]
#[expect(clippy::unused_async)]
impl Probe {
    /// Returns the first parameter, found by its name.
    #[oai(path = "/probe/:first/:second", method = "get")]
    async fn probe(
        &self,
        request: &Request,
        first_text: Path<String>,
        second: Path<u8>,
    ) -> PlainText<String> {
        let _ = (first_text, second);
        PlainText(first(request).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framework_has_the_expected_names() {
        check();
        assert_eq!(framework_path(PROBE[0]), PROBE[1]);
        assert_eq!(framework_path("/a/b"), "/a/b");
    }
}
