//! The transfer coding of a request: a body can only be chunked (RFC 9112, 7).

use poem::http::{HeaderMap, header};

use crate::Refusal;

/// Checks that the body of a request has no transfer coding but `chunked`, once. The library decodes only the chunks and
/// ignores other codings, so a coded body would be used undecoded.
pub fn check(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut values = headers.get_all(header::TRANSFER_ENCODING).iter();
    let is_known = match (values.next(), values.next()) {
        (None, _) => true,
        (Some(only), None) => only.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    if is_known {
        return Ok(());
    }
    let message = "The server knows no `Transfer-Encoding` but `chunked`, once. To compress the body, send \
                   `Content-Encoding: gzip`.";
    Err(Refusal::Malformed(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_can_only_be_chunked() {
        for (values, expected) in [
            (&[][..], true),
            (&["chunked"], true),
            (&["Chunked "], true),
            (&["gzip, chunked"], false),
            (&["foo, chunked"], false),
            (&["chunked, chunked"], false),
            (&["chunked", "chunked"], false),
            (&["gzip", "chunked"], false),
            (&["chunked;a=b"], false),
            (&[""], false),
        ] {
            let headers =
                values.iter().map(|value| (header::TRANSFER_ENCODING, value.parse().unwrap())).collect();
            assert_eq!(check(&headers).is_ok(), expected, "{values:?}");
        }
    }
}
