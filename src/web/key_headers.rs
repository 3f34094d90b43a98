//! The headers that carry an API key.

use poem::http::{HeaderMap, HeaderName, header};

use crate::error::{Error, Result};

/// The headers that may carry an API key, by precedence: only the first one that is present is used.
pub static KEY_HEADERS: [HeaderName; 3] = [
    header::AUTHORIZATION,
    HeaderName::from_static("platform-api-key"),
    HeaderName::from_static("x-api-key"),
];

/// Whether a request has a key header, valid or not. The response to such a request is private to the caller.
pub fn has_key_header(headers: &HeaderMap) -> bool {
    KEY_HEADERS.iter().any(|name| headers.contains_key(name))
}

/// Extracts the API key of a request from the first of [`KEY_HEADERS`] that is present. Error messages never
/// repeat what was sent.
pub fn api_key(headers: &HeaderMap) -> Result<&str> {
    let missing_message = "An API key is required. \
                   Send it as `Authorization: Bearer <key>`, `platform-api-key`, or `X-API-Key`.";
    let unauthorized = |reason: &str| Error::Unauthorized(reason.to_owned());
    let present = KEY_HEADERS.iter().find_map(|name| Some((name, headers.get(name)?)));
    let (name, value) = present.ok_or_else(|| unauthorized(missing_message))?;
    let value = value
        .to_str()
        .map_err(|_| unauthorized("The API key header must contain only visible ASCII characters."))?
        .trim();
    if name != header::AUTHORIZATION {
        return if value.is_empty() { Err(unauthorized(missing_message)) } else { Ok(value) };
    }
    match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(key.trim()),
        _ => Err(unauthorized("`Authorization` must have the form `Bearer <key>`.")),
    }
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn key_from(headers: &[(&'static str, &str)]) -> std::result::Result<String, String> {
        let pairs = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        });
        api_key(&pairs.collect()).map(str::to_owned).map_err(|error| error.message())
    }

    #[test]
    fn first_present_header_is_used() {
        for (headers, expected) in [
            (&[("authorization", "Bearer k1")][..], "k1"),
            (&[("authorization", "bearer   k1 ")], "k1"),
            (&[("platform-api-key", "k2")], "k2"),
            (&[("x-api-key", " k3")], "k3"),
            (&[("x-api-key", "k3"), ("platform-api-key", "k2")], "k2"),
            (&[("x-api-key", "k3"), ("platform-api-key", "k2"), ("authorization", "Bearer k1")], "k1"),
        ] {
            assert_eq!(key_from(headers).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn invalid_key_header_is_rejected_and_not_echoed() {
        for headers in [
            &[][..],
            &[("authorization", "Basic c2VjcmV0"), ("x-api-key", "k")],
            &[("authorization", "secret")],
            &[("authorization", "Bearer")],
            &[("authorization", "Bearer  ")],
            &[("authorization", "")],
            &[("authorization", "Bearer secr\u{e9}t")],
            &[("platform-api-key", ""), ("x-api-key", "k")],
        ] {
            let message = key_from(headers).unwrap_err();
            assert!(!message.contains("secr") && !message.contains("c2V"), "{message}");
        }
    }
}
