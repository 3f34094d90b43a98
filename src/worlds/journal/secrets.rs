//! Finds the secrets in entries of a journal, which are masked: API keys, secrets of webhooks, signatures of addresses, and
//! tokens of upload grants, at any place and in any encoding. Headers are masked when they are recorded.

use std::ops::Range;

use super::decoding::{find_in_decoded, is_begun_escape};

/// What is shown instead of a secret.
pub const MASK: &str = "********";

/// What a secret follows.
struct Mark {
    text: &'static [u8],
    /// Bytes between the text and the secret.
    separators: &'static [u8],
    /// Minimum length in bytes of the secret.
    min: usize,
    /// Which other bytes than letters, digits, `-`, and `_` it can have.
    others: &'static [u8],
}

impl Mark {
    const fn new(text: &'static [u8], min: usize, others: &'static [u8]) -> Mark {
        Mark { text, separators: b"", min, others }
    }
}

/// Keys of the demo market are shorter, so they do not match: they are not secrets.
const MARKS: [Mark; 11] = [
    Mark::new(b"mkt_", 24, b""),
    Mark::new(b"whsec_", 20, b"+/="),
    Mark::new(b"ignature=", 16, b"%+/="),
    Mark::new(b"Security-Token=", 16, b"%+/="),
    Mark::new(b"?sig=", 16, b"%+/="),
    Mark::new(b"&sig=", 16, b"%+/="),
    Mark { text: b"\"token\"", separators: b" \t\r\n:\"", min: 20, others: b"" },
    Mark::new(b"/uploads/grants/", 20, b""),
    // Misspelled.
    Mark::new(b"/upload/grants/", 20, b""),
    Mark::new(b"/uploads/grant/", 20, b""),
    Mark::new(b"/upload/grant/", 20, b""),
];

/// Length in bytes from which a segment of a path can be a token.
const MIN_TOKEN: usize = 32;

/// Headers whose values are secrets, in lower case, and parts of the names of others.
const SECRET_HEADERS: [&str; 3] = [AUTHORIZATION, COOKIE, SET_COOKIE];
const PARTS_OF_SECRET_HEADERS: [&str; 7] =
    ["-authorization", "api-key", "apikey", "token", "secret", "password", "credential"];

/// A header whose value has a scheme before the secret.
const AUTHORIZATION: &str = "authorization";
/// Like [`AUTHORIZATION`], for a proxy.
const PROXY_AUTHORIZATION: &str = "proxy-authorization";

/// The header with the cookies of a request.
pub const COOKIE: &str = "cookie";
/// The header of an answer that sets a cookie.
pub const SET_COOKIE: &str = "set-cookie";

/// Whether the value of a header is a secret. `name` is in lower case.
pub fn is_secret_header(name: &str) -> bool {
    SECRET_HEADERS.contains(&name) || PARTS_OF_SECRET_HEADERS.iter().any(|part| name.contains(part))
}

/// Returns the value of a header with its secrets masked. `name` is in lower case. A value that is a secret keeps its scheme,
/// as in `Bearer ********`, and a cookie its name and its attributes, as in `session=********; Path=/`.
pub fn mask_header(name: &str, value: &[u8]) -> Vec<u8> {
    if !is_secret_header(name) {
        // What is encoded can be an address, too.
        let is_encoded = value.contains(&b'%') || value.contains(&b'\\');
        let is_address = value.starts_with(b"/") || find_bytes(value, b"://") || is_encoded;
        return masked(value, &if is_address { find_in_address(value) } else { find(value, false) });
    }
    match name {
        COOKIE => value.split(|byte| *byte == b';').map(mask_cookie).collect::<Vec<_>>().join(&b';'),
        SET_COOKIE => {
            let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
            [mask_cookie(&value[..end]), mask(&value[end..], false)].concat()
        }
        AUTHORIZATION | PROXY_AUTHORIZATION => {
            let end = value.iter().position(|byte| *byte == b' ').map_or(0, |space| space + 1);
            [mask(&value[..end], false), mask_whole(&value[end..])].concat()
        }
        _ => mask_whole(value),
    }
}

/// Masks the value of a cookie, or the whole text if it is not a cookie.
fn mask_cookie(cookie: &[u8]) -> Vec<u8> {
    let spaces = cookie.len() - cookie.trim_ascii_start().len();
    let end = cookie.iter().position(|byte| *byte == b'=').map_or(spaces, |equals| equals + 1);
    [mask(&cookie[..end], false), mask_whole(&cookie[end..])].concat()
}

/// Returns [`MASK`] instead of a value, unless the value is empty.
fn mask_whole(value: &[u8]) -> Vec<u8> {
    if value.trim_ascii().is_empty() { value.to_vec() } else { MASK.as_bytes().to_vec() }
}

/// Returns the places of the secrets in bytes, in their order, also of those that are percent-encoded or escaped in JSON. With
/// `is_cut`, the bytes are only the beginning of something, so a secret at the end can be incomplete.
pub fn find(bytes: &[u8], is_cut: bool) -> Vec<Range<usize>> {
    find_in_decoded(bytes, |decoded| find_marked(decoded, is_cut))
}

/// Like [`find`], for the path of a request, in which each segment that can be a token is a secret, wherever it is: a client
/// can misspell a path.
pub fn find_in_path(path: &str) -> Vec<Range<usize>> {
    find_in_address(path.as_bytes())
}

fn find_in_address(address: &[u8]) -> Vec<Range<usize>> {
    find_in_decoded(address, |decoded| {
        let mut found = find_marked(decoded, false);
        found.extend(find_tokens(decoded));
        found
    })
}

fn find_marked(bytes: &[u8], is_cut: bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    let is_first = |byte: &u8| MARKS.iter().any(|mark| mark.text[0] == *byte);
    while let Some(next) = bytes[at..].iter().position(is_first) {
        at += next;
        let Some(mark) = MARKS.iter().find(|mark| bytes[at..].starts_with(mark.text)) else {
            at += 1;
            continue;
        };
        at += mark.text.len();
        at += bytes[at..].iter().take_while(|byte| mark.separators.contains(byte)).count();
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte) || mark.others.contains(byte);
        let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
        let (start, end) = (at, at + length);
        if is_cut && length > 0 && is_begun_escape(&bytes[end..]) {
            found.push(start..bytes.len());
            at = bytes.len();
        } else if length >= mark.min {
            found.push(start..end);
            at = end;
        }
    }
    found
}

/// Returns the places of the segments of a path or an address that can be tokens.
fn find_tokens(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let segments = bytes.split(|byte| b"/?#".contains(byte)).map(|segment| {
        let place = start..start + segment.len();
        start = place.end + 1;
        (segment, place)
    });
    segments.filter(|(segment, _)| is_token(segment)).map(|(_, place)| place).collect()
}

/// Whether a segment of a path can be a token.
fn is_token(segment: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    segment.len() >= MIN_TOKEN
        && segment.iter().all(is_part)
        && segment.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && uuid::Uuid::try_parse_ascii(segment).is_err()
}

fn find_bytes(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Returns bytes with [`MASK`] in these places, which are in their order.
fn masked(bytes: &[u8], places: &[Range<usize>]) -> Vec<u8> {
    let mut masked = Vec::with_capacity(bytes.len());
    let mut end = 0;
    for place in places {
        masked.extend_from_slice(&bytes[end..place.start]);
        masked.extend_from_slice(MASK.as_bytes());
        end = place.end;
    }
    masked.extend_from_slice(&bytes[end..]);
    masked
}

/// Returns bytes with [`MASK`] in place of each secret.
pub fn mask(bytes: &[u8], is_cut: bool) -> Vec<u8> {
    masked(bytes, &find(bytes, is_cut))
}

/// Like [`mask`], for text.
pub fn mask_text(text: &str) -> String {
    into_text(&mask(text.as_bytes(), false))
}

/// Like [`mask_text`], for a value whose prefix in the request, such as `signature=`, is given.
pub fn mask_value(before: &str, value: &str) -> String {
    let masked = mask_text(&format!("{before}{value}"));
    masked.strip_prefix(before).map_or_else(|| MASK.to_owned(), str::to_owned)
}

/// Like [`mask_text`], for a path; see [`find_in_path`].
pub fn mask_path(path: &str) -> String {
    into_text(&masked(path.as_bytes(), &find_in_path(path)))
}

/// Secrets begin and end between characters, so the rest is still UTF-8.
fn into_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns text with each byte of some percent-encoded.
    fn percent(text: &str, is_encoded: impl Fn(char) -> bool) -> String {
        let encode = |character: char| match character {
            character if is_encoded(character) => format!("%{:02x}", u32::from(character)),
            character => character.to_string(),
        };
        text.chars().map(encode).collect()
    }

    fn json(text: &str) -> String {
        let escapes = text.chars().map(|character| format!("\\u{:04x}", u32::from(character)));
        escapes.collect::<Vec<_>>().concat()
    }

    #[test]
    fn secrets_are_masked_wherever_they_are() {
        let secret = "aB3-_".repeat(8);
        for (text, expected) in [
            (format!(r#"{{"secret":"mkt_{secret}"}}"#), r#"{"secret":"mkt_********"}"#),
            (format!("mkt_op_{secret} mkt_{secret}"), "mkt_******** mkt_********"),
            (format!(r#"{{"secret":"whsec_{secret}+/="}}"#), r#"{"secret":"whsec_********"}"#),
            (format!("/p?size=1&signature={secret}&x=1"), "/p?size=1&signature=********&x=1"),
            (format!("X-Amz-Signature={secret}"), "X-Amz-Signature=********"),
            (format!("https://a.example/b?sig={secret}%3D&x=1"), "https://a.example/b?sig=********&x=1"),
            (format!(r#"{{"token":"{}"}}"#, &secret[..32]), r#"{"token":"********"}"#),
            (format!("{{\"token\" :\n \"{}\"}}", &secret[..32]), "{\"token\" :\n \"********\"}"),
            (
                "mkt_demo_operator_read whsec_ mkt_ signature=no".to_owned(),
                "mkt_demo_operator_read whsec_ mkt_ signature=no",
            ),
            ("ä mkt_é".to_owned(), "ä mkt_é"),
            // Encoded.
            (format!("key=%6dkt%5F{secret}&x=%20"), "key=%6dkt%5F********&x=%20"),
            (format!("key={}", percent(&format!("mkt_{secret}"), |_| true)), "key=%6d%6b%74%5f********"),
            (format!("a=mkt_{}", percent(&secret, |character| character == 'B')), "a=mkt_********"),
            (
                format!("to=http%3A%2F%2Fa%3Fsignature%3D{secret}%26x"),
                "to=http%3A%2F%2Fa%3Fsignature%3D********%26x",
            ),
            (
                percent(&percent(&format!("mkt_{secret}"), |_| true), |character| character == '%'),
                "%256d%256b%2574%255f********",
            ),
            (format!(r#"{{"a":"{}{secret}"}}"#, json("mkt_")), r#"{"a":"\u006d\u006b\u0074\u005f********"}"#),
            (format!(r#"{{"a":"mkt_{}"}}"#, json(&secret)), r#"{"a":"mkt_********"}"#),
            (format!(r#"{{"a":"{{\"token\":\"{secret}\"}}"}}"#), r#"{"a":"{\"token\":\"********\"}"}"#),
            (format!(r#"{{"a":"b\u0026sig={secret}"}}"#), r#"{"a":"b\u0026sig=********"}"#),
            (
                format!(r"http:\/\/a\/uploads\/grants\/{secret}\/x"),
                r"http:\/\/a\/uploads\/grants\/********\/x",
            ),
        ] {
            assert_eq!(mask_text(&text), expected, "{text}");
        }
    }

    #[test]
    fn incomplete_secret_at_the_end_of_a_beginning_is_masked() {
        for (bytes, expected) in [
            (&b"a mkt_abc"[..], &b"a mkt_********"[..]),
            (b"a mkt_abc b", b"a mkt_abc b"),
            (br"a mkt_abc\u00", b"a mkt_********"),
            (b"a %6dkt_abc%6", b"a %6dkt_********"),
        ] {
            assert_eq!(mask(bytes, true), expected);
            assert_eq!(mask(bytes, false), bytes);
        }
    }

    #[test]
    fn tokens_in_paths_are_masked_and_ids_are_not() {
        let token = "aB3-".repeat(8);
        let id = "0f0e0d0c-0b0a-4908-8706-050403020100";
        for (path, expected) in [
            (format!("/v2/vendor/uploads/grants/{token}/parts"), "/v2/vendor/uploads/grants/********/parts"),
            (format!("/v2/vendor/upload/grant/{token}"), "/v2/vendor/upload/grant/********"),
            (
                format!("/v2/vendor/upload/grant/{}", percent(&token, |_| true)),
                "/v2/vendor/upload/grant/********",
            ),
            (format!("/v2%2Fvendor%2Fupload%2F{token}%2Fparts"), "/v2%2Fvendor%2Fupload%2F********%2Fparts"),
            (format!("/v2/teams/mkt_{token}"), "/v2/teams/********"),
            (format!("/v2/teams/%6dkt_{}", &token[..30]), "/v2/teams/********"),
        ] {
            assert_eq!(mask_path(&path), expected, "{path}");
        }
        let plain = format!("/v2/assets/{id}/a-long-name-of-words-without-any-digit-in-it");
        assert_eq!(mask_path(&plain), plain);
    }

    #[test]
    fn headers_keep_what_is_no_secret() {
        let token = "aB3-".repeat(8);
        for (name, value, expected) in [
            ("authorization", "Bearer mkt_a".to_owned(), "Bearer ********"),
            ("authorization", "bearer   k1 ".to_owned(), "bearer ********"),
            ("authorization", "Bearer  ".to_owned(), "Bearer  "),
            ("x-api-key", "secret".to_owned(), "********"),
            ("x-auth-token", "secret".to_owned(), "********"),
            ("x-amz-security-token", "secret".to_owned(), "********"),
            ("x-api-key", "one two".to_owned(), "********"),
            ("proxy-authorization", "Basic c2VjcmV0".to_owned(), "Basic ********"),
            ("cookie", String::new(), ""),
            ("cookie", "a=s1; b=s2 s3;c=".to_owned(), "a=********; b=********;c="),
            ("cookie", "s1; b=c=d".to_owned(), "********; b=********"),
            ("cookie", "s1 s2".to_owned(), "********"),
            ("set-cookie", "a=s1".to_owned(), "a=********"),
            ("set-cookie", "a=s1; Path=/w/one; HttpOnly".to_owned(), "a=********; Path=/w/one; HttpOnly"),
            ("set-cookie", "s1 s2; Path=/".to_owned(), "********; Path=/"),
            ("x-request-id", format!("mkt_{token}"), "mkt_********"),
            ("idempotency-key", format!("a-mkt_{token}.1"), "a-mkt_********.1"),
            ("idempotency-key", token.clone(), "aB3-aB3-aB3-aB3-aB3-aB3-aB3-aB3-"),
            (
                "referer",
                format!("https://a.example/uploads/{token}/x"),
                "https://a.example/uploads/********/x",
            ),
            ("referer", format!("https://a.example/?k=mkt%5F{token}"), "https://a.example/?k=mkt%5F********"),
            ("location", format!("/p?signature={token}"), "/p?signature=********"),
            ("accept", "text/html, */*;q=0.8".to_owned(), "text/html, */*;q=0.8"),
            (
                "idempotency-key",
                "0f0e0d0c-0b0a-4908-8706-050403020100".to_owned(),
                "0f0e0d0c-0b0a-4908-8706-050403020100",
            ),
        ] {
            let masked = mask_header(name, value.as_bytes());
            assert_eq!(String::from_utf8_lossy(&masked), expected, "{name}: {value}");
        }
    }

    #[test]
    fn values_are_masked_by_what_precedes_them() {
        let secret = "aB3-".repeat(8);
        assert_eq!(mask_value("signature=", &secret), MASK);
        assert_eq!(mask_value("\"token\":", &format!("\"{secret}\"")), format!("\"{MASK}\""));
        assert_eq!(mask_value("cursor=", &secret), secret);
    }
}
