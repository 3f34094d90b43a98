//! The secrets in what a journal has, which it does not show: API keys, secrets of webhooks, signatures of addresses, and
//! tokens of upload grants. The headers that carry keys are masked when they are recorded.

use std::ops::Range;

/// What is shown instead of a secret.
pub const MASK: &str = "********";

/// What precedes a secret, its minimum length in bytes, and which other bytes than letters, digits, `-`, and `_` it can have.
/// Keys of the demo market are shorter: they are no secrets.
const MARKS: [(&[u8], usize, &[u8]); 6] = [
    (b"mkt_", 40, b""),
    (b"whsec_", 20, b"+/="),
    (b"ignature=", 16, b"%+/="),
    (b"Security-Token=", 16, b"%+/="),
    (b"\"token\":\"", 20, b""),
    (b"/uploads/grants/", 20, b""),
];

/// Length in bytes from which a segment of a path can be a token.
const MIN_TOKEN: usize = 32;

/// Headers whose values are secrets, in lower case. The scheme is shown.
const SECRET_HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "platform-api-key", "x-api-key", "cookie", "set-cookie"];

/// Whether the value of a header is a secret. `name` is in lower case.
pub fn is_secret_header(name: &str) -> bool {
    SECRET_HEADERS.contains(&name)
}

/// Returns the value of a header that is a secret, with its scheme, such as `Bearer ********`.
pub fn mask_header(value: &[u8]) -> Vec<u8> {
    let scheme = value.iter().position(|byte| *byte == b' ').map(|end| &value[..=end]);
    let rest = &value[scheme.map_or(0, <[u8]>::len)..];
    let secret: &[u8] = if rest.trim_ascii().is_empty() { rest } else { MASK.as_bytes() };
    [scheme.unwrap_or_default(), secret].concat()
}

/// Returns the places of the secrets in a body, in their order. With `is_cut`, the bytes are only the beginning of the body,
/// so a secret at the end can be incomplete.
pub fn find(bytes: &[u8], is_cut: bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(next) =
        bytes[at..].iter().position(|byte| matches!(byte, b'm' | b'w' | b'i' | b'S' | b'"' | b'/'))
    {
        at += next;
        let mark = MARKS.iter().find(|(mark, ..)| bytes[at..].starts_with(mark));
        let Some((mark, min, others)) = mark else {
            at += 1;
            continue;
        };
        let start = at + mark.len();
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte) || others.contains(byte);
        let length = bytes[start..].iter().take_while(|byte| is_part(byte)).count();
        at = start;
        if length >= *min || is_cut && length > 0 && start + length == bytes.len() {
            at += length;
            found.push(start..at);
        }
    }
    found
}

/// Returns bytes with [`MASK`] in place of each secret.
pub fn mask(bytes: &[u8], is_cut: bool) -> Vec<u8> {
    let mut masked = Vec::with_capacity(bytes.len());
    let mut end = 0;
    for place in find(bytes, is_cut) {
        masked.extend_from_slice(&bytes[end..place.start]);
        masked.extend_from_slice(MASK.as_bytes());
        end = place.end;
    }
    masked.extend_from_slice(&bytes[end..]);
    masked
}

/// Like [`mask`], for text.
pub fn mask_text(text: &str) -> String {
    // Secrets are ASCII, so what is left is still UTF-8.
    String::from_utf8_lossy(&mask(text.as_bytes(), false)).into_owned()
}

/// Returns a path with [`MASK`] in place of each segment that can be a token, wherever it is: a client can misspell a path.
pub fn mask_path(path: &str) -> String {
    path.split('/')
        .map(|segment| if is_token(segment) { MASK } else { segment })
        .collect::<Vec<_>>()
        .join("/")
}

/// Whether a segment of a path can be a token.
pub fn is_token(segment: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    segment.len() >= MIN_TOKEN
        && segment.bytes().all(is_part)
        && segment.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && uuid::Uuid::try_parse(segment).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_are() {
        let secret = "aB3-_".repeat(8);
        for (text, expected) in [
            (format!(r#"{{"secret":"mkt_{secret}"}}"#), r#"{"secret":"mkt_********"}"#),
            (format!("mkt_op_{secret} mkt_{secret}"), "mkt_******** mkt_********"),
            (format!(r#"{{"secret":"whsec_{secret}+/="}}"#), r#"{"secret":"whsec_********"}"#),
            (format!("/p?size=1&signature={secret}&x=1"), "/p?size=1&signature=********&x=1"),
            (format!("X-Amz-Signature={secret}"), "X-Amz-Signature=********"),
            (format!(r#"{{"token":"{}"}}"#, &secret[..32]), r#"{"token":"********"}"#),
            (
                "mkt_demo_operator_read whsec_ mkt_ signature=no".to_owned(),
                "mkt_demo_operator_read whsec_ mkt_ signature=no",
            ),
            ("ä mkt_é".to_owned(), "ä mkt_é"),
        ] {
            assert_eq!(mask_text(&text), expected, "{text}");
        }
    }

    #[test]
    fn incomplete_secret_at_the_end_of_a_beginning_is_masked() {
        assert_eq!(mask(b"a mkt_abc", true), b"a mkt_********");
        assert_eq!(mask(b"a mkt_abc", false), b"a mkt_abc");
        assert_eq!(mask(b"a mkt_abc b", true), b"a mkt_abc b");
    }

    #[test]
    fn tokens_in_paths_are_masked_and_ids_are_not() {
        let token = "aB3-".repeat(8);
        let id = "0f0e0d0c-0b0a-4908-8706-050403020100";
        assert_eq!(
            mask_path(&format!("/v2/vendor/uploads/grants/{token}/parts")),
            "/v2/vendor/uploads/grants/********/parts"
        );
        let plain = format!("/v2/assets/{id}/a-long-name-of-words-without-any-digit-in-it");
        assert_eq!(mask_path(&plain), plain);
    }

    #[test]
    fn headers_keep_their_scheme() {
        for (value, expected) in [
            ("Bearer mkt_a", "Bearer ********"),
            ("bearer   k1 ", "bearer ********"),
            ("Bearer  ", "Bearer  "),
            ("secret", "********"),
            ("", ""),
        ] {
            assert_eq!(mask_header(value.as_bytes()), expected.as_bytes(), "{value}");
        }
        assert!(is_secret_header("authorization") && !is_secret_header("accept"));
    }
}
