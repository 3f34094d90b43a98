//! The host that a request is for: the `Host` header must name exactly one, in the form of RFC 9112.

use std::net::{Ipv4Addr, Ipv6Addr};

use poem::http::{
    HeaderMap, Uri, Version, header,
    uri::{Authority, Scheme},
};

use crate::Refusal;

/// Maximum length of a domain name in characters.
const MAX_NAME_LENGTH: usize = 255;

/// Checks that a request names one host, and the same one in an absolute target and in `Host`.
pub fn check(version: Version, target: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let malformed = |message: &str| Err(Refusal::Malformed(message.to_owned()));
    let mut values = headers.get_all(header::HOST).iter();
    let host = match (values.next(), values.next()) {
        (Some(host), None) => host,
        (None, _) if version < Version::HTTP_11 => return Ok(()),
        (None, _) => return malformed("The request has no `Host` header. Send one with the host and port."),
        (Some(_), Some(_)) => {
            return malformed("The request has more than one `Host` header. Send only one.");
        }
    };
    if !is_valid(host.as_bytes()) {
        return malformed("The `Host` header is not a host name or address with an optional port.");
    }
    let is_same = |authority: &Authority| {
        let default_port = if target.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
        let [(name, port), (host, host_port)] =
            [authority.as_str().as_bytes(), host.as_bytes()].map(|text| split_port(text, default_port));
        name.eq_ignore_ascii_case(host) && port == host_port
    };
    if !target.authority().is_none_or(is_same) {
        return malformed(
            "The request target and the `Host` header name different hosts. Send the same host.",
        );
    }
    Ok(())
}

/// Whether this is a host name, an IPv4 address, or an IPv6 address in brackets, optionally with a port.
pub fn is_valid(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else { return false };
    if let Some(rest) = host.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else { return false };
        return address.parse::<Ipv6Addr>().is_ok() && (port.is_empty() || is_port(port));
    }
    let (name, port) = host.find(':').map_or((host, ""), |colon| host.split_at(colon));
    (is_name(name) || name.parse::<Ipv4Addr>().is_ok()) && (port.is_empty() || is_port(port))
}

/// Splits a host into its name or address and its port, or the default port if it has none.
fn split_port(host: &[u8], default_port: u16) -> (&[u8], u16) {
    let port = host.iter().rposition(|byte| *byte == b':').and_then(|colon| {
        let digits = std::str::from_utf8(&host[colon + 1..]).ok()?;
        let port = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()?;
        Some((&host[..colon], port))
    });
    port.unwrap_or((host, default_port))
}

/// Whether this is a colon and a port number.
fn is_port(text: &str) -> bool {
    let digits = text.strip_prefix(':').unwrap_or_default();
    digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok()
}

/// Whether this is a name with the characters of domain names, and `_`, which names of containers have.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (1..=MAX_NAME_LENGTH).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_with_an_optional_port_are_valid() {
        for host in [
            "localhost",
            "market.example",
            "market.example.:443",
            "MARKET.example:80",
            "my_service:8080",
            "127.0.0.1",
            "127.0.0.1:65535",
            "[::1]",
            "[::1]:8080",
            "[2001:db8::7]",
        ] {
            assert!(is_valid(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            ":80",
            "[::1].evil",
            "[::1]evil:80",
            "[::1]:",
            "[::1]:80:80",
            "[::1",
            "::1",
            "[evil]",
            "[127.0.0.1]",
            "user@localhost",
            "localhost@evil",
            "[::1]@evil",
            "localhost:",
            "localhost:+80",
            "localhost:65536",
            "localhost:80evil",
            "localhost/evil",
            "localhost evil",
            "localhost,evil",
            "localhost#",
            "a?b",
            "%6cocalhost",
            "m\u{e4}rkt.example",
        ] {
            assert!(!is_valid(host.as_bytes()), "{host}");
        }
        assert!(!is_valid(b"\xff") && !is_valid("a".repeat(256).as_bytes()));
    }

    #[test]
    fn target_and_header_name_the_same_host() {
        let check = |target: &str, hosts: &[&str]| {
            let hosts = hosts.iter().map(|host| (header::HOST, host.parse().unwrap())).collect();
            check(Version::HTTP_11, &target.parse().unwrap(), &hosts).is_ok()
        };
        assert!(check("/", &["a.example"]) && check("http://a.example/x", &["A.example"]));
        assert!(
            !check("http://evil.example/x", &["a.example"]) && !check("http://a@a.example/", &["a.example"])
        );
        assert!(!check("/", &["a.example", "a.example"]) && !check("/", &[]));
        // A default port is the same as none.
        for (target, host, expected) in [
            ("http://a.example:80/", "a.example", true),
            ("http://a.example/", "A.example:80", true),
            ("http://[::1]:80/", "[::1]", true),
            ("https://a.example/", "a.example:443", true),
            ("http://a.example:81/", "a.example", false),
            ("http://a.example/", "a.example:443", false),
            ("https://a.example:80/", "a.example", false),
            ("http://a.example:8080/", "a.example:8080", true),
            ("http://[::1]/", "[::]:1", false),
            ("http://80@a.example/", "a.example:80", false),
            ("http://a.example:80@b.example/", "b.example", false),
        ] {
            assert_eq!(check(target, &[host]), expected, "{target} {host}");
        }
        assert!(super::check(Version::HTTP_10, &"/".parse().unwrap(), &HeaderMap::new()).is_ok());
    }
}
