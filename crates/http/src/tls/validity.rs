//! Until when a certificate is valid. The TLS library only checks this of certificates of others.

use time::{PrimitiveDateTime, macros::format_description};

/// The tag of the version of a certificate, which is optional.
const VERSION: u8 = 0xa0;

/// The tag of a time whose year has two digits.
const UTC_TIME: u8 = 0x17;

/// The tag of a time whose year has four digits.
const GENERALIZED_TIME: u8 = 0x18;

/// Returns the end of the validity of a certificate in DER (RFC 5280), in seconds of Unix time; `None` if it cannot be parsed.
pub(super) fn end_of_validity(certificate: &[u8]) -> Option<i64> {
    let signed = element(certificate)?.content;
    let mut fields = element(signed)?.content;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.rest;
    }
    // The serial number, the algorithm of the signature, and the issuer.
    for _ in 0..3 {
        fields = element(fields)?.rest;
    }
    let validity = element(fields)?.content;
    let end = element(element(validity)?.rest)?;
    let text = std::str::from_utf8(end.content).ok()?;
    let text = match end.tag {
        UTC_TIME => format!("{}{text}", if text < "50" { "20" } else { "19" }),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let form = format_description!("[year][month][day][hour][minute][second]Z");
    Some(PrimitiveDateTime::parse(&text, form).ok()?.assume_utc().unix_timestamp())
}

/// An element of DER, and what follows it.
struct Element<'b> {
    tag: u8,
    content: &'b [u8],
    rest: &'b [u8],
}

/// Returns the first element.
fn element(bytes: &[u8]) -> Option<Element<'_>> {
    let [tag, length, rest @ ..] = bytes else { return None };
    // A long length is the number of its bytes, and these.
    let (length, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (digits.iter().fold(0, |length, digit| (length << 8) | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some(Element { tag: *tag, content, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_validity_is_that_of_the_certificate() {
        let key = rcgen::KeyPair::generate().unwrap();
        // From 2050 on, years have four digits.
        for (year, expected) in [(1999, 915_235_200), (2030, 1_893_542_400), (2060, 2_840_227_200)] {
            let mut parameters = rcgen::CertificateParams::new(["market.test".to_owned()]).unwrap();
            parameters.not_after = rcgen::date_time_ymd(year, 1, 2);
            let certificate = parameters.self_signed(&key).unwrap();
            assert_eq!(end_of_validity(certificate.der()), Some(expected), "{year}");
            for length in 0..certificate.der().len() {
                assert_eq!(end_of_validity(&certificate.der()[..length]), None, "{length} bytes of {year}");
            }
        }
    }
}
